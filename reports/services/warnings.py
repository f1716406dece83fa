"""Warnings about what needs attention now or soon. Each links to a list of its causes, such as
conversations."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from django.db.models import Count, Min, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext_lazy

from bots.models import Bot, Document, DocumentStatus, Function, GoldenOutcome
from bots.services import functions, publish_gate
from channels_app.models import LIVE, AccountNotice, ChannelConnection, ConnectionStatus
from channels_app.providers import PROVIDERS
from chatplatform.ids import first_id
from chatplatform.templatetags.dates import full_day
from chats.models import AssignType, Conversation, Feedback, Status
from chats.services.desk import report_filters
from identity.models import Client, ClientConfig, Plan, Subscription, User
from identity.services import credit_forecast, credits
from reports.schemas import warnings as schemas
from reports.services import formatting, mutes
from webhooks.models import WebhookConfig
from webhooks.services import endpoints

_DAY = timedelta(days=1)
# How long before a token expires its warning begins, if the platform cannot renew the token. For
# other tokens, it begins halfway through the time in which the platform tries to renew them.
_TOKEN_WARNING_PERIOD = timedelta(days=7)
_CREDITS_WARNING_PERIOD = timedelta(days=7)
_LOW_STARS = 2
_NOTICES_LOOKBACK = timedelta(days=7)
_MAX_SAMPLES = 5
_OPEN_CHATS = "?status__exact=open"
# Only owners and admins see warnings about these models, because only they may read the rows.
_FOR_ADMINS = {WebhookConfig}


@dataclass(frozen=True)
class Found:
    """A warning, and the model of the rows that caused it."""

    warning: schemas.Warning
    model: type[Any]

    @property
    def sort_key(self) -> tuple[bool, bool]:
        """Sorts critical warnings first and muted warnings last."""
        return self.warning.muted_until is not None, self.warning.severity != "critical"


@dataclass(frozen=True)
class _Rule:
    code: schemas.WarningCode
    severity: Literal["critical", "warning"]
    # A text with plural forms. `n` decides which form is used.
    title: Any
    what_to_do: str
    rows: Callable[[Client, datetime], QuerySet[Any]]
    label: str
    since: str | None = None
    due_at: str | None = None
    link: str = ""


def dashboard(client: Client, user: User) -> schemas.WarningDashboard:
    """The client's warnings that this person may see."""
    visible = (
        item for item in list_for_client(client) if user.is_admin or item.model not in _FOR_ADMINS
    )
    return schemas.WarningDashboard(warnings=[item.warning for item in visible])


def list_for_client(client: Client) -> list[Found]:
    """The client's warnings: critical warnings first, muted warnings last."""
    now = timezone.now()
    warnings = [item for rule in _RULES if (item := _by_rule(rule, client, now))]
    warnings += _of_credits(client, now)
    muted = mutes.current(client)
    for item in warnings:
        if mute := muted.get(item.warning.code):
            item.warning.muted_until, item.warning.muted_by = (
                mute.muted_until,
                mute.muted_by.full_name,
            )
    return sorted(warnings, key=lambda item: item.sort_key)


def _by_rule(rule: _Rule, client: Client, now: datetime) -> Found | None:
    rows = rule.rows(client, now)
    time_column = rule.since or rule.due_at
    earliest = {"at": Min(time_column)} if time_column else {}
    totals = rows.aggregate(count=Count("pk"), **earliest)
    count = totals["count"]
    if not count:
        return None
    order = [time_column, "pk"] if time_column else ["pk"]
    samples = list(rows.order_by(*order).values_list("pk", rule.label)[:_MAX_SAMPLES])
    ids = ",".join(str(pk) for pk, _ in samples)
    meta = rows.model._meta
    warning = schemas.Warning(
        code=rule.code,
        severity=rule.severity,
        title=rule.title.format(n=count, count=formatting.number(count)),
        what_to_do=gettext(rule.what_to_do),
        count=count,
        since=totals["at"] if rule.since else None,
        due_at=totals["at"] if rule.due_at else None,
        samples=[schemas.WarningSample(id=str(pk), label=label) for pk, label in samples],
        link=reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
        + rule.link.format(ids=ids),
    )
    return Found(warning, rows.model)


# --- chats --------------------------------------------------------------------------------------


def _open_chats(client: Client) -> QuerySet[Conversation]:
    rows = Conversation.objects.for_client(client)
    return rows.filter(status=Status.OPEN, is_preview=False)


