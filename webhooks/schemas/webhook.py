"""The schemas of endpoints, events and deliveries."""

import re
import uuid
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field

from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import (
    InRequest,
    Moment,
    Schema,
    Text,
    example,
    iso,
    read_only,
    without_default,
)
from chatplatform.json_encoding import as_json
from webhooks import catalogue, models

_EVENT_ID = re.compile(r"evt_([0-9a-f]{32})", re.ASCII)
ReplayState: TypeAlias = Literal["gave_up", "missing", "undelivered", "all"]
DeliveryStatus: TypeAlias = Literal["pending", "succeeded", "failed", "gave_up"]

# The maximum size of a delivery's body; a larger event is delivered without its data.
MAX_BODY_BYTES = 20_000


def _known(name: str) -> str:
    if name not in catalogue.EVENTS:
        raise ValueError(f"There is no event type {name[:60]!r}.")
    return name


EventType = Annotated[
    Text, AfterValidator(_known), Field(json_schema_extra={"enum": [*catalogue.EVENTS]})
]


def event_id(row_id: uuid.UUID) -> str:
    """An event's id in the API."""
    return f"evt_{row_id.hex}"


def row_id(text: str) -> uuid.UUID | None:
    """The primary key in an event's id; None if the text is not an event id."""
    match = _EVENT_ID.fullmatch(text)
    return uuid.UUID(match[1]) if match else None


class WebhookConfigRequest(Schema):
    """An endpoint's settings, for creating or changing it."""

    model_config = example(
        url="https://shop.example/hooks/chat", event_types=["message.created", "conversation.ended"]
    )
    keeps_values = True
    id: uuid.UUID = read_only("The endpoint's id, a UUIDv7.", path="config_id")
    url: Annotated[
        Text,
        InRequest(
            "Required to create an endpoint. 422 if the host does not exist: the host in this"
            " document's example does not.",
            is_required_to_create=True,
        ),
    ] = Field(
        "",
        description="The URL to which events are sent by POST: https, a public host, port 443, no"
        " user name. Plain http and other ports are accepted only for hosts that the operator"
        " allows.",
        min_length=1,
        max_length=2000,
        examples=["https://shop.example/hooks/chat"],
        json_schema_extra=without_default,
    )
    event_types: list[EventType] = Field(
        default_factory=list,
        description="The types of events to send; the `webhooks` of the OpenAPI document describe"
        " each. Empty means every type, including future ones.",
        max_length=50,
        examples=[["message.created", "conversation.ended"]],
    )
    description: Text = Field("", description="A note for yourself.", max_length=200)
    is_active: bool = Field(
        True,
        description="Whether events are sent. While the endpoint is off, events are not queued for"
        " it; you can replay them later, or read them from the event log. Switching on an endpoint"
        " that was off resets `failing_since` and `paused_until`.",
    )
    disabled_reason: Literal["by_hand", "gone", "failing"] | None = read_only(
        "Why the endpoint is off: `by_hand`, `gone` (it responded with 410) or `failing` (all"
        " deliveries failed for five days); null while it is on."
    )
    disabled_at: Moment | None = read_only(
        "When the endpoint was switched off; null while it is on."
    )
    failing_since: Moment | None = read_only(
        "The first failure since the last success; null after a success."
    )
    paused_until: Moment | None = read_only(
        "Deliveries wait until this time, because several failed in a row or the receiver asked"
        " to wait; null after a success."
    )
    previous_secret_until: Moment | None = read_only(
        "After a rotation: until when deliveries are also signed with the previous secret; null"
        " if the secret was never rotated."
    )
    secret: str | None = read_only(
        "The endpoint's signing secret, `whsec_…`, with which you verify the `webhook-signature` of"
        " each request (see the `webhooks` of the OpenAPI document): only in the responses that"
        " create or rotate it, null in others."
    )
    created_at: Moment = read_only("When the endpoint was created.")


class WebhookConfig(WebhookConfigRequest):
    """An endpoint: its settings and its health."""

    @classmethod
    def from_row(cls, row: models.WebhookConfig, secret: str | None = None) -> Self:
        return cls.copy_from(row, secret=secret)


