"""The event log: `announce()` appends to it, `read_feed()` reads it without missing any event."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from chatplatform import partitions
from chatplatform.api.errors import NotFound
from chatplatform.ids import first_id, uuid7
from chatplatform.json_encoding import as_json
from chatplatform.live import pubsub
from chatplatform.sql import fetch_row
from identity.models import Client
from webhooks.models import Delivery, DeliveryAttempt, Event, FeedEntry, Payload
from webhooks.schemas import webhook as webhook_schemas
from webhooks.services import event_log_json, feed_order

# Stores the event, a delivery for each endpoint that subscribes to its type, and the payload if
# there is a delivery.
_ANNOUNCE = """
SELECT webhooks_announce(%(id)s, %(client)s, %(type)s, %(data)s, %(conversation)s, %(sequence)s,
    %(now)s, %(only)s)
"""
# The live channel that wakes the dispatchers; the function `webhooks_announce` repeats the name.
DELIVERIES = "deliveries"
START = 0  # the position before the first entry of a feed


def announce(
    client_id: int,
    event_type: str,
    data: dict[str, Any],
    *,
    conversation_id: uuid.UUID | None = None,
    sequence: int | None = None,
    only_to: uuid.UUID | None = None,
) -> Event:
    """Append an event to the client's log and queue it for the endpoints that subscribe to it, in
    the caller's transaction.

    `sequence` numbers a conversation's events consecutively: the caller gets it from the
    conversation's row, under that row's lock. For a test, `only_to` is the only endpoint that gets
    the event, even if it is off.
    """
    event = Event(
        id=uuid7(),
        client_id=client_id,
        type=event_type,
        data=data,
        conversation_id=conversation_id,
        sequence=sequence,
        created_at=timezone.now(),
    )
    params: dict[str, Any] = {
        "id": event.pk,
        "client": client_id,
        "type": event_type,
        "conversation": conversation_id,
        "sequence": sequence,
        "data": as_json(data).decode(),
        "now": event.created_at,
        "only": only_to,
    }
    (channels,) = fetch_row(_ANNOUNCE, params)
    event._state.adding = False  # the function has stored the row
    pubsub.signal_on_commit(*channels)
    return event


def read_feed(client: Client, after: int = START, limit: int = 100) -> list[FeedEntry]:
    """The next entries of the client's feed after a position, with their events.

    Nothing is skipped: every event committed before the call has a position, and no event gets an
    earlier position later. A conversation's events are in order of `sequence`.
    """
    feed_order.number_events(client.pk)
    rows = FeedEntry.objects.for_client(client).filter(position__gt=after)
    return list(rows.select_related("event").order_by("position")[:limit])


def end_of_feed(client: Client) -> int:
    """The last position in the client's feed; new events come after it."""
    feed_order.number_events(client.pk)
    rows = FeedEntry.objects.for_client(client).order_by("-position")
    return rows.values_list("position", flat=True).first() or START


def feed_channel(client_id: int) -> str:
    """The live channel that signals new events of a client, without their content."""
    return f"feed:{client_id}"


def position_of(client: Client, event_id: str) -> int | None:
    """The feed position of the event with this id (`evt_…`); None if it has none."""
    row_id = webhook_schemas.row_id(event_id)
    if row_id is None:
        return None
    feed_order.number_events(client.pk)
    rows = FeedEntry.objects.for_client(client).filter(pk=row_id)
    return rows.values_list("position", flat=True).first()


def delete_for_conversation(conversation_id: uuid.UUID) -> None:
    """Delete a conversation's events with their payloads, deliveries and attempts. Call it in the
    transaction that deletes the conversation."""
    _delete(Event.objects.filter(conversation_id=conversation_id))


def delete_about_customers(client_id: int, customer_ids: Sequence[int]) -> None:
    """Delete the events about customers themselves, such as a change of name."""
    rows = Event.objects.filter(client_id=client_id, type__startswith="customer.")
    _delete(rows.filter(data__customer__id__in=customer_ids))


def _delete(rows: QuerySet[Event]) -> None:
    # Locked first, so that no replay can add a delivery, and no dispatcher an attempt.
    ids = list(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
    deliveries = Delivery.objects.filter(event_id__in=ids).order_by("pk").select_for_update()
    sent = list(deliveries.values_list("pk", flat=True))
    DeliveryAttempt.objects.filter(delivery_id__in=sent).delete()
    Delivery.objects.filter(pk__in=sent).delete()
    Payload.objects.filter(pk__in=ids).delete()
    rows.only("pk").delete()


_DELETE_ENTRIES = """
DELETE FROM webhooks_feedentry WHERE event_id IN (
    SELECT event_id FROM webhooks_feedentry WHERE event_id < %s LIMIT 10000)
"""


def purge_expired() -> None:
    """Drop events older than EVENT_MONTHS, by month, with their feed entries. A month stays while
    it has deliveries. If EVENT_MONTHS is 0, all events are kept."""
    if not settings.EVENT_MONTHS:
        return
    before = partitions.month_after(partitions.month_of(timezone.now()), -settings.EVENT_MONTHS)

    def has_deliveries(month: partitions.Month) -> bool:
        return month.rows(Delivery, "event_id").exists()

    partitions.drop_before(Event, before, is_needed=has_deliveries)
    first_kept_id = min(first_id(before), partitions.first_kept_id(Event))
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_DELETE_ENTRIES, [first_kept_id])
            if not cursor.rowcount:
                break


def get(client: Client, event_id: str) -> Event:
    """One event; 404 if the client has none with this id."""
    row_id = webhook_schemas.row_id(event_id)
    event = Event.objects.for_client(client).filter(pk=row_id).first() if row_id else None
    if event is None:
        raise NotFound
    return event


def page(client: Client, query: webhook_schemas.EventsQuery) -> dict[str, Any]:
    """One page of the log, newest first or in feed order."""
    feed_order.number_events(client.pk)
    rows = _filtered(FeedEntry.objects.for_client(client), query)
    is_feed = query.order == "asc"
    by = "position" if is_feed else "-position"
    result = event_log_json.list_page(rows, query, by=by, resumable=is_feed)
    if is_feed:
        result["next_cursor"] = result.pop("resume_cursor")
    return result


def _filtered(rows: QuerySet[FeedEntry], query: webhook_schemas.EventsQuery) -> QuerySet[FeedEntry]:
    filters = {
        "event__type": query.type,
        "event__conversation_id": query.conversation_id,
        "event__created_at__gte": query.created_from,
        "event__created_at__lt": query.created_to,
    }
    rows = rows.filter(**{name: value for name, value in filters.items() if value is not None})
    of_delivery = {"state": query.state, "config_id": query.config_id}
    of_delivery = {name: value for name, value in of_delivery.items() if value is not None}
    if of_delivery:
        rows = rows.filter(Exists(Delivery.objects.filter(event_id=OuterRef("pk"), **of_delivery)))
    return rows
