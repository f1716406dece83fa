"""Every type of event: its meaning, and the schema of its data in the OpenAPI document.

The schemas of the data belong to apps above this one, so they are referenced by name here, and
resolved when the document is built.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from chatplatform.api.examples import example_of
from chatplatform.signatures import SECRET_PREFIX, TOLERANCE


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of event.

    `data` maps each field to the name of a component of the OpenAPI document, or to a schema.
    """

    description: str
    data: Mapping[str, str | dict[str, Any]]


def _field(kind: Any, description: str, *examples: Any, **more: Any) -> dict[str, Any]:
    """The JSON Schema of a field."""
    shown = {"examples": list(examples)} if examples else {}
    return {"type": kind, **more, "description": description, **shown}


_Data: TypeAlias = dict[str, str | dict[str, Any]]
_CHAT: _Data = {"conversation": "Conversation"}
_MESSAGE: _Data = {"message": "Message"}
_DOCUMENT: _Data = {
    "bot_id": _field("integer", "The bot that the document belongs to."),
    "document": "DocumentDto",
}
_CHANNEL: _Data = {"connection": "ChannelConnection"}
_BY: dict[str, Any] = {
    "anyOf": [{"$ref": "#/components/schemas/Identity"}, {"type": "null"}],
    "description": "The person on your team who did it; null if the customer or the platform did.",
}
_STATUS_CHANGE: _Data = {**_CHAT, "by": _BY}
_REASON = _field("string", "Why the bot handed over: a `handoff_reason`.", "no_answer")
_RETURN_REASON = _field(
    ["string", "null"],
    "Why it returned to the queue: a value of `handoff_reason`; null if it went to the bot.",
    "agent_silent",
)
_TAGS = _field(
    "array",
    "All tags of the conversation.",
    [
        {
            "id": None, "name": "billing", "source": "ai", "confidence": 0.9, "count": None,
            "colour": None,
        }
    ],
    items={"$ref": "#/components/schemas/Tag"},
)  # fmt: skip
_SENTIMENT = {
    "enum": ["positive", "neutral", "negative"],
    "description": "The customer's sentiment.",
}
_SCORE = _field(["number", "null"], "The sentiment as a number from -1 to 1.", 0.6)
_CREDITS: _Data = {
    "plan": _field("string", "The client's plan.", "standard"),
    "credits_left": _field("integer", "The remaining credits.", 42),
    "threshold": _field(
        "integer",
        "20: less than 20 % of `credits_included` is left. 0: no credits are left, or a call was"
        " refused.",
        20,
    ),
}
_TEST: _Data = {
    "config_id": _field("string", "The endpoint's id.", format="uuid"),
    "message": _field("string", "A message for people.", "It works: this is a test."),
}
_MERGED = _field(
    "integer", "The id of the customer that was merged into `customer` and no longer exists.", 18
)
_NOTIFICATIONS = _field(
    "array",
    "The notifications, one for each recipient.",
    minItems=1,
    items={
        "type": "object",
        "properties": {
            "user_id": _field(
                "integer", "The id of the recipient, as in *Get My Company Users*.", 5
            ),
            "notification": {"$ref": "#/components/schemas/AssignNotification"},
        },
        "required": ["user_id", "notification"],
    },
)

EVENTS: dict[str, EventType] = {
    "conversation.created": EventType("A conversation was opened.", _CHAT),
    "conversation.assigned": EventType("A conversation was assigned to an agent.", _STATUS_CHANGE),
    "conversation.unassigned": EventType(
        "A conversation no longer has an agent, because the agent returned it, did not answer in"
        " time or left; or it went from the queue back to the bot.",
        {**_STATUS_CHANGE, "reason": _RETURN_REASON},
    ),
    "conversation.handed_off": EventType(
        "The bot handed a conversation over.", {**_STATUS_CHANGE, "reason": _REASON}
    ),
    "conversation.prioritized": EventType(
        "The priority of a conversation was changed.", _STATUS_CHANGE
    ),
    "conversation.snoozed": EventType(
        "A conversation was snoozed until a set time or the next message.", _STATUS_CHANGE
    ),
    "conversation.ended": EventType(
        "A conversation ended; `ended_by` says by whom.", _STATUS_CHANGE
    ),
    "conversation.reopened": EventType(
        "A conversation continues after its end or snooze.", _STATUS_CHANGE
    ),
    "message.created": EventType("A message was stored, from any sender.", _MESSAGE),
    "message.delivered": EventType("A message reached the recipient's device.", _MESSAGE),
    "message.read": EventType("A message was read.", _MESSAGE),
    "message.failed": EventType("A message could not be delivered; `error` says why.", _MESSAGE),
    "message.updated": EventType(
        "A message changed after it was stored: its sender edited or deleted it, the customer"
        " reacted to it, it was translated, or it is uncertain whether it was sent (see `error`).",
        _MESSAGE,
    ),
    "summary.created": EventType(
        "A conversation was summarized.", {**_CHAT, "summary": "ChatSummary"}
    ),
    "tags.updated": EventType("A conversation's tags changed.", {**_CHAT, "tags": _TAGS}),
    "sentiment.updated": EventType(
        "A conversation's sentiment was computed.",
        {**_CHAT, "sentiment": _SENTIMENT, "score": _SCORE},
    ),
    "customer.updated": EventType(
        "A customer's data changed: an agent, an API key or a channel changed it, or the customer"
        " gave it to the bot.",
        {"customer": "CustomerDto"},
    ),
    "customer.merged": EventType(
        "Two customers were merged; `customer` is the one that remains.",
        {"customer": "CustomerDto", "merged_id": _MERGED},
    ),
    "feedback.created": EventType(
        "A customer gave feedback.", {**_CHAT, "feedback": "ChatFeedBackDto"}
    ),
    "feedback.updated": EventType(
        "A customer corrected feedback.", {**_CHAT, "feedback": "ChatFeedBackDto"}
    ),
    "notification.created": EventType("Agents were notified.", {"notifications": _NOTIFICATIONS}),
    "document.trained": EventType("A document was trained.", _DOCUMENT),
    "document.failed": EventType("A document could not be trained; `error` says why.", _DOCUMENT),
    "channel.connected": EventType("A messaging channel was connected.", _CHANNEL),
    "channel.disconnected": EventType("A messaging channel is no longer connected.", _CHANNEL),
    "channel.notified": EventType(
        "The provider reported something about an account or one of its templates: a status, a"
        " quality, a category or a limit.",
        {**_CHANNEL, "notice": "ChannelNotice"},
    ),
    "credits.low": EventType("Credits are running low.", _CREDITS),
    "webhook.test": EventType("A test was requested.", _TEST),
}