def _growing_queue(client: Client, now: datetime) -> QuerySet[Conversation]:
    """The conversations in the queue, if there are more than an agent's capacity and the queue grew
    in the last hour; otherwise none."""
    queue = _open_chats(client).filter(assign_type=AssignType.QUEUE)
    if queue.count() <= ClientConfig.objects.get(client=client).agent_capacity:
        return queue.none()
    hour_ago = now - timedelta(hours=1)
    recent = Conversation.objects.for_client(client).filter(
        is_preview=False, pk__gte=first_id(now - _DAY)
    )
    entered = recent.filter(handed_off_at__gte=hour_ago).count()
    left = recent.filter(handed_off_at__isnull=False).filter(
        Q(assign_type=AssignType.AGENT, assigned_at__gte=hour_ago)
        | Q(assign_type=AssignType.QUEUE, ended_at__gte=hour_ago)
    )
    return queue if entered > left.count() else queue.none()


def _low_ratings(client: Client, now: datetime) -> QuerySet[Feedback]:
    return Feedback.objects.for_client(client).filter(
        message=None, rating__lte=_LOW_STARS, created_at__gte=now - _DAY,
        conversation__is_preview=False,
    )  # fmt: skip


def _model_errors(client: Client, now: datetime) -> QuerySet[Conversation]:
    rows = Conversation.objects.for_client(client).filter(
        messages__client=client, messages__pk__gte=first_id(now - _DAY),
        messages__receipt__has_key="engine_error", is_preview=False,
    )  # fmt: skip
    # Annotated after the filter, so that only the filtered messages count.
    return rows.annotate(failed_at=Min("messages__created_at"))


# --- channels, and the rules --------------------------------------------------------------------


def _expiring_tokens(client: Client, now: datetime) -> QuerySet[ChannelConnection]:
    expiring = Q()
    for channel, provider in PROVIDERS.items():
        before = provider.refresh_before
        soon = before / 2 if before else _TOKEN_WARNING_PERIOD
        expiring |= Q(channel=channel, token_expires_at__lt=now + soon)
    rows = ChannelConnection.objects.for_client(client)
    return rows.filter(expiring, status=ConnectionStatus.CONNECTED)


_RULES = (
    _Rule(
        "chats_unanswered", "critical",
        ngettext_lazy(
            "{count} conversation is past the target wait time",
            "{count} conversations are past the target wait time",
            "n",
        ),
        gettext_noop(
            "Answer whoever has waited longest first, or ask more agents to come online."
        ),
        lambda client, now: _open_chats(client).filter(
            report_filters.waited_for_target(client, now)
        ),
        "chat_code", since="waiting_since",
        link=f"{_OPEN_CHATS}&waiting=target",
    ),
    _Rule(
        "channel_broken", "critical",
        ngettext_lazy(
            "{count} channel isn't working",
            "{count} channels aren't working",
            "n",
        ),
        gettext_noop("Reconnect the account. Its page shows the provider's message."),
        lambda client, _: ChannelConnection.objects.for_client(client).filter(
            status__in=[ConnectionStatus.EXPIRED, ConnectionStatus.ERROR]
        ),
        "account_name",
    ),
    _Rule(
        "channel_notices", "warning",
        ngettext_lazy(
            "A provider reported problems with {count} channel in the last 7 days",
            "Providers reported problems with {count} channels in the last 7 days",
            "n",
        ),
        gettext_noop("See what's wrong on the account's page, then fix it with the provider."),
        lambda client, now: ChannelConnection.objects.for_client(client).filter(
            status__in=LIVE,
            pk__in=AccountNotice.objects.for_client(client)
            .filter(is_bad=True, at__gte=now - _NOTICES_LOOKBACK)
            .values("connection"),
        ),
        "account_name",
    ),
    _Rule(
        "model_errors", "warning",
        ngettext_lazy(
            "The model failed in {count} conversation since yesterday",
            "The model failed in {count} conversations since yesterday",
            "n",
        ),
        gettext_noop(
            "Select “Why?” next to the reply to see the error, then check the bot's model."
        ),
        _model_errors, "chat_code", since="failed_at", link="?id__in={ids}",
    ),
    _Rule(
        "webhook_failing", "warning",
        ngettext_lazy(
            "{count} webhook is failing or off",
            "{count} webhooks are failing or off",
            "n",
        ),
        gettext_noop("Fix your server, turn the webhook back on, then resend missed events."),
        lambda client, _: endpoints.failing().filter(client=client), "url", since="failing_since",
    ),
    _Rule(
        "chats_unanswered_soon", "warning",
        ngettext_lazy(
            "{count} conversation is past half the target wait time",
            "{count} conversations are past half the target wait time",
            "n",
        ),
        gettext_noop("Answer them before they miss the target."),
        lambda client, now: _open_chats(client).filter(
            report_filters.waited_for_half(client, now)
        ),
        "chat_code", since="waiting_since",
        link=f"{_OPEN_CHATS}&waiting=half",
    ),
    _Rule(
        "queue_growing", "warning",
        ngettext_lazy(
            "The queue is growing: {count} conversation",
            "The queue is growing: {count} conversations",
            "n",
        ),
        gettext_noop(
            "Conversations are coming in faster than agents can take them. Ask more agents to"
            " come online."
        ),
        _growing_queue, "chat_code", since="waiting_since",
        link=f"{_OPEN_CHATS}&assign_type__exact=queue",
    ),
    _Rule(
        "negative_sentiment", "warning",
        ngettext_lazy(
            "{count} open conversation with an unhappy customer",
            "{count} open conversations with unhappy customers",
            "n",
        ),
        gettext_noop("Read them, then have a teammate reply."),
        lambda client, _: _open_chats(client).filter(sentiment="negative"),
        "chat_code", since="created_at",
        link=f"{_OPEN_CHATS}&sentiment__exact=negative",
    ),
    _Rule(
        "low_ratings", "warning",
        ngettext_lazy(
            "{count} low rating (1–2 stars) since yesterday",
            "{count} low ratings (1–2 stars) since yesterday",
            "n",
        ),
        gettext_noop("Read these conversations, then teach the bot what it didn't know."),
        _low_ratings, "conversation__chat_code", since="created_at",
        link="?rating__exact=low&about=chat&given=day",
    ),
    _Rule(
        "channel_token_expiring", "warning",
        ngettext_lazy(
            "{count} channel needs to be reconnected soon",
            "{count} channels need to be reconnected soon",
            "n",
        ),
        gettext_noop("Reconnect the account before its access expires."),
        _expiring_tokens, "account_name", due_at="token_expires_at",
    ),
    _Rule(
        "training_failed", "warning",
        ngettext_lazy(
            "{count} document couldn't be read",
            "{count} documents couldn't be read",
            "n",
        ),
        gettext_noop("See why, then try again or delete the document."),
        lambda client, _: Document.objects.for_client(client).filter(
            status=DocumentStatus.FAILED
        ),
        "file_name", link="?status__exact=failed",
    ),
    _Rule(
        "documents_held", "warning",
        ngettext_lazy(
            "{count} document is on hold after a test run",
            "{count} documents are on hold after a test run",
            "n",
        ),
        gettext_noop(
            "Open the test run from the document's page, then publish or delete the document."
        ),
        # Their test run has ended, so they stay on hold until a person publishes or deletes them.
        lambda client, _: publish_gate.held().filter(
            client=client, run_outcome=GoldenOutcome.HELD
        ),
        "file_name", since="trained_at", link="?pending_review__exact=1",
    ),
    _Rule(
        "functions_without_model", "warning",
        ngettext_lazy(
            "{count} function isn't used because its bot has no language model",
            "{count} functions aren't used because their bots have no language model",
            "n",
        ),
        gettext_noop("Connect a language model, or turn the functions off."),
        lambda client, _: Function.objects.for_client(client).filter(
            bot__in=functions.without_model_or_procedure(
                Bot.objects.filter(function_calling__is_enabled=True)
            )
        ),
        "name",
    ),
)  # fmt: skip


