"""The tools of the MCP server. Each calls an operation of the API, and has its description."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponseBase

from chatplatform.api.errors import NotFound
from chatplatform.api.idempotency import HEADER
from chatplatform.api.operation import CAN_WAIT, RATE_LIMIT_RESULT, Operation, routes
from chatplatform.api.path_parameter_descriptions import describe_parameter
from chatplatform.api.routing import find_operation
from identity.auth import Principal

_CONVERTERS = {"int": "integer", "uuid": "string", "slug": "string", "str": "string"}
# The headers of a request to `/mcp` that are not passed on to the operation.
_DROPPED_HEADERS = (
    f"HTTP_{HEADER.upper().replace('-', '_')}",
    "HTTP_ACCEPT",
    CAN_WAIT,
    RATE_LIMIT_RESULT,
)


@dataclass(frozen=True)
class Tool:
    """A tool: its name, and the method and path of its operation.

    Customers notice the effect of a tool with `is_write`, so the caller needs the scope
    `mcp:write`. `fixed` has the arguments that the model cannot set, with their values.
    """

    name: str
    method: str
    path: str
    is_write: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def operation(self) -> Operation:
        return _served()[self.method, re.sub(r"<\w+:(\w+)>", r"<\1>", self.path)]

    def admits(self, caller: Principal) -> bool:
        """Whether the operation accepts the caller's kind of credential and the caller's rights."""
        access = self.operation.access
        kind = "api_key" if caller.key else "bearer"
        rights = set(access.admitted(self.method))
        return kind in access.security and bool(rights & set(caller.rights))

    def described(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        declared, schema = self.operation, self._schema()
        return {
            "name": self.name,
            "title": declared.name,
            "description": re.sub(r"\n\s+", "\n", declared.description),
            "inputSchema": schema,
            "annotations": {
                # A bot's reply costs credits, and the bot may call functions.
                "readOnlyHint": not (self.is_write or declared.costs_credits),
                "destructiveHint": self.is_write,
            },
        }

    def _schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: those of path, query and body in one object."""
        parts: dict[str, Any] = {}
        named: dict[str, Any] = {}
        needed: list[str] = []
        for converter, name in re.findall(r"<(\w+):(\w+)>", self.path):
            parts[name] = {"type": _CONVERTERS[converter], "description": describe_parameter(name)}
            needed.append(name)
        for declared in (self.operation.query, self.operation.body):
            if isinstance(declared, type):
                schema = declared.model_json_schema()
                named |= schema.get("$defs", {})
                shown = {
                    name: part
                    for name, part in schema["properties"].items()
                    if name not in self.fixed and not part.get("readOnly")
                }
                parts |= shown
                needed += [name for name in schema.get("required", ()) if name in shown]
        whole = {"type": "object", "properties": parts, "required": needed}
        closed = {**whole, "additionalProperties": False}
        return closed | ({"$defs": named} if named else {})

    def call(self, request: HttpRequest, arguments: Mapping[str, Any]) -> HttpResponseBase:
        """Call the operation with the caller's credential, and return its response. The operation
        itself checks rights and arguments."""
        declared, given = self.operation, {**arguments, **self.fixed}
        path = "/" + self.path
        path = re.sub(r"<\w+:(\w+)>", lambda part: _segment(given.pop(part[1], "")), path)
        names = set(declared.query.model_fields) if declared.query else set()
        query = {name: given.pop(name) for name in names & set(given)}
        body = orjson.dumps(given) if declared.body else b""
        if given and not declared.body:
            query |= given  # the operation refuses unknown parameters
        match = find_operation(path)
        if match is None:
            raise NotFound
        inner = _request(request, self.method, path, query, body)
        response: HttpResponseBase = match.func(inner, **match.kwargs)
        return response


TOOLS = (
    Tool("list_bots", "GET", "ai/bot"),
    Tool("search_conversations", "GET", "ai/chats"),
    Tool("search_conversations", "GET", "ai/client/chats"),
    Tool("read_conversation", "GET", "ai/chat/<uuid:chat_id>/history"),
    Tool("read_conversation", "GET", "ai/client/chat/history/<uuid:chat_id>"),
    Tool("search_content", "GET", "ai/<int:bot_id>/search"),
    Tool("ask_bot", "POST", "ai/<int:bot_id>/generate-chat", fixed={"stream": False}),
    Tool("get_overview", "GET", "report/chat-overview"),
    Tool("search_report", "POST", "report/adhoc/search"),
    Tool("reply_as_agent", "POST", "ai/chat/<uuid:chat_id>/manual", is_write=True),
    Tool("reply_as_assistant", "POST", "ai/client/chat/assistant/<uuid:chat_id>", is_write=True),
)


def tools_of(caller: Principal) -> Iterator[Tool]:
    """The tools for which the caller has the rights. Two tools may have the same name: one calls an
    operation for people, the other the similar operation for API keys."""
    return (tool for tool in TOOLS if tool.admits(caller))


@cache
def _served() -> dict[tuple[str, str], Operation]:
    return {
        (method, re.sub(r"<\w+:(\w+)>", r"<\1>", path.removeprefix("/"))): declared
        for method, path, declared in routes()
    }


def _segment(value: Any) -> str:
    return quote(str(value), safe="") or "-"


def _request(
    request: HttpRequest, method: str, path: str, query: Mapping[str, Any], body: bytes
) -> HttpRequest:
    """A request for another path with the headers of this one, and so from the same caller."""
    passed_on = {
        name: value for name, value in request.META.items() if name not in _DROPPED_HEADERS
    }
    return WSGIRequest(
        {
            **passed_on,
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": urlencode(
                # Models send null for arguments that they leave out.
                {name: _as_text(value) for name, value in query.items() if value is not None},
                doseq=True,
            ),
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": BytesIO(body),
        }
    )


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return [_as_text(item) for item in value] if isinstance(value, list) else value
