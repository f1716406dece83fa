"""What happened: `announce()` writes it down, `after()` reads it in an order without gaps."""

import uuid
from typing import Any, NamedTuple

from django.db import connection, models, transaction
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from chatplatform.api.encoding import as_json
from chatplatform.api.errors import NotFound
from chatplatform.api.pagination import cursor_of, numbers_of
from chatplatform.ids import uuid7
from chatplatform.web import live
from identity.models import Client
from webhooks.delivery import MAX_BODY_BYTES
from webhooks.models import Delivery, DeliveryAttempt, Event, FeedEpoch, Payload
from webhooks.shapes import webhook as webhook_shapes

# One statement: the event, a delivery for each endpoint that listens, and the bytes to send where
# there is any. Whoever has no endpoint pays for a look into an index, and no round trip.
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


class Position(NamedTuple):
    """A place in a client's feed: right behind the event that has it."""

    rank: int
    position: int


START = Position(-1, 0)
_NEWEST_FIRST = ("-rank", "-position")
_AS_FEED = ("rank", "position")


class _Horizon(models.Func):
    """Ranks below it are settled: every transaction that could still add one of them has ended."""

    template = (
        "(pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
        " + COALESCE((SELECT max(lead) FROM webhooks_feedepoch), 0))"
    )
    output_field = models.BigIntegerField()


def announce(
    client_id: int,
    type: str,
    data: dict[str, Any],
    *,
    conversation_id: uuid.UUID | None = None,
    sequence: int | None = None,
    only_to: uuid.UUID | None = None,
) -> Event:
    """Append an event to the client's log and queue it for the endpoints that take its type.

    `sequence` counts the events of `conversation_id` without gaps: the caller takes it from the
    conversation's row, under that row's lock. Rolled back with the transaction around it.
    `only_to` is for tests of an endpoint: queued for this one alone, active or not.
    """
    event = Event(
        id=uuid7(),
        client_id=client_id,
        type=type,
        data=data,
        conversation_id=conversation_id,
        sequence=sequence,
        created_at=timezone.now(),
    )
    given: dict[str, Any] = {
        "id": event.pk,
        "client": client_id,
        "type": type,
        "conversation": conversation_id,
        "sequence": sequence,
        "data": as_json(data).decode(),
        "now": event.created_at,
        "body": body_of(event),
        "only": only_to,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ANNOUNCE, given)
        event.rank, event.position = cursor.fetchone()
    event._state.adding = False
    transaction.on_commit(lambda: live.publish(channel_of(client_id), {}))
    return event


def body_of(event: Event) -> bytes:
    """The bytes that are sent; without `data` where they would be more than 20 KB."""
    envelope = webhook_shapes.envelope(event)
    body = as_json({**envelope, "is_thin": False, "data": event.data})
    if len(body) <= MAX_BODY_BYTES:
        return body
    return as_json({**envelope, "is_thin": True, "data": None})


def after(client: Client, position: Position = START, limit: int = 100) -> list[Event]:
    """The next events of the client's feed behind `position`, in its order; a pure read.

    Gap-free: an event is shown only when none can appear before it any more, so that whoever goes
    on from the last event's `cursor_of_event()` misses nothing, however transactions
    overlap. Events of a conversation come in their `sequence`. It may lag behind by the longest
    open transaction that writes.

    Why not simply by id or position: numbers are drawn before commits, and a transaction that
    drew the lower one may end later. Here the order is that of transactions' numbers, and the feed
    ends before the oldest that still runs.
    """
    return list(_feed(Event.objects.for_client(client), position)[:limit])


def newest_cursor(client: Client) -> Position:
    """Where to go on to see what happens from now on."""
    newest = _feed(Event.objects.for_client(client), START).reverse().first()
    return cursor_of_event(newest) if newest else START


def channel_of(client_id: int) -> str:
    """Where it is said that a client's feed has grown; that it did, the log tells."""
    return f"feed:{client_id}"


def cursor_of_event(event: Event) -> Position:
    """Where to go on after this event."""
    return Position(event.rank, event.position)