# --- credits ------------------------------------------------------------------------------------


def _of_credits(client: Client, now: datetime) -> Iterator[Found]:
    """Yield the most urgent warning about credits, if there is one."""
    account = Subscription.objects.get(client=client)
    if account.is_active and account.plan == Plan.UNLIMITED:
        return
    left = account.credits_left
    if not account.is_active:
        yield _credits("credits_used_up", gettext("Your plan has ended"), account)
    elif left == 0:
        yield _credits("credits_used_up", gettext("You're out of credits"), account)
    elif (ends := _end_of_credits(account, now)) is not None:
        day = full_day(timezone.localdate(ends, ZoneInfo(client.timezone)))
        title = gettext("At your current rate, credits will run out on {day}").format(day=day)
        yield _credits("credits_end_soon", title, account, due_at=ends)
    elif left * 100 < account.credits_included * credits.LOW_PERCENT:
        title = gettext("{n} credits left").format(n=formatting.number(left))
        yield _credits("credits_low", title, account)


def _end_of_credits(account: Subscription, now: datetime) -> datetime | None:
    """When the credits will run out, if that is before the period ends or, if it has no end, within
    seven days; otherwise None."""
    ends = credit_forecast.ends_at(account, now=now)
    return ends if ends and ends < (account.period_end or now + _CREDITS_WARNING_PERIOD) else None


def _credits(
    code: schemas.WarningCode, title: str, account: Subscription, due_at: datetime | None = None
) -> Found:
    warning = schemas.Warning(
        code=code,
        severity="critical" if code == "credits_used_up" else "warning",
        title=title,
        what_to_do=gettext(
            "Order credits or ask for a larger plan. Bots can't answer without credits."
        ),
        count=account.credits_left,
        due_at=due_at,
        samples=[],
        link=reverse("admin:settings_plan"),
    )
    return Found(warning, Subscription)
