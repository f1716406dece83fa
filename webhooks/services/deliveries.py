"""Tests, retries, replays, gives up and purges deliveries."""

import uuid
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy, gettext_noop

from chatplatform import jobs, partitions
from chatplatform.api.errors import ApiError, Invalid
from chatplatform.live import pubsub
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, Event, Payload, WebhookConfig
from webhooks.schemas import webhook as webhook_schemas
from webhooks.services import events
from webhooks.transport import Fault

RETENTION = timedelta(days=30)
_BATCH = 500
# How overdue a retry may be for `latest_failure` to find it: longer than the circuit breaker's
# pauses, unless a `Retry-After` extends them.
_FAILURE_LOOKBACK = timedelta(minutes=5)
# The health of an endpoint that works, or that was just created or switched on.
HEALTHY: dict[str, Any] = {
    "consecutive_failures": 0, "failing_since": None, "warned_at": None, "paused_until": None,
}  # fmt: skip
MAX_TESTS_PER_MINUTE = 6
# How far back `recent_in` searches. Deliveries are kept longer, but older failures are not shown.
_RECENT = timedelta(days=7)
# The number up to which the events of a replay are counted exactly.
MAX_COUNTED = 10_000


class TooManyTests(ApiError):
    code, status = "too_many_requests", 429
    detail = format_lazy(
        gettext_lazy(
            "You can send one test at a time and {count} per minute for each webhook."
            " Try again later."
        ),
        count=MAX_TESTS_PER_MINUTE,
    )
    headers: ClassVar[dict[str, str]] = {"Retry-After": "15"}


class EndpointDisabled(ApiError):
    code, status = "endpoint_disabled", 409
    detail = gettext_noop("This webhook is off. Turn it on first.")


def recent_in(*states: DeliveryState) -> QuerySet[Delivery]:
    """The deliveries of the last seven days in these states, except tests."""
    since = timezone.now() - _RECENT
    return Delivery.objects.filter(created_at__gte=since, state__in=states, is_test=False)


def queue_test(config: WebhookConfig) -> Delivery:
    """Queue a `webhook.test` event for this endpoint only; the dispatcher sends it at once.

    429 if a test of the last minute has not ended, or if there were six in the last minute, so that
    tests of a slow receiver cannot delay others.
    """
    with transaction.atomic():
        # Locked, so that concurrent requests see each other's tests.
        WebhookConfig.objects.select_for_update(no_key=True).get(pk=config.pk)
        tests = Delivery.objects.filter(config=config, is_test=True)
        recent = tests.filter(created_at__gt=timezone.now() - timedelta(minutes=1))
        if recent.count() >= MAX_TESTS_PER_MINUTE or recent.filter(due_at__isnull=False).exists():
            raise TooManyTests
        data = {"config_id": str(config.pk), "message": "It works: this is a test."}
        event = events.announce(config.client_id, "webhook.test", data, only_to=config.pk)
        return Delivery.objects.get(event_id=event.pk, config=config)


def latest_failure(config: WebhookConfig) -> DeliveryAttempt | None:
    """The latest failed attempt among the deliveries that wait for a retry, if any. Deliveries
    overdue by more than five minutes are skipped: the backlog may be long."""
    retried = Delivery.objects.filter(
        config=config,
        is_test=False,
        state=DeliveryState.FAILED,
        due_at__gt=timezone.now() - _FAILURE_LOOKBACK,
    )
    failed = DeliveryAttempt.objects.filter(delivery__in=retried, error__isnull=False)
    return failed.order_by("-id").first()


def replay(event: Event, config: WebhookConfig | None) -> None:
    """Queue an event again, with the same id, for one endpoint or for all active endpoints that
    subscribe to its type; 409 if there is no active one."""
    targets = WebhookConfig.objects.filter(
        client_id=event.client_id, is_active=True, deleted_at=None
    )
    if config:
        targets = targets.filter(pk=config.pk)
    config_ids = [
        row.pk for row in targets if config or not row.event_types or event.type in row.event_types
    ]
    if not config_ids:
        raise EndpointDisabled(
            None if config else "No active webhook subscribes to this type of event."
        )
    with transaction.atomic():
        for config_id in config_ids:
            _queue([event], config_id)


