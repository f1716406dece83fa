"""The event log: `announce()` appends to it, `read_feed()` reads it in an order without gaps."""

import uuid
from typing import Any, NamedTuple

from django.db import connection, models, transaction
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from chatplatform.api.errors import NotFound
from chatplatform.api.pagination import cursor_of, numbers_of
from chatplatform.api.shapes import as_json
from chatplatform.ids import uuid7
from chatplatform.web import live_updates
from identity.models import Client
from webhooks.delivery import MAX_BODY_BYTES
from webhooks.models import Delivery, DeliveryAttempt, Event, FeedEpoch, Payload
from webhooks.shapes import webhook as webhook_shapes

# One statement: the event, a delivery for each endpoint that takes its type, and the body to send
# if there is a delivery. A client without endpoints costs an index lookup and no round trip.
_ANNOUNCE = """
WITH event AS (
    INSERT INTO webhooks_event
        (id, client_id, type, conversation_id, sequence, data, created_at, rank)
    VALUES (%(id)s, %(client)s, %(type)s, %(conversation)s::uuid, %(sequence)s::int,
        %(data)s::jsonb, %(now)s,
        GREATEST(
            pg_current_xact_id()::text::bigint
                + COALESCE((SELECT max(lead) FROM webhooks_feedepoch), 0),
            (SELECT rank FROM webhooks_event
             WHERE conversation_id = %(conversation)s::uuid AND sequence = %(sequence)s::int - 1)))
    RETURNING rank, position
), queued AS (
    INSERT INTO webhooks_delivery (client_id, event_id, config_id, is_test)
    SELECT %(client)s, %(id)s, c.id, %(only)s::uuid IS NOT NULL FROM webhooks_webhookconfig c
    WHERE c.client_id = %(client)s
      AND (c.id = %(only)s::uuid
           OR %(only)s::uuid IS NULL AND c.is_active
              AND (c.event_types = '{}' OR %(type)s = ANY (c.event_types)))
    RETURNING 1
), payload AS (
    INSERT INTO webhooks_payload (event_id, body)
    SELECT %(id)s, %(body)s::bytea WHERE EXISTS (SELECT FROM queued)
)
SELECT rank, position FROM event
"""


class FeedCursor(NamedTuple):
    """A place in a client's feed: right after the event with this rank and position."""

    rank: int
    position: int


START = FeedCursor(-1, 0)
_NEWEST_FIRST = ("-rank", "-position")
_AS_FEED = ("rank", "position")


class _Horizon(models.Func):
    """No more events can appear below this rank: every transaction that could add one has ended."""

    template = (
        "(pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
        " + COALESCE((SELECT max(lead) FROM webhooks_feedepoch), 0))"
    )
    output_field = models.BigIntegerField()


def announce(
    client_id: int,
    event_type: str,
    data: dict[str, Any],
    *,
    conversation_id: uuid.UUID | None = None,
    sequence: int | None = None,
    only_to: uuid.UUID | None = None,
) -> Event:
    """Append an event to the client's log and queue it for the endpoints that take its type.

    `sequence` numbers the events of `conversation_id` without gaps: the caller takes it from the
    conversation's row, under that row's lock. Rolled back with the transaction around it.
    `only_to` is for tests of an endpoint: queued for this one only, active or not.
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
        "body": encode_body(event),
        "only": only_to,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ANNOUNCE, params)
        event.rank, event.position = cursor.fetchone()
    event._state.adding = False
    transaction.on_commit(lambda: live_updates.publish(feed_channel(client_id), {}))
    return event


def encode_body(event: Event) -> bytes:
    """The body of a delivery; without `data` if it would be larger than 20 KB."""
    envelope = webhook_shapes.envelope(event)
    body = as_json({**envelope, "is_thin": False, "data": event.data})
    if len(body) <= MAX_BODY_BYTES:
        return body
    return as_json({**envelope, "is_thin": True, "data": None})


def read_feed(client: Client, cursor: FeedCursor = START, limit: int = 100) -> list[Event]:
    """The next events of the client's feed after `cursor`, in its order. Writes nothing.

    Gap-free: an event is returned only when no other can appear before it any more, so a reader
    that continues after the last event misses nothing, however transactions overlap. Events of a
    conversation come in their `sequence`. The feed lags behind by at most the longest open
    transaction that writes.

    Why not simply order by id or position: numbers are drawn before commits, and a transaction
    that drew the lower one may end later. Here the order is that of transaction numbers, and the
    feed ends before the oldest transaction that still runs.
    """
    return list(_feed(Event.objects.for_client(client), cursor)[:limit])


def newest_cursor(client: Client) -> FeedCursor:
    """The end of the client's feed: events after it are new."""
    newest = _feed(Event.objects.for_client(client), START).reverse().first()
    return cursor_after(newest) if newest else START


