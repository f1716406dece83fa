"""Every type of event: what it means, and the schema of its data in the API's document.

The shapes lie in apps above this one, so they are named here and found in the document.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EXAMPLE_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of event. `data` names its fields: a component of the document, or a schema."""

    description: str
    data: Mapping[str, str | dict[str, Any]]


_CHAT: dict[str, str | dict[str, Any]] = {"conversation": "Conversation"}
_MESSAGE: dict[str, str | dict[str, Any]] = {"message": "Message"}
_DOCUMENT: dict[str, str | dict[str, Any]] = {
    "bot_id": {"type": "integer", "description": "The bot that was to learn it."},
    "document": "DocumentDto",
}
_CHANNEL: dict[str, str | dict[str, Any]] = {"connection": "ChannelConnection"}
_REASON = {"type": "string", "description": "Why.", "examples": ["no_answer"]}
_TAGS = {
    "type": "array",
    "items": {"type": "object"},
    "description": "All tags of the conversation: name, source, confidence.",
    "examples": [[{"name": "billing", "source": "ai", "confidence": 0.9, "count": None}]],
}
_SENTIMENT = {
    "enum": ["positive", "neutral", "negative"],
    "description": "How the customer feels.",
}
_SCORE = {"type": ["number", "null"], "description": "From -1 to 1.", "examples": [0.6]}
_CREDITS: dict[str, str | dict[str, Any]] = {
    "plan": {"type": "string", "description": "The client's plan.", "examples": ["standard"]},
    "credits_left": {"type": "integer", "description": "What is left.", "examples": [42]},
    "threshold": {"type": "integer", "description": "What it fell below.", "examples": [100]},
}
_TEST: dict[str, str | dict[str, Any]] = {
    "config_id": {"type": "string", "format": "uuid", "description": "The endpoint."},
    "message": {
        "type": "string",
        "description": "A word to the reader.",
        "examples": ["It works: this is a test."],
    },
}
_NOTIFICATIONS = {
    "type": "array",
    "items": {"type": "object"},
    "description": "For each person told: `user_id` and the `notification`.",
}

EVENTS: dict[str, Kind] = {
    "conversation.created": Kind("A conversation was opened.", _CHAT),
    "conversation.assigned": Kind("An agent has it now.", _CHAT),
    "conversation.unassigned": Kind(
        "Its agent gave it back, lost it by the timer, or left.", _CHAT
    ),
    "conversation.handed_off": Kind("The bot handed it over.", {**_CHAT, "reason": _REASON}),
    "conversation.snoozed": Kind("It rests until a moment, or a message.", _CHAT),
    "conversation.ended": Kind("It ended; `ended_by` says by whom.", _CHAT),
    "conversation.reopened": Kind("It goes on after its end or rest.", _CHAT),
    "message.created": Kind("A message of any side was stored.", _MESSAGE),
    "message.delivered": Kind("It reached the reader's device.", _MESSAGE),
    "message.read": Kind("It was read.", _MESSAGE),
    "message.failed": Kind("It could not be delivered; `error` says why.", _MESSAGE),
    "summary.created": Kind("It was summarised.", {**_CHAT, "summary": "ChatSummary"}),
    "tags.updated": Kind("A conversation's tags changed.", {**_CHAT, "tags": _TAGS}),
    "sentiment.updated": Kind(
        "A customer's mood was judged.", {**_CHAT, "sentiment": _SENTIMENT, "score": _SCORE}
    ),
    "feedback.created": Kind("A customer gave feedback.", {**_CHAT, "feedback": "ChatFeedBackDto"}),
    "notification.created": Kind("Agents were told.", {"notifications": _NOTIFICATIONS}),
    "document.trained": Kind("A bot knows a document now.", _DOCUMENT),
    "document.failed": Kind("A document could not be trained; `error` says why.", _DOCUMENT),
    "channel.connected": Kind("A messaging channel was connected.", _CHANNEL),
    "channel.disconnected": Kind("A messaging channel is no longer connected.", _CHANNEL),
    "credits.low": Kind("Few credits are left.", _CREDITS),
    "webhook.test": Kind("You asked for a test.", _TEST),
}

