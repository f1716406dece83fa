"""The client's home page in the site: figures, warnings and set-up steps."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from bots.models import Bot, Document
from chats.models import AssignType, Conversation, Status
from identity.models import ApiKey, Client, Plan, Subscription, User
from reports.services import failures, formatting, overview, periods
from reports.services import warnings as client_warnings
from reports.shapes.adhoc import PeriodQuery
from reports.shapes.overview import Figures

_DAYS = 7
_KINDS_WITHOUT_WARNING = ("addresses", "deliveries", "inbound", "sends")


@dataclass(frozen=True)
class Figure:
    """A figure of the home page; `note` compares or explains it."""

    title: str
    value: str
    note: str
    path: str


@dataclass(frozen=True)
class Hint:
    """Something to look at (`model` is the model of its rows), or a step of the set-up."""

    words: str
    path: str
    model: type[Any]
    is_done: bool = False


def figures(client: Client) -> list[Figure]:
    """Waiting customers, and the last seven days compared with the seven before."""
    first = periods.today_in(client.timezone) - timedelta(days=_DAYS - 1)
    week = PeriodQuery(date_from=first)
    found = overview.of(client, week)
    now, before = found.current, found.previous
    waited = formatting.duration(before.person_response_seconds.p50)
    chats = f"{failures.list_path('chats_conversation')}?began={_DAYS}"
    return [
        _waiting(client),
        Figure(
            gettext("Chats"),
            formatting.number(now.chats),
            _before(formatting.number(before.chats)),
            chats,
        ),
        Figure(
            gettext("Solved by the bot"),
            formatting.share(now.bot_resolved, now.chats),
            _before(formatting.share(before.bot_resolved, before.chats)),
            f"{chats}&answered_by=bot",
        ),
        Figure(
            gettext("First response of a person"),
            formatting.duration(now.person_response_seconds.p50),
            gettext("half of them; {value} in the week before").format(value=waited),
            f"{chats}&answered_by=person",
        ),
        Figure(
            gettext("Rating"),
            gettext("{mean} of 5").format(mean=formatting.number(now.rating_mean, places=1))
            if now.rating_mean
            else "–",
            ngettext("{count} rating", "{count} ratings", now.rating_count).format(
                count=formatting.number(now.rating_count)
            ),
            f"{failures.list_path('chats_feedback')}?about=chat&began={_DAYS}",
        ),
        _credits(client, now),
    ]


def warnings(client: Client) -> list[Hint]:
    """Unmuted warnings, and failures that have no warning, each with a link to its rows."""
    found = (item for item in client_warnings.of(client) if item.warning.muted_until is None)
    return [
        *(Hint(item.warning.title, item.warning.link, item.model) for item in found),
        *failure_hints(client, _KINDS_WITHOUT_WARNING),
    ]


def failure_hints(client: Client | None, kinds: Iterable[str]) -> list[Hint]:
    """How many failures there are of these kinds; without a client, of all clients."""
    counts = [
        (kind, sum(group.count for group in failures.of_kind(kind, client)))
        for kind in (failures.KINDS[name] for name in kinds)
    ]
    return [
        Hint(f"{formatting.number(count)} × {gettext(kind.title)}", reverse("failures"), kind.model)
        for kind, count in counts
        if count
    ]


def set_up_steps(client: Client) -> list[Hint]:
    """The first steps of a new client; empty once there is a conversation."""
    if Conversation.objects.for_client(client).filter(is_preview=False).exists():
        return []
    read = Document.objects.for_client(client).filter(chunk_count__gt=0)
    bot = Bot.objects.for_client(client).order_by("pk").first()
    new_bot = reverse("admin:bots_bot_new_bot")
    set_up = reverse("admin:bots_bot_set_up", args=[bot.pk]) if bot else new_bot
    steps: list[tuple[str, QuerySet[Any], str]] = [
        (gettext("Create a bot"), Bot.objects.for_client(client), new_bot),
        (gettext("Train it on a document"), read, set_up),
        (gettext("Make a key for your page or server"), ApiKey.objects.for_client(client),
         reverse("admin:identity_apikey_new_key")),
        (gettext("Invite a colleague"), User.objects.for_client(client)[1:2],
         reverse("admin:identity_user_invite")),
    ]  # fmt: skip
    return [
        Hint(
            words,
            failures.list_path(f"{rows.model._meta.app_label}_{rows.model._meta.model_name}")
            if (is_done := rows.exists())
            else how,
            rows.model,
            is_done,
        )
        for words, rows, how in steps
    ]


def _waiting(client: Client) -> Figure:
    rows = Conversation.objects.for_client(client).filter(
        status=Status.OPEN, assign_type=AssignType.QUEUE, is_preview=False
    )
    path = failures.list_path(
        "chats_conversation", assign_type__exact="queue", status__exact="open"
    )
    oldest = rows.order_by("waiting_since").values_list("waiting_since", flat=True).first()
    if oldest is None:
        return Figure(
            gettext("Waiting now"), formatting.number(rows.count()), gettext("nobody waits"), path
        )
    wait = formatting.duration((timezone.now() - oldest).total_seconds())
    note = gettext("the oldest for {wait}").format(wait=wait)
    return Figure(gettext("Waiting now"), formatting.number(rows.count()), note, path)


def _credits(client: Client, week: Figures) -> Figure:
    account = Subscription.objects.get(client=client)
    note = _end_of_credits(account, week, ZoneInfo(client.timezone))
    return Figure(
        gettext("Credits"),
        formatting.number(account.credits_left),
        note,
        failures.list_path("identity_subscription"),
    )


def _end_of_credits(account: Subscription, week: Figures, zone: ZoneInfo) -> str:
    """When the credits (at this week's pace) or a trial end, whichever is first."""
    if not account.is_active:
        return gettext("The plan has ended")
    trial_ends = account.period_end if account.plan == Plan.TRIAL else None
    ends = None
    if week.credits_used:
        days = min(3650, account.credits_left * _DAYS / week.credits_used)
        ends = timezone.now() + timedelta(days=days)
    if trial_ends and (ends is None or trial_ends < ends):
        words, ends = gettext("the trial ends on {day}"), trial_ends
    elif ends:
        words = gettext("until {day} at this week's pace")
    else:
        return gettext("none used this week")
    day = date_format(timezone.localdate(ends, zone), gettext("j M Y"))
    return words.format(day=day)


def _before(value: str) -> str:
    return gettext("{value} in the week before").format(value=value)