def count_replay(config: WebhookConfig, body: webhook_schemas.EventReplayRequest) -> int:
    """The number of events that a replay would send, counted up to `MAX_COUNTED` + 1."""
    until = (body.created_to or timezone.now()).isoformat()
    since = body.created_from.isoformat()
    return _in_range(config, since, until, body.state, body.type)[: MAX_COUNTED + 1].count()


def enqueue_replay(
    config: WebhookConfig, body: webhook_schemas.EventReplayRequest
) -> webhook_schemas.Replay:
    """Enqueue a job that queues a range of events for an endpoint. 409 if the endpoint is off, 422
    if the range is empty or begins more than 30 days ago."""
    if not config.is_active:
        raise EndpointDisabled
    now = timezone.now()
    until = min(body.created_to or now, now)
    if body.created_from < now - RETENTION:
        raise Invalid.field(
            "body", "created_from", msg=gettext_noop("Must be within the last 30 days.")
        )
    if until <= body.created_from:
        raise Invalid.field(
            "body", "created_to", msg=gettext_noop("Must be later than created_from.")
        )
    jobs.enqueue(
        "webhooks.replay_range",
        client_id=config.client_id,
        config_id=str(config.pk),
        created_from=body.created_from.isoformat(),
        created_to=until.isoformat(),
        state=body.state,
        event_type=body.type,
    )
    return webhook_schemas.Replay.copy_from(body, config_id=config.pk, created_to=until)


def replay_range(
    config_id: str, created_from: str, created_to: str, state: str, event_type: str | None
) -> None:
    """Queue a range of events for an endpoint, oldest first, unless the endpoint is off."""
    config = WebhookConfig.objects.filter(pk=config_id, is_active=True).first()
    last = uuid.UUID(int=0)
    while config:
        rows = _in_range(config, created_from, created_to, state, event_type).filter(pk__gt=last)
        batch = list(rows.order_by("id")[:_BATCH])
        if not batch:
            break
        with jobs.commit():
            _queue(batch, config.pk)
        last = batch[-1].pk


def _in_range(
    config: WebhookConfig, created_from: str, created_to: str, state: str, event_type: str | None
) -> QuerySet[Event]:
    start, end = datetime.fromisoformat(created_from), datetime.fromisoformat(created_to)
    rows = Event.objects.filter(
        client_id=config.client_id, created_at__gte=start, created_at__lt=end
    ).exclude(type="webhook.test")
    types = [event_type] if event_type else config.event_types
    if types:
        rows = rows.filter(type__in=types)
    existing = Delivery.objects.filter(event_id=OuterRef("pk"), config=config)
    if state == "missing":
        return rows.filter(~Exists(existing))
    if state == "undelivered":
        arrives = existing.filter(state__in=(DeliveryState.PENDING, DeliveryState.SUCCEEDED))
        return rows.filter(~Exists(arrives))
    if state == "gave_up":
        return rows.filter(Exists(existing.filter(state=DeliveryState.GAVE_UP)))
    return rows


# Locks the events that still exist, so that `events._delete` waits.
_LOCK_EVENTS = """
SELECT id FROM webhooks_event WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE
"""
# Leaves deliveries in flight unchanged.
_REQUEUE = """
INSERT INTO webhooks_delivery (client_id, event_id, config_id)
SELECT e.client_id, e.id, %(config)s FROM webhooks_event e WHERE e.id = ANY (%(events)s)
ORDER BY e.id
ON CONFLICT (event_id, config_id) DO UPDATE
SET state = 'pending', due_at = statement_timestamp(), is_test = false,
    attempts_before_replay = webhooks_delivery.attempts
WHERE webhooks_delivery.lease_token IS NULL OR webhooks_delivery.due_at <= statement_timestamp()
"""


