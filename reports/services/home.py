"""The client's home page on the site: what needs attention, figures, and the set-up steps."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext, pgettext_lazy

from bots.models import Bot, Document
from chatplatform.templatetags.dates import full_day
from chats.models import Conversation, GroupStatus, QuestionGroup, Status
from chats.services.desk import report_filters
from chats.services.insight import question_groups
from identity.models import Client, Plan, Subscription, User
from identity.services import credit_forecast, saved_views
from reports.schemas.adhoc import PeriodQuery
from reports.schemas.overview import ChatOverview, Figures
from reports.services import charts, failed_work, formatting, overview, periods
from reports.services import warnings as client_warnings
from reports.services.kpi_cards import KpiCard, compared

_DAYS, _CHART_DAYS, _MAX_QUESTIONS = 7, 14, 5
_VIEW = gettext_lazy("View")
# Dismissed set-up steps are stored as a saved view with this name, which is not a list's.
_STEPS = "steps"
# The button labels of warnings by code; "View" for others.
_VERBS = {
    "chats_unanswered": pgettext_lazy("verb", "Answer"),
    "chats_unanswered_soon": pgettext_lazy("verb", "Answer"),
    "channel_broken": gettext_lazy("Reconnect"),
    "channel_token_expiring": gettext_lazy("Reconnect"),
    "webhook_failing": gettext_lazy("Fix"),
    "training_failed": gettext_lazy("Fix"),
    "documents_held": gettext_lazy("Review"),
    "functions_without_model": gettext_lazy("Fix"),
    "low_ratings": pgettext_lazy("verb", "Read"),
    "negative_sentiment": pgettext_lazy("verb", "Read"),
}
# The warnings about waiting customers.
_WAITING_CODES = frozenset({"chats_unanswered", "chats_unanswered_soon", "queue_growing"})
_KINDS_WITHOUT_WARNING = ("addresses", "deliveries", "inbound", "sends")


@dataclass(frozen=True)
class Hint:
    """An item of the home page: something that needs attention, or a set-up step. `model` is the
    model of the rows in question."""

    text: str
    path: str
    model: type[Any]
    is_done: bool = False
    # The label of the item's button.
    verb: str = ""


def figures(client: Client) -> list[KpiCard]:
    """The cards of the home page: waiting customers, the figures of the last seven days and the
    seven days before, and credits."""
    week = _week(client)
    now, before, days = week.current, week.previous, week.series
    chats = f"{failed_work.list_path('chats_conversation')}?began={_DAYS}"
    return [
        _waiting_card(client),
        compared(
            "chats", now.chats, before.chats, path=chats, days=[day.chats for day in days],
            note=_last_week(formatting.number(before.chats)),
        ),
        _resolved_card(week, f"{chats}&answered_by=bot"),
        _response_card(week, f"{chats}&answered_by=person"),
        _rating_card(week),
        _credits_card(client),
    ]  # fmt: skip


def conversations_chart(client: Client) -> charts.Chart:
    """A chart of the last 14 days' conversations. Each bar links to the report of its day."""
    first = periods.today_in(client.timezone) - timedelta(days=_CHART_DAYS - 1)
    series = overview.compute(client, PeriodQuery(date_from=first)).series
    link = reverse("reports_adhoc")
    bars = (
        (formatting.day(row.day), row, f"{link}?date_from={row.day}&date_to={row.day}")
        for row in series
    )
    return charts.conversations(bars, axis=gettext("Day"))


def most_asked(client: Client) -> list[QuestionGroup]:
    """The most frequent groups of unanswered questions, annotated with `question`."""
    rows = QuestionGroup.objects.for_client(client).filter(status=GroupStatus.OPEN)
    groups = question_groups.with_question(rows.select_related("bot"))
    return list(groups.order_by("-count", "-id")[:_MAX_QUESTIONS])


def _week(client: Client) -> ChatOverview:
    first = periods.today_in(client.timezone) - timedelta(days=_DAYS - 1)
    return overview.compute(client, PeriodQuery(date_from=first))


def _resolved_card(week: ChatOverview, path: str) -> KpiCard:
    now, before = (formatting.share(part.bot_resolved, part.chats) for part in _both(week))
    return compared(
        "bot_resolved_share", now, before, path=path, title=gettext("Resolved by the bot"),
        note=_last_week(formatting.format_value("bot_resolved_share", before)),
        days=[formatting.share(day.bot_resolved, day.chats) or 0 for day in week.series],
    )  # fmt: skip


def _response_card(week: ChatOverview, path: str) -> KpiCard:
    now, before = (part.person_response_seconds.p50 for part in _both(week))
    note = gettext("median · {value} last week").format(value=formatting.duration(before))
    note = note if before is not None else gettext("median")
    title = gettext("First human response")
    return compared("person_response_p50", now, before, path=path, title=title, note=note)


def _rating_card(week: ChatOverview) -> KpiCard:
    now, before = (part.rating_mean for part in _both(week))
    count = week.current.rating_count
    return compared(
        "rating_mean", now, before, title=gettext("Rating"),
        value=gettext("{mean} out of 5").format(mean=formatting.number(now, places=1))
        if now else "–",
        note=ngettext("{count} rating", "{count} ratings", count).format(
            count=formatting.number(count)
        ),
        path=f"{failed_work.list_path('chats_feedback')}?about=chat&began={_DAYS}",
        days=[day.rating_mean or 0 for day in week.series],
    )  # fmt: skip


def _both(week: ChatOverview) -> tuple[Figures, Figures]:
    return week.current, week.previous


