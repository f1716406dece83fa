"""Failures of all kinds, grouped by cause. Each group links to its rows; some can be retried."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

from bots.models import Document, DocumentStatus, GoldenOutcome, WebUrl, WebUrlStatus
from bots.services import documents, publish_gate, web_urls
from channels_app.models import (
    ChannelConnection,
    ConnectionStatus,
    InboundItem,
    OutboundSend,
    Outcome,
    SendState,
)
from chatplatform.jobs import leases, registry
from chatplatform.models import Job, JobState
from chatplatform.templatetags.codes import error_text, humanize_code, stored_text
from chats.models import MessageStatus
from identity.models import Client
from webhooks.models import Delivery, DeliveryState
from webhooks.services import deliveries, endpoints

# How long messages that could not be sent are listed.
_SENDS_LOOKBACK = timedelta(days=7)
# Inbound items that wait longer are overdue; most are processed within seconds.
_MAX_INBOUND_WAIT = timedelta(minutes=1)
# How long after a retry the page refreshes itself to show the results.
_REFRESH_PERIOD = timedelta(minutes=2)
# The maximum number of rows that one click retries; another click retries the next rows.
MAX_RETRIED = 500
# The highest number that `count` returns.
MAX_COUNTED = 100


@dataclass(frozen=True)
class Kind:
    """A kind of failure: the failed rows, and how to describe their causes and retry them."""

    title: str
    rows: Callable[[], QuerySet[Any]]
    # The columns to group by; their values are the arguments of `text` and `link`.
    cause: tuple[str, ...]
    text: Callable[..., str]
    link: Callable[..., str]
    # Retries a row, and returns whether it was retried. None if rows cannot be retried.
    retry: Callable[[Any], bool] | None = None
    # Returns the result of a retried row.
    result: Callable[[Any], "Result"] | None = None
    # The relations that `result` reads, to prefetch.
    related: tuple[str, ...] = ()
    # The column with the time of the failure.
    at: str = "created_at"
    # The label of the link to a group's rows.
    link_label: str = gettext_noop("View")

    @property
    def model(self) -> type[Any]:
        """The model of the rows; its admin page decides who may read them."""
        return self.rows().model


@dataclass(frozen=True)
class Failure:
    """A group of rows that failed for the same cause."""

    text: str
    client: str
    count: int
    latest_at: datetime | None
    link: str
    # The values of the group's columns, by which a retry finds the group.
    values: list[str]


class RetryOutcome(StrEnum):
    """The outcome of a retried row."""

    DONE = gettext_noop("done")
    FAILED = gettext_noop("failed again")
    WAITING = gettext_noop("in progress")


# An outcome and its reason, which may be empty.
Result: TypeAlias = tuple[RetryOutcome, str]


@dataclass(frozen=True)
class RetryResults:
    """The results of a retry: each outcome with its reason and number of rows."""

    at: datetime
    results: list[tuple[RetryOutcome, str, int]]

    @property
    def is_under_way(self) -> bool:
        """Whether the retry is recent and some of its rows have no outcome yet."""
        is_recent = timezone.now() - self.at < _REFRESH_PERIOD
        return is_recent and any(outcome == RetryOutcome.WAITING for outcome, _, _ in self.results)

    @property
    def all_succeeded(self) -> bool:
        return all(outcome == RetryOutcome.DONE for outcome, _, _ in self.results)


def of_kind(kind: Kind, client: Client | None) -> list[Failure]:
    """The failures of one kind, at most 100 groups, largest first. If `client` is None, those of
    all clients."""
    owner = () if kind.model is Job else ("client_id", "client__name")
    rows = _of_client(kind.rows(), client).values(*owner, *kind.cause)
    groups = rows.annotate(count=Count("pk"), latest_at=Max(kind.at))
    groups = groups.order_by("-count", *kind.cause)
    return [
        Failure(
            text=kind.text(*(group[name] for name in kind.cause)),
            client="" if client else group.get("client__name", ""),
            count=group["count"],
            latest_at=group["latest_at"],
            link=kind.link(*(group[name] for name in kind.cause)),
            values=[str(group[name]) for name in (*owner[:1], *kind.cause)],
        )
        for group in groups[:100]
    ]


def count(kinds: Iterable[Kind], client: Client) -> int:
    """The number of failed rows of these kinds, at most `MAX_COUNTED`. Takes one statement."""
    first, *others = (
        _of_client(kind.rows(), client).order_by().values_list(Value(1))[:MAX_COUNTED]
        for kind in kinds
    )
    return len(first.union(*others, all=True)[:MAX_COUNTED])


def retry(kind: Kind, client: Client | None, values: list[str]) -> list[str]:
    """Retry up to `MAX_RETRIED` rows of a group, and return the ids of the retried rows."""
    assert kind.retry, "rows of this kind cannot be retried"
    names = kind.cause if kind.model is Job else ("client_id", *kind.cause)
    rows = _of_client(kind.rows(), client).filter(**dict(zip(names, values, strict=True)))
    return [str(row.pk) for row in rows.order_by("pk")[:MAX_RETRIED] if kind.retry(row)]


def retry_results(kind: Kind, client: Client | None, ids: list[str], at: datetime) -> RetryResults:
    """The results so far of the rows retried at `at`, without rows deleted since."""
    assert kind.result, "rows of this kind cannot be retried"
    rows = _of_client(kind.model._base_manager.filter(pk__in=ids), client)
    counts = Counter(map(kind.result, rows.prefetch_related(*kind.related)))
    order = list(RetryOutcome)
    ordered = sorted(counts.items(), key=lambda item: (order.index(item[0][0]), -item[1]))
    return RetryResults(at, [(outcome, reason, count) for (outcome, reason), count in ordered])


def _of_client(rows: QuerySet[Any], client: Client | None) -> QuerySet[Any]:
    return rows.filter(client_id=client.pk) if client else rows


def _training_result(row: Document | WebUrl) -> Result:
    if row.status == DocumentStatus.FAILED:
        return RetryOutcome.FAILED, error_text(row.error_message, row.error_code)
    return RetryOutcome.DONE if row.status == DocumentStatus.TRAINED else RetryOutcome.WAITING, ""


def _delivery_result(row: Delivery) -> Result:
    if row.state == DeliveryState.SUCCEEDED:
        return RetryOutcome.DONE, ""
    if row.state == DeliveryState.PENDING:
        paused = row.config.paused_until
        if paused and paused > timezone.now():
            text = gettext("nothing will be sent to %(url)s until %(time)s UTC")
            return RetryOutcome.WAITING, text % {"url": row.config, "time": f"{paused:%H:%M}"}
        return RetryOutcome.WAITING, ""
    last = max(row.log.all(), key=lambda item: item.number, default=None)
    reason = humanize_code(last.error) if last else ""
    if last and last.http_status:
        reason = f"{reason} ({last.http_status})"
    if row.state != DeliveryState.GAVE_UP:
        reason = gettext("%(reason)s; will be retried automatically") % {"reason": reason}
    return RetryOutcome.FAILED, reason


def _job_result(row: Job) -> Result:
    if row.state in {JobState.DEAD, JobState.CANCELLED}:
        return RetryOutcome.FAILED, row.last_error if row.state == JobState.DEAD else gettext(
            "canceled"
        )
    if row.state == JobState.DONE:
        return RetryOutcome.DONE, ""
    text = gettext("so far: %(error)s") % {"error": row.last_error} if row.attempts > 1 else ""
    return RetryOutcome.WAITING, text


def _failed_deliveries() -> QuerySet[Delivery]:
    rows = deliveries.recent_in(DeliveryState.GAVE_UP)
    return rows.filter(config__deleted_at=None, config__is_active=True)


def _unsent() -> QuerySet[OutboundSend]:
    """Recent sends that failed, and recent sends with an unknown outcome whose message counts as
    failed."""
    since = timezone.now() - _SENDS_LOOKBACK
    states = [SendState.FAILED, SendState.UNCERTAIN]
    rows = OutboundSend.objects.filter(created_at__gte=since, state__in=states)
    is_open = Q(state=SendState.UNCERTAIN) & ~Q(message__status=MessageStatus.FAILED)
    return rows.exclude(is_open)


def _send_text(name: str, error: str, state: str) -> str:
    if state == SendState.FAILED:
        reason = stored_text(error) or gettext("rejected without a reason")
        return f"{name}: {reason}"
    return _problem(
        gettext("may not have arrived because the connection was lost while sending"), name, error
    )


def _channel_text(name: str, error: str, status: str) -> str:
    if status == ConnectionStatus.EXPIRED:
        problem = gettext("the provider no longer gives us access, so nothing is sent")
    else:
        problem = gettext("the provider is rejecting some requests")
    return _problem(problem, name, error)


def _problem(problem: str, name: str, error: str) -> str:
    return f"{name}: {problem}{f'. {stored_text(error)}' if error else ''}"


def _inbound_text(name: str, count: int) -> str:
    text = ngettext(
        "%(name)s: %(count)s message or other event, which will be retried automatically",
        "%(name)s: %(count)s messages and other events, which will be retried automatically",
        count,
    )
    return text % {"name": name, "count": count}


def _waiting_connections() -> QuerySet[ChannelConnection]:
    """The accounts with overdue inbound items, each with the number of waiting items and the
    arrival of the oldest."""
    waiting = InboundItem.objects.filter(outcome=Outcome.WAITING, connection_id=OuterRef("pk"))
    of_account = waiting.order_by().values("connection_id")
    rows = ChannelConnection.objects.annotate(
        waits_since=Subquery(waiting.order_by("pk").values("callback__received_at")[:1]),
        waiting=Subquery(of_account.annotate(count=Count("pk")).values("count")),
    )
    return rows.filter(waits_since__lt=timezone.now() - _MAX_INBOUND_WAIT)


def _account(channel: str, bot_id: int) -> str:
    return reverse("channel_account", args=[channel, bot_id])


def _endpoint(pk: Any) -> str:
    return reverse("admin:webhooks_webhookconfig_manage", args=[pk])


def job_label(name: str) -> str:
    """What a job does: the first line of its docstring, or else its name in words."""
    declared = registry.declared.get(name)
    first = (declared.run.__doc__ or "").strip().partition("\n")[0] if declared else ""
    return first.rstrip(".") or humanize_code(name)


def list_path(model: str, **query: str) -> str:
    """The path of a model's list on the site, with these filters; `model` is `app_model`."""
    path = reverse(f"admin:{model}_changelist")
    parameters = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{path}?{parameters}" if parameters else path


