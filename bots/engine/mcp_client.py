"""Speaks to an MCP server by streamable HTTP: JSON-RPC in a POST, answered as JSON or as events.

The `mcp` package brings an HTTP client of its own, and requests may leave only through
`chatplatform.egress`. This implements only the part of the protocol that calling tools needs.
"""

import itertools
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from bots.engine import argument_schemas, tools
from chatplatform import egress

PROTOCOL = "2025-11-25"
MAX_BYTES = 2_000_000
MAX_TOOLS = 100
_MAX_ERROR_CHARS = 300
# Short, since a customer is waiting.
_ENDING_SECONDS = 2
_CLIENT = {"name": "chatplatform", "version": "1.0"}


class McpError(Exception):
    """The server refused a request; the message has its words."""


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as a server describes it, in the form that models and our checks can take."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class McpResult:
    """What a tool returned, as text; `is_error`: the tool says that it failed."""

    text: str
    is_error: bool


class McpSession:
    """One session with a server; all of its requests together take at most `seconds`."""

    def __init__(self, url: str, token: str, *, seconds: float) -> None:
        self._url = url
        self._ends_at = time.monotonic() + seconds
        self._ids = itertools.count(1)
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def __enter__(self) -> Self:
        offered = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": _CLIENT}
        agreed = self._ask("initialize", offered).get("protocolVersion")
        if isinstance(agreed, str):
            self._headers["MCP-Protocol-Version"] = agreed
        self._post({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        """The server ends idle sessions itself; to end one is a courtesy that may fail."""
        if "MCP-Session-Id" not in self._headers:
            return
        with suppress(egress.EgressError):
            egress.request(
                "DELETE", self._url, headers=self._headers,
                timeout_seconds=min(self._seconds_left(), _ENDING_SECONDS), purpose="function",
            )  # fmt: skip

    def tools(self) -> list[McpTool]:
        """The tools that the server offers; if several have the same name, the last of them."""
        found: list[McpTool] = []
        cursor: Any = None
        while len(found) < MAX_TOOLS:
            page = self._ask("tools/list", {"cursor": cursor} if cursor else {})
            listed = page.get("tools")
            if isinstance(listed, list):
                found += [_tool(item) for item in listed if _is_tool(item)]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return list({tool.name: tool for tool in found}.values())[:MAX_TOOLS]

    def call(self, name: str, arguments: dict[str, Any]) -> McpResult:
        """Call a tool; an EgressError without `nothing_sent` leaves open whether it took effect."""
        result = self._ask("tools/call", {"name": name, "arguments": arguments})
        return McpResult(_text_of(result), bool(result.get("isError")))

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        answer = self._post({"id": number, "method": method, "params": params})
        if answer is None:
            raise egress.ConnectionFailed("The server gave no answer to a request.")
        if "error" in answer:
            error = answer["error"]
            words = error.get("message") if isinstance(error, dict) else error
            raise McpError(tools.storable(str(words))[:_MAX_ERROR_CHARS])
        result = answer.get("result")
        if not isinstance(result, dict):
            raise egress.ConnectionFailed("The server's answer isn't valid.")
        return result

    def _post(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Send a message; returns its answer, or None if the server sends none."""
        with egress.stream(
            self._url,
            headers=self._headers,
            content=json.dumps({"jsonrpc": "2.0", **message}).encode(),
            timeout_seconds=self._seconds_left(),
            max_bytes=MAX_BYTES,
            purpose="function",
        ) as reply:
            if reply.status in {401, 403}:
                raise McpError(f"The server refused the token ({reply.status}).")
            if reply.status >= 500:
                raise egress.ConnectionFailed(f"The server answered {reply.status}.")
            if reply.status >= 300:
                raise McpError(f"The server answered {reply.status}.")
            session_id = reply.headers.get("mcp-session-id")
            if session_id:
                self._headers["MCP-Session-Id"] = session_id
            return _answer(reply, message["id"]) if "id" in message else None

    def _seconds_left(self) -> float:
        seconds = self._ends_at - time.monotonic()
        if seconds <= 0:
            raise egress.Timeout("The request timed out.")
        return seconds


def _answer(reply: egress.OpenReply, number: Any) -> dict[str, Any] | None:
    """The JSON-RPC answer to a request: the whole body, or one of the events in it."""
    is_stream = reply.headers.get("content-type", "").startswith("text/event-stream")
    texts = _events(reply.pieces) if is_stream else iter([b"".join(reply.pieces)])
    for text in texts:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise egress.ConnectionFailed("The server's answer isn't valid JSON.") from error
        # Other events are notifications, or requests of the server, for which we declared no
        # capabilities.
        if isinstance(message, dict) and "method" not in message and message.get("id") == number:
            return message
    return None


def _events(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each event of a stream (HTML, 9.2.6)."""
    data: list[bytes] = []
    for line in _lines(pieces):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            text, data = b"\n".join(data), []
            if text:
                yield text


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.removesuffix(b"\r") for line in whole)
    yield from (rest, b"")


def _is_tool(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("name"), str)
        and 0 < len(item["name"]) <= 200
        and tools.storable(item["name"]) == item["name"]
        and isinstance(item.get("inputSchema"), dict)
    )


def _tool(item: dict[str, Any]) -> McpTool:
    words = tools.storable(str(item.get("description") or item.get("title") or item["name"]))
    return McpTool(item["name"], words, argument_schemas.simplified(item["inputSchema"]))


def _text_of(result: dict[str, Any]) -> str:
    """A result's texts. Pictures and sounds are named, since the model cannot see them here."""
    content = result.get("content")
    listed = content if isinstance(content, list) else []
    pieces = [item for item in listed if isinstance(item, dict)]
    texts = [_text_of_piece(piece) for piece in pieces]
    if not any(texts) and result.get("structuredContent") is not None:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(text for text in texts if text)


def _text_of_piece(piece: dict[str, Any]) -> str:
    resource = piece.get("resource")
    text = piece.get("text") or (resource.get("text") if isinstance(resource, dict) else None)
    return text if isinstance(text, str) else f"[{piece.get('type')}]"
