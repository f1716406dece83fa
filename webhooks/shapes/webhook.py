"""The shapes of webhooks: what the API says of endpoints, events and deliveries."""

import re
import uuid
from typing import Any, Literal, TypeAlias, cast

from pydantic import Field

from chatplatform.api.pagination import Page
from chatplatform.api.shapes import Moment, Shape, Text, example, iso
from webhooks import models

_EVENT_ID = re.compile(r"evt_([0-9a-f]{32})", re.ASCII)
Reason: TypeAlias = Literal["by_hand", "gone", "failing"]
DeliveryStatus: TypeAlias = Literal["pending", "succeeded", "failed", "gave_up"]


def event_id(row_id: uuid.UUID) -> str:
    """An event's id as the world sees it."""
    return f"evt_{row_id.hex}"


def row_id(text: str) -> uuid.UUID | None:
    """The row's key in an event's id; None where it is none."""
    found = _EVENT_ID.fullmatch(text)
    return uuid.UUID(found[1]) if found else None


class WebhookConfigRequest(Shape):
    """An endpoint as a client sets it up."""

    url: Text = Field(
        description="Where events are sent by POST: https, a public host, port 443, no user name."
        " Plain http or another port only for a host that the platform's operator allows.",
        min_length=1,
        max_length=2000,
        examples=["https://shop.example/hooks/chat"],
    )
    event_types: list[Text] = Field(
        default_factory=list,
        description="Which types are sent; empty: every type, also those that are yet to come.",
        max_length=50,
        examples=[["message.created", "conversation.ended"]],
    )
    description: Text = Field("", description="A note for yourself.", max_length=200)
    is_active: bool = Field(
        True,
        description="Whether events are sent. What happens while it is off is not queued: replay"
        " it, or read it from the event log. Switching on forgets past failures.",
    )


class WebhookConfig(Shape):
    """An endpoint and how it fares."""

    id: uuid.UUID = Field(description="UUIDv7.")
    url: str = Field(description="Where events are sent.")
    event_types: list[str] = Field(description="Which types are sent; empty: every type.")
    description: str = Field(description="A note of the client's.")
    is_active: bool = Field(description="Whether events are sent.")
    disabled_reason: Reason | None = Field(
        description="Why it is off: `by_hand`, `gone` (it answered 410) or `failing` (five days of"
        " nothing but failures); null while it is on."
    )
    disabled_at: Moment | None = Field(description="Since when it is off.")
    failing_since: Moment | None = Field(
        description="When the first of its latest failures was; null after a success."
    )
    paused_until: Moment | None = Field(
        description="After several failures in a row, or where it asked for time, nothing is sent"
        " before this moment; what is due waits."
    )
    previous_secret_until: Moment | None = Field(
        description="Until then the secret before the latest rotation signs along."
    )
    secret: str | None = Field(
        description="The signing secret, `whsec_…`: only in the answer that made or rotated it."
    )
    created_at: Moment = Field(description="When it was set up.")

    @classmethod
    def from_row(cls, row: models.WebhookConfig, secret: str | None = None) -> "WebhookConfig":
        return cls.model_construct(
            id=row.pk,
            url=row.url,
            event_types=row.event_types,
            description=row.description,
            is_active=row.is_active,
            disabled_reason=cast("Reason | None", row.disabled_reason),
            disabled_at=row.disabled_at,
            failing_since=row.failing_since,
            paused_until=row.paused_until,
            previous_secret_until=row.previous_secret_until,
            secret=secret,
            created_at=row.created_at,
        )


class WebhookConfigsResponse(Shape):
    """The client's endpoints."""

    items: list[WebhookConfig] = Field(description="The oldest first.")
    next_cursor: str | None = Field(description="Cursor of the next page; null on the last.")


class WhichWebhook(Shape):
    """Query: which endpoint."""

    config_id: uuid.UUID | None = Field(
        None, description="The endpoint; the client's oldest one where left out."
    )


class WebhookAttempt(Shape):
    """One request to an endpoint and what came back."""

    attempt: int = Field(description="1 for the first.")
    http_status: int | None = Field(description="The receiver's status; null without an answer.")
    duration_ms: int | None = Field(description="From connecting to the answer's end.")
    error: str | None = Field(
        description="Null where it succeeded, else `timeout` (15 s), `connection_failed`,"
        " `blocked_destination` (the host is not public), `redirect` (never followed),"
        " `bad_status`, `invalid_answer`, `gone`, `interrupted` (ours, while sending) or"
        " `endpoint_disabled`."
    )
    response_excerpt: str | None = Field(
        description="The beginning of the answer, at most 1,000 bytes; credentials are blotted out."
    )
    created_at: Moment = Field(description="When it ended.")

    @classmethod
    def from_row(cls, row: models.DeliveryAttempt) -> dict[str, Any]:
        """Plain data, built by hand: a page of events holds hundreds."""
        return {
            "attempt": row.number,
            "http_status": row.http_status,
            "duration_ms": row.duration_ms,
            "error": row.error,
            "response_excerpt": row.response_excerpt if row.http_status else None,
            "created_at": iso(row.created_at),
        }