KINDS = {
    "documents": Kind(
        gettext_noop("Documents that couldn't be read"),
        lambda: Document.objects.filter(status=DocumentStatus.FAILED),
        ("error_message", "error_code"),
        error_text,
        lambda message, code: list_path("bots_document", status__exact="failed"),
        documents.retrain,
        _training_result,
    ),
    "held": Kind(
        gettext_noop("Documents on hold"),
        lambda: publish_gate.held().filter(run_outcome=GoldenOutcome.HELD),
        ("run_id", "bot__bot_name"),
        lambda run_id, bot: gettext("%(bot)s: publish or delete what the test run put on hold")
        % {"bot": bot},
        lambda run_id, bot: reverse("admin:bots_goldenrun_change", args=[run_id]),
        at="trained_at",
    ),
    "addresses": Kind(
        gettext_noop("Websites that couldn't be read"),
        lambda: WebUrl.objects.filter(status=WebUrlStatus.FAILED),
        ("error_message", "error_code"),
        error_text,
        lambda message, code: list_path("bots_weburl", status__exact="failed"),
        web_urls.crawl_again,
        _training_result,
    ),
    "endpoints": Kind(
        gettext_noop("Webhooks that are failing or were turned off"),
        endpoints.failing,
        ("url", "pk", "is_active"),
        lambda url, pk, is_active: (
            url if is_active else _problem(gettext("turned off"), url, "")
        ),
        lambda url, pk, is_active: _endpoint(pk),
        at="failing_since",
    ),
    "deliveries": Kind(
        gettext_noop("Webhook deliveries that failed in the last week"),
        _failed_deliveries,
        ("config_id", "config__url"),
        lambda config_id, url: str(url),
        lambda config_id, url: _endpoint(config_id),
        deliveries.retry,
        _delivery_result,
        ("config", "log"),
    ),
    "channels": Kind(
        gettext_noop("Channels that aren't working"),
        lambda: ChannelConnection.objects.filter(
            status__in=[ConnectionStatus.EXPIRED, ConnectionStatus.ERROR]
        ),
        ("account_name", "last_error", "status", "channel", "bot_id"),
        lambda name, error, status, channel, bot_id: _channel_text(name, error, status),
        lambda name, error, status, channel, bot_id: _account(channel, bot_id),
        at="failing_since",
        link_label=gettext_noop("Reconnect"),
    ),
    "inbound": Kind(
        gettext_noop("Channels with unprocessed messages"),
        _waiting_connections,
        ("account_name", "waiting", "channel", "bot_id"),
        lambda name, count, channel, bot_id: _inbound_text(name, count),
        lambda name, count, channel, bot_id: _account(channel, bot_id),
        at="waits_since",
    ),
    "sends": Kind(
        gettext_noop("Messages a channel rejected or may not have received in the last week"),
        _unsent,
        ("connection_id", "connection__account_name", "error", "state"),
        lambda pk, name, error, state: _send_text(name, error, state),
        lambda pk, name, error, state: list_path(
            "channels_app_outboundsend", state__exact=state, connection__id__exact=pk
        ),
    ),
    "jobs": Kind(
        gettext_noop("Failed jobs"),
        lambda: Job.objects.filter(state=JobState.DEAD),
        ("name", "last_error"),
        lambda name, error: f"{job_label(name)}: {error}",
        lambda name, error: list_path("chatplatform_job", state__exact="dead"),
        leases.requeue_dead,
        _job_result,
    ),
}  # fmt: skip