class WebhookConfigsResponse(ListPage[WebhookConfig]):
    """One page of your endpoints, oldest first."""


class WhichWebhook(Schema):
    """The choice of an endpoint."""

    config_id: uuid.UUID | None = Field(
        None,
        description="The endpoint's id, from *List Webhook Configs*; by default, your oldest"
        " endpoint is used.",
    )


class WebhookAttempt(Schema):
    """One request to an endpoint, and the response."""

    attempt: int = Field(description="The attempt's number, 1 for the first.")
    http_status: int | None = Field(
        description="The status of the receiver's response; null without one."
    )
    duration_ms: int | None = Field(
        description="Milliseconds from connecting to the end of the response; null if unknown."
    )
    error: str | None = Field(
        description="Null on success, else `timeout` (15 s), `name_not_found` (the host does not"
        " resolve), `connection_refused`, `connection_failed` (for another reason),"
        " `blocked_destination` (the host is not public), `redirect` (never followed),"
        " `bad_status`, `invalid_answer` (its headers are too large), `gone` (410), `interrupted`"
        " (a failure of the platform) or `endpoint_disabled` (the endpoint was off)."
    )
    response_excerpt: str | None = Field(
        description="The beginning of the response, about 1,000 bytes; credentials are redacted."
        " Null without a response."
    )
    created_at: Moment = Field(description="When the attempt ended.")


class WebhookDelivery(Schema):
    """The delivery of one event to one endpoint, with the result of the latest attempt."""

    id: int = Field(description="The delivery's id.")
    config_id: uuid.UUID = Field(description="The endpoint's id.")
    event_id: str = Field(
        description="The event's id, `evt_…`, which is the `webhook-id` of every attempt.",
        examples=["evt_019aa4c17c1e700080005f0a4b1c2d3e"],
    )
    attempt: int = Field(description="The number of attempts started so far.")
    status: DeliveryStatus = Field(
        description="`pending`: no attempt has ended yet. `succeeded`: delivered. `failed`: the"
        " latest attempt failed, and another follows. `gave_up`: no attempt follows unless the"
        " event is replayed."
    )
    http_status: int | None = Field(
        description="The status of the latest response; null without one."
    )
    duration_ms: int | None = Field(
        description="Milliseconds that the latest attempt took; null if unknown."
    )
    error: str | None = Field(
        description="Why the latest attempt failed, see `WebhookAttempt`; null if it did not."
    )
    response_excerpt: str | None = Field(
        description="The beginning of the latest response; null without one."
    )
    next_attempt_at: Moment | None = Field(
        description="When the next attempt is due; null during an attempt, or if none follows."
    )
    attempts: list[WebhookAttempt] = Field(
        description="The attempts, each kept until 30 days after its month."
    )
    created_at: Moment = Field(description="When the event was queued for the endpoint.")


class StoredEvent(Schema):
    """An event. It has the same id in webhooks, the live feed and the event log."""

    id: str = Field(
        description="`evt_` and the hexadecimal digits of a UUIDv7.", pattern="^evt_[0-9a-f]{32}$"
    )
    type: str = Field(description="The event's type, such as `message.created`.")
    timestamp: Moment = Field(description="When the event happened.")
    client_id: int = Field(description="The id of your company.")
    conversation_id: uuid.UUID | None = Field(
        description="The conversation that the event belongs to; null if it belongs to none."
    )
    sequence: int | None = Field(
        description="The event's number among those of its conversation: 1, 2, 3 … without gaps;"
        " null without a conversation."
    )
    data: dict[str, Any] = Field(
        description="The event's data. Its schema for each type of event is in the `webhooks` of"
        " the OpenAPI document."
    )


class Event(StoredEvent):
    """An event, with its deliveries."""

    is_thin: bool = Field(
        description="Whether webhooks omit the event's data, because the body would be larger than"
        " 20 KB."
    )
    deliveries: list[WebhookDelivery] = Field(
        description="The deliveries, one for each endpoint that the event was queued for, kept"
        " until 30 days after the event's month has ended; empty after that."
    )