class WebhookDelivery(Shape):
    """One event on its way to one endpoint; what the latest attempt found stands beside."""

    id: int = Field(description="The delivery's number.")
    config_id: uuid.UUID = Field(description="The endpoint.")
    event_id: str = Field(description="The event, `evt_…`: also the `webhook-id` of every attempt.")
    attempt: int = Field(description="Attempts begun so far.")
    status: DeliveryStatus = Field(
        description="`pending`: no attempt has ended yet. `failed`: another follows. `gave_up`:"
        " none follows unless the event is replayed."
    )
    http_status: int | None = Field(description="The receiver's status at the latest attempt.")
    duration_ms: int | None = Field(description="How long the latest attempt took.")
    error: str | None = Field(
        description="Why the latest attempt failed: see `WebhookAttempt.error`."
    )
    response_excerpt: str | None = Field(description="The beginning of the latest answer.")
    next_attempt_at: Moment | None = Field(
        description="When the next attempt is due; null when none is, or while one is made."
    )
    attempts: list[WebhookAttempt] = Field(description="Every attempt of the last 30 days.")
    created_at: Moment = Field(description="When the event was queued for the endpoint.")

    @classmethod
    def from_row(cls, row: models.Delivery) -> dict[str, Any]:
        """The row with its log, which is best fetched along (`prefetch_related`)."""
        log = [
            WebhookAttempt.from_row(one)
            for one in sorted(row.log.all(), key=lambda one: one.number)
        ]
        latest = log[-1] if log else {}
        due = row.due_at if row.lease_token is None else None
        return {
            "id": row.pk,
            "config_id": str(row.config_id),
            "event_id": event_id(row.event_id),
            "attempt": row.attempts,
            "status": row.state,
            "http_status": latest.get("http_status"),
            "duration_ms": latest.get("duration_ms"),
            "error": latest.get("error"),
            "response_excerpt": latest.get("response_excerpt"),
            "next_attempt_at": iso(due) if due else None,
            "attempts": log,
            "created_at": iso(row.created_at),
        }


class Event(Shape):
    """Something that happened; the same id in the webhook, the live stream and the event log."""

    id: str = Field(description="`evt_` and the digits of a UUIDv7.", pattern="^evt_[0-9a-f]{32}$")
    type: str = Field(description="What happened, such as `message.created`.")
    timestamp: Moment = Field(description="When it happened.")
    client_id: int = Field(description="Whose event it is.")
    conversation_id: uuid.UUID | None = Field(
        description="The conversation it belongs to, if it does."
    )
    sequence: int | None = Field(
        description="Its number among the conversation's events: 1, 2, 3 … without gaps."
    )
    data: dict[str, Any] = Field(description="What it is about; its form hangs on the type.")
    deliveries: list[WebhookDelivery] = Field(description="One for each endpoint it was sent to.")

    @classmethod
    def from_row(cls, row: models.Event) -> dict[str, Any]:
        deliveries = sorted(row.deliveries.all(), key=lambda one: one.pk)
        return {
            **envelope(row),
            "data": row.data,
            "deliveries": [WebhookDelivery.from_row(one) for one in deliveries],
        }


def envelope(row: models.Event) -> dict[str, Any]:
    """What an event says before its data, wherever it is told."""
    return {
        "id": event_id(row.pk),
        "type": row.type,
        "timestamp": iso(row.created_at),
        "client_id": row.client_id,
        "conversation_id": str(row.conversation_id) if row.conversation_id else None,
        "sequence": row.sequence,
    }


class EventsResponse(Shape):
    """A page of the event log."""

    items: list[Event] = Field(description="Events in the order that was asked for.")
    next_cursor: str | None = Field(
        description="Where the next page begins. With `order=desc` null on the last page. With"
        " `order=asc` always there once anything was read: keep it, and ask again later."
    )


class EventsQuery(Page):
    """Query: which events."""

    order: Literal["desc", "asc"] = Field(
        "desc",
        description="`desc`: the newest first. `asc`: the feed for catching up; it never shows an"
        " event before all those that precede it, so that a cursor skips nothing.",
    )
    type: Text | None = Field(None, description="Only this type.", max_length=60)
    conversation_id: uuid.UUID | None = Field(None, description="Only of this conversation.")
    created_from: Moment | None = Field(None, description="At this moment or later.")
    created_to: Moment | None = Field(None, description="Before this moment.")
    state: DeliveryStatus | None = Field(
        None, description="Only with a delivery that is in this state."
    )
    config_id: uuid.UUID | None = Field(None, description="Only with a delivery to this endpoint.")


class ReplayTarget(Shape):
    """Query: to which endpoint."""

    config_id: uuid.UUID | None = Field(
        None,
        description="Only to this endpoint; where left out, to each active one that takes the"
        " event's type.",
    )


class ReplayRequest(Shape):
    """Which events are to be sent again."""

    model_config = example(created_from="2026-11-20T00:00:00Z", state="gave_up")

    created_from: Moment = Field(description="The first moment; at most 30 days ago.")
    created_to: Moment | None = Field(
        None, description="The moment after the last; now where left out."
    )
    state: Literal["gave_up", "missing", "all"] = Field(
        "gave_up",
        description="`gave_up`: deliveries that ended without success. `missing`: events that were"
        " never queued for the endpoint, for example while it was off. `all`: every event.",
    )
    type: Text | None = Field(None, description="Only this type.", max_length=60)
    config_id: uuid.UUID | None = Field(
        None, description="The endpoint; the client's oldest one where left out."
    )


class Replay(Shape):
    """A replay that was taken on; a worker carries it out."""

    config_id: uuid.UUID = Field(description="The endpoint.")
    created_from: Moment = Field(description="The first moment.")
    created_to: Moment = Field(description="The moment after the last.")
    state: Literal["gave_up", "missing", "all"] = Field(description="Which deliveries.")
    type: str | None = Field(description="Which type; null: every type that the endpoint takes.")
