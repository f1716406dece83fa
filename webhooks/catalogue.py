"""Every type of event: what it means, and the schema of its data in the API's document.

The shapes lie in apps above this one, so they are named here and found in the document.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EXAMPLE_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of event. `data` names its fields and their components; null: any JSON value."""

    description: str
    data: Mapping[str, str | None]


_CHAT = {"conversation": "Conversation"}
_MESSAGE = {"message": "Message"}
_DOCUMENT = {"bot_id": None, "document": "DocumentDto"}
_CHANNEL = {"connection": "ChannelConnection"}

EVENTS: dict[str, Kind] = {
    "conversation.created": Kind("A conversation was opened.", _CHAT),
    "conversation.assigned": Kind("An agent has it now.", _CHAT),
    "conversation.unassigned": Kind("Its agent gave it back.", _CHAT),
    "conversation.handed_off": Kind("The bot handed it to people; `reason` says why.", _CHAT),
    "conversation.ended": Kind("It ended; `ended_by` says by whom.", _CHAT),
    "conversation.reopened": Kind("It goes on after its end.", _CHAT),
    "message.created": Kind("A message of any side was stored.", _MESSAGE),
    "message.delivered": Kind("It reached the reader's device.", _MESSAGE),
    "message.read": Kind("It was read.", _MESSAGE),
    "message.failed": Kind("It could not be delivered; `error` says why.", _MESSAGE),
    "summary.created": Kind("A conversation was summarised.", {"summary": "ChatSummary"}),
    "tags.updated": Kind("A conversation's tags changed.", {"tags": None}),
    "sentiment.updated": Kind("A customer's mood was judged.", {"sentiment": None}),
    "feedback.created": Kind("A customer gave feedback.", {"feedback": "ChatFeedBackDto"}),
    "document.trained": Kind("A bot knows a document now.", _DOCUMENT),
    "document.failed": Kind("A document could not be trained; `error` says why.", _DOCUMENT),
    "channel.connected": Kind("A messaging channel was connected.", _CHANNEL),
    "channel.disconnected": Kind("A messaging channel is no longer connected.", _CHANNEL),
    "credits.low": Kind("Few credits are left.", {"credits_left": None}),
    "webhook.test": Kind("You asked for a test.", {"config_id": None, "message": None}),
}

# What any value of a field without a shape of its own is shown as.
_PLAIN_EXAMPLES: dict[str, Any] = {
    "bot_id": 7,
    "config_id": "019aa4c1-7c1e-7000-8000-5f0a4b1c2d3e",
    "credits_left": 42,
    "message": "It works: this is a test.",
    "sentiment": "positive",
    "tags": ["billing"],
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
    named = {shape for kind in EVENTS.values() for shape in kind.data.values() if shape}
    return named - set(components)


def _part(shape: str | None, components: dict[str, Any]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{shape}"} if shape in components else {}


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
    return _plain_example(schema, name)


def _plain_example(schema: dict[str, Any], name: str) -> Any:
    if "type" not in schema:
        return _PLAIN_EXAMPLES.get(name)
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if kind in {"array", "object"}:
        return [] if kind == "array" else {}
    return _OF_TYPE[kind]