_FORMATS = {
    "uuid": "019aa4c1-7c1e-7000-8000-5f0a4b1c2d3e",
    "date-time": "2026-11-21T03:00:00.123Z",
    "date": "2026-11-21",
    "uri": "https://shop.example/",
    "email": "zoe@shop.example",
}
_OF_TYPE: dict[str, Any] = {
    "boolean": False, "integer": 1, "number": 0.5, "string": "text", "null": None,
}  # fmt: skip


_ENVELOPE: dict[str, dict[str, Any]] = {
    "id": {
        "type": "string",
        "pattern": "^evt_[0-9a-f]{32}$",
        "description": "The event's id: also in `webhook-id`, the live stream and the event log.",
    },
    "type": {"type": "string", "description": "What happened."},
    "timestamp": {"type": "string", "format": "date-time", "description": "When it happened."},
    "client_id": {"type": "integer", "description": "Whose event it is."},
    "conversation_id": {
        "type": ["string", "null"],
        "format": "uuid",
        "description": "The conversation it belongs to, if it does.",
    },
    "sequence": {
        "type": ["integer", "null"],
        "description": "Its number among the conversation's events: 1, 2, 3 … without gaps.",
    },
    "is_thin": {
        "type": "boolean",
        "description": "True where the body would be over 20 KB: `data` is null then, and"
        " `GET /webhook/events/{event_id}` has it.",
    },
}
_HEADERS = {
    "webhook-id": "The event's id, the same in every attempt: remember it to skip doubles.",
    "webhook-timestamp": "When this attempt was made, in Unix seconds: refuse old ones.",
    "webhook-signature": "A signature `v1,<base64>`; after a rotation two, a space apart.",
}


def document(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the section `webhooks` to the OpenAPI document: every type, its schema, an example."""
    components = result["components"]["schemas"]
    result["webhooks"] = {name: _item(name, components) for name in EVENTS}
    return result


def schema_of(name: str, components: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a delivered body of this type."""
    kind = EVENTS[name]
    data = {
        "type": "object",
        "properties": {field: _part(shape, components) for field, shape in kind.data.items()},
        "required": list(kind.data),
    }
    fields = {**_ENVELOPE, "type": {**_ENVELOPE["type"], "const": name}}
    fields["data"] = {
        "description": "What it is about; null where `is_thin`.",
        "anyOf": [data, {"type": "null"}],
    }
    return {"type": "object", "properties": fields, "required": list(fields)}


def unresolved(components: dict[str, Any]) -> set[str]:
    """Names of shapes that the document does not have."""
    named = {
        part for kind in EVENTS.values() for part in kind.data.values() if isinstance(part, str)
    }
    return named - set(components)


def _part(part: str | dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    if isinstance(part, dict):
        return part
    return {"$ref": f"#/components/schemas/{part}"} if part in components else {"type": "object"}


def _item(name: str, components: dict[str, Any]) -> dict[str, Any]:
    schema = schema_of(name, components)
    content = {"application/json": {"schema": schema, "example": example_of(schema, components)}}
    headers = [
        {
            "in": "header",
            "name": header,
            "required": True,
            "description": description,
            "schema": {"type": "string"},
        }
        for header, description in _HEADERS.items()
    ]
    return {
        "post": {
            "operationId": f"on_{name.replace('.', '_')}",
            "summary": name,
            "description": EVENTS[name].description,
            "tags": ["Webhook"],
            "parameters": headers,
            "requestBody": {"required": True, "content": content},
            "responses": {"2XX": {"description": "Taken. Anything else is tried again."}},
        }
    }


def example_of(
    schema: dict[str, Any], components: dict[str, Any], name: str = "", depth: int = 0
) -> Any:
    """A value that fits a schema, made of what the schema says."""
    if "$ref" in schema:
        schema = components[schema["$ref"].rsplit("/")[-1]]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return example_of(schema[key][0], components, name, depth)
    if name == "id" and "pattern" in schema:
        return "evt_019aa4c17c1e70008000" + "5f0a4b1c2d3e"
    if "properties" in schema and depth < _EXAMPLE_DEPTH:
        return {
            field: example_of(part, components, field, depth + 1)
            for field, part in schema["properties"].items()
        }
    return _plain_example(schema)


def _plain_example(schema: dict[str, Any]) -> Any:
    if "type" not in schema:
        return None
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if kind in {"array", "object"}:
        return [] if kind == "array" else {}
    return _OF_TYPE[kind]