def warnings(client: Client) -> list[Hint]:
    """What needs attention on the home page: waiting customers, warnings that are not muted, and
    failures that no warning covers."""
    all_warnings = client_warnings.list_for_client(client)
    shown = [item for item in all_warnings if item.warning.muted_until is None]
    hints = [
        Hint(
            item.warning.title,
            item.warning.link,
            item.model,
            verb=str(_VERBS.get(item.warning.code, _VIEW)),
        )
        for item in shown
    ]
    if _WAITING_CODES.isdisjoint(item.warning.code for item in all_warnings):
        hints = [*_waiting_hints(client), *hints]
    return [*hints, *failure_hints(client, _KINDS_WITHOUT_WARNING)]


def _waiting_hints(client: Client) -> list[Hint]:
    """One item about waiting customers, or none if nobody is waiting. It is used when no warning
    mentions them, such as outside business hours."""
    rows, path = _waiting_chats(client)
    count = rows.count()
    text = ngettext(
        "{count} customer is waiting for your team",
        "{count} customers are waiting for your team",
        count,
    ).format(count=formatting.number(count))
    verb = str(_VERBS["chats_unanswered"])
    return [Hint(text, path, Conversation, verb=verb)] if count else []


def failure_hints(client: Client | None, kinds: Iterable[str]) -> list[Hint]:
    """An item for each of these kinds that has failures, with their number. If `client` is None,
    the failures of all clients count."""
    counts = [
        (kind, sum(group.count for group in failed_work.of_kind(kind, client)))
        for kind in (failed_work.KINDS[name] for name in kinds)
    ]
    return [
        Hint(
            f"{formatting.number(count)} × {gettext(kind.title)}",
            reverse("failures"),
            kind.model,
            verb=str(_VIEW),
        )
        for kind, count in counts
        if count
    ]


def has_conversations(client: Client) -> bool:
    """Whether the client has a conversation that is not a preview by the team."""
    return Conversation.objects.for_client(client).filter(is_preview=False).exists()


def dismiss_steps(by: User) -> None:
    """Hide the set-up steps: for everyone at the client if `by` is an owner or admin, otherwise
    only for `by`."""
    saved_views.save(by, _STEPS, name=_STEPS, query="", is_shared=by.is_admin)


def set_up_steps(client: Client, reader: User) -> list[Hint]:
    """A client's set-up steps; empty if they were dismissed."""
    if saved_views.visible_to(reader, _STEPS):
        return []
    trained = Document.objects.for_client(client).filter(
        chunk_count__gt=0, from_business_hours=False
    )
    bot = Bot.objects.for_client(client).order_by("pk").first()
    new_bot = reverse("admin:bots_bot_new_bot")
    content = reverse("admin:bots_bot_content", args=[bot.pk]) if bot else new_bot
    install = reverse("admin:bots_bot_install", args=[bot.pk]) if bot else new_bot
    steps: list[tuple[str, QuerySet[Any], str]] = [
        (gettext("Create a bot"), Bot.objects.for_client(client), new_bot),
        (gettext("Add content"), trained, content),
        (gettext("Install it on your website"),
         Bot.objects.for_client(client).exclude(seen_at=None), install),
        (gettext("Invite a teammate"), User.objects.for_client(client)[1:2],
         reverse("admin:identity_user_invite")),
    ]  # fmt: skip
    return [
        Hint(
            text,
            failed_work.list_path(f"{rows.model._meta.app_label}_{rows.model._meta.model_name}")
            if (is_done := rows.exists())
            else path,
            rows.model,
            is_done,
        )
        for text, rows, path in steps
    ]


def _waiting_chats(client: Client) -> tuple[QuerySet[Conversation], str]:
    """The open conversations whose customers are waiting for a person, assigned or not, and the
    path of their list. Warnings about late answers count only some of them."""
    rows = Conversation.objects.for_client(client).filter(
        report_filters.is_waiting(), status=Status.OPEN, is_preview=False
    )
    return rows, failed_work.list_path("chats_conversation", status__exact="open", waiting="any")


def _waiting_card(client: Client) -> KpiCard:
    rows, path = _waiting_chats(client)
    oldest = rows.order_by("waiting_since").values_list("waiting_since", flat=True).first()
    if oldest is None:
        return KpiCard(
            gettext("Waiting now"),
            formatting.number(rows.count()),
            gettext("no one is waiting"),
            path,
        )
    wait = formatting.duration((timezone.now() - oldest).total_seconds())
    note = gettext("longest wait {wait}").format(wait=wait)
    return KpiCard(gettext("Waiting now"), formatting.number(rows.count()), note, path)


def _credits_card(client: Client) -> KpiCard:
    account = Subscription.objects.get(client=client)
    return KpiCard(
        gettext("Credits"),
        formatting.number(account.credits_left),
        _end_of_credits(account, ZoneInfo(client.timezone)),
        reverse("admin:settings_plan"),
    )


def _end_of_credits(account: Subscription, zone: ZoneInfo) -> str:
    """When the credits run out at the current rate, or when the trial ends if that is earlier.
    Empty if they last ten years."""
    if not account.is_active:
        return gettext("Your plan has ended")
    if account.plan == Plan.UNLIMITED:
        return gettext("Unlimited credits")
    now = timezone.now()
    trial_ends = account.period_end if account.plan == Plan.TRIAL else None
    ends = credit_forecast.ends_at(account, now=now)
    if trial_ends and (ends is None or trial_ends < ends):
        text, ends = gettext("trial ends on {day}"), trial_ends
    elif ends is None:
        return gettext("none used in the last 7 days")
    elif ends - now >= credit_forecast.LONGEST:
        return ""
    else:
        text = gettext("will last until {day} at your current rate")
    day = full_day(timezone.localdate(ends, zone))
    return text.format(day=day)


def _last_week(value: str) -> str:
    return gettext("{value} last week").format(value=value)