_ENVELOPE: dict[str, dict[str, Any]] = {
    "id": _field(
        "string",
        "The event's id, as in `webhook-id`, the live stream and the event log.",
        pattern="^evt_[0-9a-f]{32}$",
    ),
    "type": _field("string", "The event's type."),
    "timestamp": _field("string", "When it happened.", format="date-time"),
    "client_id": _field("integer", "The client that the event belongs to."),
    "conversation_id": _field(
        ["string", "null"], "The conversation that the event belongs to, if any.", format="uuid"
    ),
    "sequence": _field(
        ["integer", "null"],
        "The event's number among those of its conversation: 1, 2, 3 … without gaps; null without a"
        " conversation.",
    ),
    "is_thin": _field(
        "boolean",
        "True if the body would be over 20 KB: then `data` is null, and"
        " `GET /webhook/events/{event_id}` returns it.",
    ),
}
_HEADERS = {
    "webhook-id": "The event's id, the same in every attempt: store it to skip duplicates.",
    "webhook-timestamp": "When this attempt was made, in Unix seconds. Refuse the request if that"
    f" is more than {TOLERANCE // 60} minutes from your time.",
    "webhook-signature": "Proves that the platform sent the request, as in Standard Webhooks 1.0:"
    " `v1,` and the base64 of an HMAC-SHA256. The key is what follows"
    f" `{SECRET_PREFIX}` in the endpoint's `secret`, decoded from base64. What is signed is"
    " `<webhook-id>.<webhook-timestamp>.<body>`, with the bytes of the body as received. For 24"
    " hours after *Rotate Webhook Secret*, the header has two signatures, separated by a space,"
    " with the new and the old secret: accept the request if one is right.",
}


def add_webhooks(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the section `webhooks` to the OpenAPI document: each type, its schema and an example."""
    components = result["components"]["schemas"]
    result["webhooks"] = {name: _item(name, components) for name in EVENTS}
    return result


def schema_of(name: str, components: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a delivered body of this type."""
    kind = EVENTS[name]
    data = {
        "type": "object",
        "properties": {field: _part(schema, components) for field, schema in kind.data.items()},
        "required": list(kind.data),
    }
    fields = {**_ENVELOPE, "type": {**_ENVELOPE["type"], "const": name}}
    fields["data"] = {
        "description": "The event's data; null if `is_thin`.",
        "anyOf": [data, {"type": "null"}],
    }
    return {"type": "object", "properties": fields, "required": list(fields)}


def _part(part: str | dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    if isinstance(part, dict):
        return part
    if part not in components:
        return {"type": "object"}
    fields = components[part].get("properties", {})
    if not any("readOnly" in field for field in fields.values()):
        return {"$ref": f"#/components/schemas/{part}"}
    # In the document a webhook is a request, and a request cannot have read-only fields.
    shown = {
        name: {key: value for key, value in field.items() if key != "readOnly"}
        for name, field in fields.items()
    }
    return {**components[part], "title": f"{part}OfEvent", "properties": shown}


def _item(name: str, components: dict[str, Any]) -> dict[str, Any]:
    schema = schema_of(name, components)
    content = {"application/json": {"schema": schema, "example": example_of(schema, components)}}
    headers = [
        {"in": "header", "name": header, "required": True, "description": description,
         "schema": {"type": "string"}}
        for header, description in _HEADERS.items()
    ]  # fmt: skip
    return {
        "post": {
            "operationId": _operation_id(name),
            "summary": name,
            "description": EVENTS[name].description,
            "tags": ["Webhook"],
            "security": [],
            "parameters": headers,
            "requestBody": {"required": True, "content": content},
            "responses": {"2XX": {"description": "Accepted. Any other status is retried."}},
        }
    }


def _operation_id(name: str) -> str:
    subject, _, action = name.partition(".")
    return f"on{subject.title()}{action.title().replace('_', '')}"