def place_after(client: Client, event_id: str) -> Position | None:
    """Where to go on after the event with this id (`evt_…`); None where there is none."""
    event = _by_id(Event.objects.for_client(client), event_id)
    return cursor_of_event(event) if event else None


def forget(conversation_id: uuid.UUID) -> None:
    """Take a conversation's events out of the log, in the transaction that deletes it.

    With them go the bytes to send, deliveries and attempts; what waited is not sent any more.
    """
    rows = Event.objects.filter(conversation_id=conversation_id)
    # Locked first, so that no replay adds a delivery, and no courier an attempt, to what goes.
    ids = list(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
    deliveries = Delivery.objects.filter(event_id__in=ids).order_by("pk").select_for_update()
    sent = list(deliveries.values_list("pk", flat=True))
    DeliveryAttempt.objects.filter(delivery_id__in=sent).delete()
    Delivery.objects.filter(pk__in=sent).delete()
    Payload.objects.filter(pk__in=ids).delete()
    rows.only("pk").delete()


def follow_restored_database() -> None:
    """Keep ranks growing where transactions' numbers have begun anew, as in a restored dump."""
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
    """One event; 404 where the client has none with this id."""
    event = _by_id(_told(Event.objects.for_client(client)), event_id)
    if event is None:
        raise NotFound
    return event


def _by_id(rows: QuerySet[Event], event_id: str) -> Event | None:
    row_id = webhook_shapes.row_id(event_id)
    return rows.filter(pk=row_id).first() if row_id else None


def page(client: Client, asked: webhook_shapes.EventsQuery) -> dict[str, Any]:
    """A page of the log, newest first or as the feed; three statements whatever its length."""
    rows = _filtered(_told(Event.objects.for_client(client)), asked)
    is_feed = asked.order == "asc"
    order = _AS_FEED if is_feed else _NEWEST_FIRST
    position = Position(*numbers_of(asked.cursor, Event, order)) if asked.cursor else None
    if is_feed:
        rows = _feed(rows, position or START)
    else:
        if position:
            rows = rows.filter(_beyond("lt", position))
        rows = rows.order_by(*order)
    found = list(rows[: asked.limit + 1])
    shown = found[: asked.limit]
    next_cursor = cursor_of(Event, order, cursor_of_event(shown[-1])) if shown else None
    if is_feed:
        next_cursor = next_cursor or asked.cursor
    elif len(found) <= asked.limit:
        next_cursor = None
    return {
        "items": [webhook_shapes.Event.from_row(row) for row in shown],
        "next_cursor": next_cursor,
    }


def _feed(rows: QuerySet[Event], position: Position) -> QuerySet[Event]:
    return rows.filter(_beyond("gt", position), rank__lt=_Horizon()).order_by(*_AS_FEED)


def _beyond(direction: str, position: Position) -> Q:
    # The first half is what the index is searched by.
    return Q(**{f"rank__{direction}e": position.rank}) & (
        Q(**{f"rank__{direction}": position.rank})
        | Q(**{f"position__{direction}": position.position})
    )


def _told(rows: QuerySet[Event]) -> QuerySet[Event]:
    """With deliveries and their attempts."""
    deliveries = Delivery.objects.prefetch_related(
        Prefetch("log", queryset=DeliveryAttempt.objects.order_by("number"))
    )
    return rows.prefetch_related(Prefetch("deliveries", queryset=deliveries))


def _filtered(rows: QuerySet[Event], asked: webhook_shapes.EventsQuery) -> QuerySet[Event]:
    given = {
        "type": asked.type,
        "conversation_id": asked.conversation_id,
        "created_at__gte": asked.created_from,
        "created_at__lt": asked.created_to,
    }
    rows = rows.filter(**{name: value for name, value in given.items() if value is not None})
    sent = {"state": asked.state, "config_id": asked.config_id}
    sent = {name: value for name, value in sent.items() if value is not None}
    if sent:
        rows = rows.filter(Exists(Delivery.objects.filter(event_id=OuterRef("pk"), **sent)))
    return rows
