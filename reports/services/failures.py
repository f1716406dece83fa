"""What has failed, in one place: grouped by cause, each group with the way to its rows."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone

from bots.models import Document, DocumentStatus, GoldenOutcome, WebUrl, WebUrlStatus
from bots.services import documents, golden_holds, web_urls
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
from chatplatform.templatetags.site_words import say
from identity.models import Client
from webhooks.models import Delivery, DeliveryState
from webhooks.services import deliveries

# Deliveries are kept for a month; an older failure is nobody's news.
_DELIVERIES_SINCE = timedelta(days=7)
# What customers write is processed within seconds.
_USUAL_WAIT = timedelta(minutes=1)
# Most rows that one click tries again; a further click takes the next ones.
MOST_AT_ONCE = 500


@dataclass(frozen=True)
class Kind:
    """Rows that can fail: which have, what their cause is, and how they are tried again."""

    title: str
    rows: Callable[[], QuerySet[Any]]
    # Columns that make a group; its words and its link are made of them.
    cause: tuple[str, ...]
    words: Callable[..., str]
    link: Callable[..., str]
    again: Callable[[Any], bool] | None = None
    # The column of when it failed.
    at: str = "created_at"
    # What the link of a group is for.
    look: str = "Look"

    @property
    def model(self) -> type[Any]:
        """The model of the rows, whose page says who may read them."""
        return self.rows().model


@dataclass(frozen=True)
class Failure:
    """Rows that failed for one cause."""

    words: str
    client: str
    count: int
    latest_at: datetime | None
    link: str
    # Names the group when it is tried again: the values of its columns.
    values: list[str]


def of_kind(kind: Kind, client: Client | None) -> list[Failure]:
    """The failures of one kind, the most frequent first; without a client, those of all."""
    owner = () if kind.model is Job else ("client_id", "client__name")
    rows = _rows(kind, client).values(*owner, *kind.cause)
    groups = rows.annotate(count=Count("pk"), latest_at=Max(kind.at))
    groups = groups.order_by("-count", *kind.cause)
    return [
        Failure(
            words=kind.words(*(group[name] for name in kind.cause)),
            client="" if client else group.get("client__name", ""),
            count=group["count"],
            latest_at=group["latest_at"],
            link=kind.link(*(group[name] for name in kind.cause)),
            values=[str(group[name]) for name in (*owner[:1], *kind.cause)],
        )
        for group in groups[:100]
    ]


def try_again(kind: Kind, client: Client | None, values: list[str]) -> int:
    """Try the rows of one group again, at most `MOST_AT_ONCE`; returns how many."""
    assert kind.again, "this kind is not tried again"
    names = kind.cause if kind.model is Job else ("client_id", *kind.cause)
    rows = _rows(kind, client).filter(**dict(zip(names, values, strict=True)))
    return sum(kind.again(row) for row in rows.order_by("pk")[:MOST_AT_ONCE])


def _rows(kind: Kind, client: Client | None) -> QuerySet[Any]:
    return kind.rows().filter(client_id=client.pk) if client else kind.rows()


def _failed_deliveries() -> QuerySet[Delivery]:
    since = timezone.now() - _DELIVERIES_SINCE
    rows = Delivery.objects.filter(created_at__gte=since, state=DeliveryState.GAVE_UP)
    return rows.filter(is_test=False, config__deleted_at=None, config__is_active=True)


def _refused_sends() -> QuerySet[OutboundSend]:
    since = timezone.now() - _DELIVERIES_SINCE
    return OutboundSend.objects.filter(created_at__gte=since, state=SendState.FAILED)


def _channel_words(name: str, error: str, status: str) -> str:
    what = (
        "the provider no longer accepts our token, and nothing is sent"
        if status == ConnectionStatus.EXPIRED
        else "the provider refuses something, and messages are still tried"
    )
    return f"{name}: {what}{f' ({error})' if error else ''}"


def _waiting_connections() -> QuerySet[ChannelConnection]:
    """The accounts of which something has waited for a while, with how much, and since when."""
    waiting = InboundItem.objects.filter(outcome=Outcome.WAITING, connection_id=OuterRef("pk"))
    of_account = waiting.order_by().values("connection_id")
    since = of_account.annotate(since=Min("callback__received_at")).values("since")
    rows = ChannelConnection.objects.annotate(
        waits_since=Subquery(since),
        waiting=Subquery(of_account.annotate(count=Count("pk")).values("count")),
    )
    return rows.filter(waits_since__lt=timezone.now() - _USUAL_WAIT)


def _connection(pk: Any) -> str:
    return reverse("admin:channels_app_channelconnection_change", args=[pk])


def job_words(name: str) -> str:
    """What a job does, as its declaration says it."""
    declared = registry.declared.get(name)
    first = (declared.run.__doc__ or "").strip().partition("\n")[0] if declared else ""
    return first.rstrip(".") or say(name)


def _list(page: str, **query: str) -> str:
    path = reverse(f"admin:{page}_changelist")
    return path + "?" + "&".join(f"{name}={value}" for name, value in query.items())


KINDS = {
    "documents": Kind(
        "Documents that could not be read",
        lambda: Document.objects.filter(status=DocumentStatus.FAILED, web_url=None),
        ("error_message", "error_code"),
        lambda message, code: message or say(code),
        lambda message, code: _list("bots_document", status__exact="failed"),
        documents.retrain,
    ),
    "held": Kind(
        "Documents held back by golden questions",
        lambda: golden_holds.held().filter(run_outcome=GoldenOutcome.HELD),
        ("run_id", "bot__bot_name"),
        lambda run_id, bot: f"{bot}: publish what the golden run holds back, or delete it",
        lambda run_id, bot: reverse("admin:bots_goldenrun_change", args=[run_id]),
        at="trained_at",
    ),
    "addresses": Kind(
        "Web addresses that could not be read",
        lambda: WebUrl.objects.filter(status=WebUrlStatus.FAILED),
        ("error_message", "error_code"),
        lambda message, code: message or say(code),
        lambda message, code: _list("bots_weburl", status__exact="failed"),
        web_urls.crawl_again,
    ),
    "deliveries": Kind(
        "Deliveries to your servers that were given up, in the last week",
        _failed_deliveries,
        ("config_id", "config__url"),
        lambda config_id, url: str(url),
        lambda config_id, url: reverse("admin:webhooks_webhookconfig_manage", args=[config_id]),
        deliveries.retry,
    ),
    "channels": Kind(
        "Channels that do not work",
        lambda: ChannelConnection.objects.filter(
            status__in=[ConnectionStatus.EXPIRED, ConnectionStatus.ERROR]
        ),
        ("account_name", "last_error", "pk", "status"),
        lambda name, error, pk, status: _channel_words(name, error, status),
        lambda name, error, pk, status: _connection(pk),
        at="failing_since",
        look="Connect it again",
    ),
    "inbound": Kind(
        "What came from channels and waits to be processed: it is tried again by itself",
        _waiting_connections,
        ("account_name", "waiting", "pk"),
        lambda name, count, pk: f"{name}: {count} messages and other events",
        lambda name, count, pk: _connection(pk),
        at="waits_since",
    ),
    "sends": Kind(
        "Messages that a channel refused, in the last week",
        _refused_sends,
        ("connection_id", "connection__account_name", "error"),
        lambda pk, name, error: f"{name}: {error or 'refused without a reason'}",
        lambda pk, name, error: _list(
            "channels_app_outboundsend", state__exact="failed", connection__id__exact=pk
        ),
    ),
    "jobs": Kind(
        "Work that failed at every try",
        lambda: Job.objects.filter(state=JobState.DEAD),
        ("name", "last_error"),
        lambda name, error: f"{job_words(name)}: {error}",
        lambda name, error: _list("chatplatform_job", state__exact="dead"),
        leases.requeue_dead,
    ),
}  # fmt: skip