def envelope(row: models.Event) -> dict[str, Any]:
    """The fields of an event without its data, the same in webhooks and the API."""
    return {
        "id": event_id(row.pk),
        "type": row.type,
        "timestamp": iso(row.created_at),
        "client_id": row.client_id,
        "conversation_id": str(row.conversation_id) if row.conversation_id else None,
        "sequence": row.sequence,
    }


def encode_body(row: models.Event) -> bytes:
    """The body of a delivery, without `data` if it would be larger than 20 KB."""
    body = as_json({**envelope(row), "is_thin": False, "data": row.data})
    return as_json({**envelope(row), "is_thin": True, "data": None}) if _is_large(body) else body


def is_thin(event: dict[str, Any]) -> bool:
    """Whether deliveries omit the data of this event, which is given in the schema `Event`."""
    return _is_large(
        as_json({name: value for name, value in event.items() if name != "deliveries"})
    )


def _is_large(body: bytes) -> bool:
    return len(body) > MAX_BODY_BYTES


class EventsResponse(Schema):
    """A page of the event log."""

    items: list[Event] = Field(description="Events in the requested order.")
    next_cursor: str | None = Field(
        description="The cursor of the next page. With `order=desc`, it is null on the last page."
        " With `order=asc`, it is null only until you have read an event: store it, and continue"
        " with it later."
    )


class EventsQuery(Page):
    """Filters and order of events."""

    order: Literal["desc", "asc"] = Field(
        "desc",
        description="`desc`: newest first. `asc`: a feed in which new events always come after all"
        " that you have read, so that reading on from a cursor skips nothing.",
    )
    type: EventType | None = Field(
        None,
        description="Only events of this type; the `webhooks` of the OpenAPI document describe"
        " each.",
        max_length=60,
    )
    conversation_id: uuid.UUID | None = Field(
        None, description="Only events of the conversation with this id."
    )
    created_from: Moment | None = Field(None, description="Only events at this time or later.")
    created_to: Moment | None = Field(None, description="Only events before this time.")
    state: DeliveryStatus | None = Field(
        None,
        description="Only events with a delivery in this state: `pending` (no attempt has ended"
        " yet), `succeeded`, `failed` (another attempt follows) or `gave_up` (none follows).",
    )
    config_id: uuid.UUID | None = Field(
        None, description="Only events with a delivery to this endpoint."
    )


class ReplayTarget(Schema):
    """The choice of the endpoints to which to send an event again."""

    config_id: uuid.UUID | None = Field(
        None,
        description="The endpoint's id; by default, every active endpoint that subscribes to this"
        " type of event.",
    )


class EventReplayRequest(Schema):
    """The choice of the events to send again to an endpoint."""

    model_config = example(created_from="2026-11-20T00:00:00Z", state="gave_up")

    created_from: Moment = Field(description="Only events from this time on; at most 30 days ago.")
    created_to: Moment | None = Field(
        None, description="Only events before this time; by default, now."
    )
    state: ReplayState = Field(
        "gave_up",
        description="`gave_up`: deliveries that failed permanently. `missing`: events that were"
        " never queued for the endpoint, for example while it was off. `undelivered`: both, and"
        " deliveries that failed and wait for their next attempt. `all`: every event.",
    )
    type: EventType | None = Field(
        None,
        description="Only events of this type, even if the endpoint does not subscribe to it; by"
        " default, all types that it subscribes to.",
        max_length=60,
    )
    config_id: uuid.UUID | None = Field(
        None, description="The endpoint's id; by default, your oldest endpoint is used."
    )


class Replay(Schema):
    """A replay that was accepted, and is carried out in the background."""

    config_id: uuid.UUID = Field(description="The endpoint's id.")
    created_from: Moment = Field(description="Only events from this time on are sent.")
    created_to: Moment = Field(description="Only events before this time are sent.")
    state: ReplayState = Field(
        description="Which events are sent, as in the request: `gave_up`, `missing`, `undelivered`"
        " or `all`."
    )
    type: str | None = Field(
        description="The type of the events; null for every type that the endpoint subscribes to.",
    )