def _queue(batch: list[Event], config_id: uuid.UUID) -> None:
    """Queue these events for the endpoint, due now, and store missing payloads."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_EVENTS, [[event.pk for event in batch]])
        stored = {pk for (pk,) in cursor.fetchall()}
        bodies = [
            Payload(event=event, body=webhook_schemas.encode_body(event))
            for event in batch
            if event.pk in stored
        ]
        Payload.objects.bulk_create(bodies, ignore_conflicts=True)
        cursor.execute(_REQUEUE, {"config": config_id, "events": list(stored)})
    pubsub.signal_on_commit(events.DELIVERIES)


def retry(delivery: Delivery) -> bool:
    """Queue a delivery again, due now; False if its endpoint is off."""
    config = delivery.config
    if not config.is_active:
        return False
    with transaction.atomic():
        _queue([delivery.event], config.pk)
    return True


_GIVE_UP = """
WITH ended AS (
    UPDATE webhooks_delivery
    SET state = 'gave_up', due_at = NULL, lease_token = NULL, attempts = attempts + 1
    WHERE id IN (
        SELECT id FROM webhooks_delivery
        WHERE config_id = %(config)s AND due_at IS NOT NULL AND NOT is_test
        ORDER BY due_at, id LIMIT %(batch)s FOR UPDATE)
    RETURNING id, client_id, attempts
)
INSERT INTO webhooks_deliveryattempt
    (client_id, delivery_id, number, error, response_excerpt, created_at)
SELECT client_id, id, attempts, %(error)s, '', statement_timestamp() FROM ended
"""


def enqueue_give_up(config: WebhookConfig) -> None:
    """Enqueue a job that gives up an endpoint's waiting deliveries. Call it in the transaction that
    switches the endpoint off."""
    jobs.enqueue(
        "webhooks.give_up",
        client_id=config.client_id,
        dedupe_key=str(config.pk),
        config_id=str(config.pk),
    )


def give_up(config_id: str) -> None:
    """Give up the waiting deliveries of an endpoint while it is off; they can be replayed."""
    params: dict[str, Any] = {
        "config": config_id, "error": Fault.ENDPOINT_DISABLED, "batch": _BATCH,
    }  # fmt: skip
    off = WebhookConfig.objects.select_for_update(no_key=True).filter(pk=config_id, is_active=False)
    has_more = True
    while has_more:
        with jobs.commit(), connection.cursor() as cursor:
            # Endpoints are locked before their deliveries. If the endpoint is on again, the
            # remaining deliveries are sent.
            if not off.exists():
                break
            cursor.execute(_GIVE_UP, params)
            has_more = cursor.rowcount == _BATCH


def purge_expired() -> None:
    """Drop months of deliveries, attempts and payloads that ended 30 days ago; keep the events.

    A month of deliveries and its payloads stay if a delivery is waiting, or was created by a replay
    in the last 30 days. Endpoints deleted over 30 days ago are removed once they have no
    deliveries.
    """
    before = timezone.now() - RETENTION

    def has_recent(month: partitions.Month) -> bool:
        rows = month.rows(Delivery, "event_id")
        return rows.filter(Q(due_at__isnull=False) | Q(created_at__gte=before)).exists()

    def has_deliveries(month: partitions.Month) -> bool:
        return month.rows(Delivery, "event_id").exists()

    partitions.drop_before(Delivery, before, is_needed=has_recent)
    partitions.drop_before(Payload, before, is_needed=has_deliveries)
    partitions.drop_before(DeliveryAttempt, before)
    _purge_replayed(before)
    WebhookConfig.objects.filter(deleted_at__lt=before).exclude(
        Exists(Delivery.objects.filter(config_id=OuterRef("pk")))
    ).delete()


def _purge_replayed(before: datetime) -> None:
    """Delete old replays of events from dropped months, and their payloads."""
    is_older = Q(event_id__lt=partitions.first_kept_id(Delivery))
    old = Delivery.objects.filter(is_older, created_at__lt=before, due_at=None)
    while ids := list(old.values_list("pk", flat=True)[: _BATCH * 4]):
        DeliveryAttempt.objects.filter(delivery_id__in=ids).delete()
        Delivery.objects.filter(pk__in=ids, due_at=None).delete()
    orphans = Payload.objects.filter(is_older).exclude(
        Exists(Delivery.objects.filter(event_id=OuterRef("event_id")))
    )
    while payload_ids := list(orphans.values_list("pk", flat=True)[: _BATCH * 4]):
        Payload.objects.filter(pk__in=payload_ids).delete()