def feed_channel(client_id: int) -> str:
    """The live channel that signals new events of a client; the events are read from the log."""
    return f"feed:{client_id}"


def cursor_after(event: Event) -> FeedCursor:
    """The cursor that continues after this event."""
    return FeedCursor(event.rank, event.position)


def find_cursor(client: Client, event_id: str) -> FeedCursor | None:
    """The cursor that continues after the event with this id (`evt_…`); None if there is none."""
    event = _by_id(Event.objects.for_client(client), event_id)
    return cursor_after(event) if event else None


def delete_for_conversation(conversation_id: uuid.UUID) -> None:
    """Delete a conversation's events, in the transaction that deletes the conversation.

    Their payloads, deliveries and attempts go with them; waiting deliveries are not sent.
    """
    rows = Event.objects.filter(conversation_id=conversation_id)
    # Locked first, so that no replay adds a delivery and no dispatcher an attempt meanwhile.
    ids = list(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
    deliveries = Delivery.objects.filter(event_id__in=ids).order_by("pk").select_for_update()
    sent = list(deliveries.values_list("pk", flat=True))
    DeliveryAttempt.objects.filter(delivery_id__in=sent).delete()
    Delivery.objects.filter(pk__in=sent).delete()
    Payload.objects.filter(pk__in=ids).delete()
    rows.only("pk").delete()


def continue_ranks_after_restore() -> None:
    """Keep ranks growing if transaction numbers restarted, as in a restored dump."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COALESCE((SELECT max(rank) FROM webhooks_event), 0)"
            " - pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
            " - COALESCE((SELECT max(lead) FROM webhooks_feedepoch), 0)"
        )
        (behind,) = cursor.fetchone()
    if behind < 0:
        return
    if not FeedEpoch.objects.update(lead=F("lead") + behind + 1):
        FeedEpoch.objects.create(pk=1, lead=behind + 1)


def get(client: Client, event_id: str) -> Event:
    """One event; 404 if the client has none with this id."""
    event = _by_id(_with_deliveries(Event.objects.for_client(client)), event_id)
    if event is None:
        raise NotFound
    return event


def _by_id(rows: QuerySet[Event], event_id: str) -> Event | None:
    row_id = webhook_shapes.row_id(event_id)
    return rows.filter(pk=row_id).first() if row_id else None


def page(client: Client, query: webhook_shapes.EventsQuery) -> dict[str, Any]:
    """A page of the log, newest first or as the feed; three statements whatever its length."""
    rows = _filtered(_with_deliveries(Event.objects.for_client(client)), query)
    is_feed = query.order == "asc"
    order = _AS_FEED if is_feed else _NEWEST_FIRST
    cursor = FeedCursor(*numbers_of(query.cursor, Event, order)) if query.cursor else None
    if is_feed:
        rows = _feed(rows, cursor or START)
    else:
        if cursor:
            rows = rows.filter(_beyond("lt", cursor))
        rows = rows.order_by(*order)
    fetched = list(rows[: query.limit + 1])
    shown = fetched[: query.limit]
    next_cursor = cursor_of(Event, order, cursor_after(shown[-1])) if shown else None
    if is_feed:
        next_cursor = next_cursor or query.cursor
    elif len(fetched) <= query.limit:
        next_cursor = None
    items = [webhook_shapes.Event.from_row(row) for row in shown]
    return {"items": items, "next_cursor": next_cursor}


def _feed(rows: QuerySet[Event], cursor: FeedCursor) -> QuerySet[Event]:
    return rows.filter(_beyond("gt", cursor), rank__lt=_Horizon()).order_by(*_AS_FEED)


def _beyond(direction: str, cursor: FeedCursor) -> Q:
    # The first condition is the one that the index is searched by.
    return Q(**{f"rank__{direction}e": cursor.rank}) & (
        Q(**{f"rank__{direction}": cursor.rank}) | Q(**{f"position__{direction}": cursor.position})
    )


def _with_deliveries(rows: QuerySet[Event]) -> QuerySet[Event]:
    deliveries = Delivery.objects.prefetch_related(
        Prefetch("log", queryset=DeliveryAttempt.objects.order_by("number"))
    )
    return rows.prefetch_related(Prefetch("deliveries", queryset=deliveries))


def _filtered(rows: QuerySet[Event], query: webhook_shapes.EventsQuery) -> QuerySet[Event]:
    filters = {
        "type": query.type,
        "conversation_id": query.conversation_id,
        "created_at__gte": query.created_from,
        "created_at__lt": query.created_to,
    }
    rows = rows.filter(**{name: value for name, value in filters.items() if value is not None})
    of_delivery = {"state": query.state, "config_id": query.config_id}
    of_delivery = {name: value for name, value in of_delivery.items() if value is not None}
    if of_delivery:
        rows = rows.filter(Exists(Delivery.objects.filter(event_id=OuterRef("pk"), **of_delivery)))
    return rows
