"""A client for MCP servers over Streamable HTTP.

Each JSON-RPC message is sent in a POST; the response is JSON or a stream of events. The `mcp`
package is not used, since it has its own HTTP client, and all requests must be sent through
`chatplatform.egress`. Only tools are supported.
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
# The maximum size of a response, in bytes.
MAX_BYTES = 2_000_000
MAX_TOOLS = 100
_MAX_ERROR_CHARS = 300
# The time limit for ending a session. It is short, since a customer is waiting.
_ENDING_SECONDS = 2
_CLIENT = {"name": "chatplatform", "version": "1.0"}


class McpError(Exception):
    """The server refused a request; the message gives the server's reason or the HTTP status."""


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of a server; its schema has no keywords that `argument_schemas` refuses."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class McpResult:
    """The result of a tool call as text; `is_error` says whether the tool reported a failure."""

    text: str
    is_error: bool


class McpSession:
    """One session with a server; all its requests together may take at most `seconds`."""

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
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": _CLIENT}
        version = self._request("initialize", params).get("protocolVersion")
        if isinstance(version, str):
            self._headers["MCP-Protocol-Version"] = version
        self._post({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        """End the session. A failure is ignored, since the server ends idle sessions itself."""
        if "MCP-Session-Id" not in self._headers:
            return
        with suppress(egress.EgressError):
            egress.request(
                "DELETE", self._url, headers=self._headers,
                timeout_seconds=min(self._seconds_left(), _ENDING_SECONDS), purpose="function",
            )  # fmt: skip

    def tools(self) -> list[McpTool]:
        """The tools that the server offers, at most MAX_TOOLS.

        Tools without a valid name or an input schema are left out. If several tools have the same
        name, only the last is kept.
        """
        found: list[McpTool] = []
        cursor: Any = None
        while len(found) < MAX_TOOLS:
            page = self._request("tools/list", {"cursor": cursor} if cursor else {})
            listed = page.get("tools")
            if isinstance(listed, list):
                found += [_tool(item) for item in listed if _is_tool(item)]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return list({tool.name: tool for tool in found}.values())[:MAX_TOOLS]

    def call(self, name: str, arguments: dict[str, Any]) -> McpResult:
        """Call a tool; raises McpError or EgressError.

        If EgressError is raised, the server may have executed the call, unless the error's
        `nothing_sent` is true.
        """
        result = self._request("tools/call", {"name": name, "arguments": arguments})
        return McpResult(_text_of(result), bool(result.get("isError")))

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        response = self._post({"id": next(self._ids), "method": method, "params": params})
        if response is None:
            raise egress.ConnectionFailed("The server did not respond to a request.")
        if "error" in response:
            error = response["error"]
            reason = error.get("message") if isinstance(error, dict) else error
            raise McpError(tools.storable(str(reason))[:_MAX_ERROR_CHARS])
        result = response.get("result")
        if not isinstance(result, dict):
            raise egress.ConnectionFailed("The server's response isn't valid.")
        return result

    def _post(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Send a message and return the response, if any; a notification never has one."""
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
            return _response(reply, message["id"]) if "id" in message else None

    def _seconds_left(self) -> float:
        seconds = self._ends_at - time.monotonic()
        if seconds <= 0:
            raise egress.Timeout("The request timed out.")
        return seconds


def _response(reply: egress.OpenReply, request_id: Any) -> dict[str, Any] | None:
    """The JSON-RPC response to a request: the whole body, or one event of a stream.

    None if the reply does not contain it.
    """
    is_stream = reply.headers.get("content-type", "").startswith("text/event-stream")
    texts = _events(reply.pieces) if is_stream else iter([b"".join(reply.pieces)])
    for text in texts:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise egress.ConnectionFailed("The server's response isn't valid JSON.") from error
        # Other messages are notifications, or requests from the server, which we ignore since we
        # declare no capabilities.
        if not isinstance(message, dict) or "method" in message:
            continue
        if message.get("id") == request_id:
            return message
    return None


def _events(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each server-sent event in a stream.

    Unlike in section 9.2.6 of the HTML standard, lines must end in LF or CRLF, and the last event
    need not end in an empty line.
    """
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
    text = tools.storable(str(item.get("description") or item.get("title") or item["name"]))
    return McpTool(item["name"], text, argument_schemas.simplified(item["inputSchema"]))


def _text_of(result: dict[str, Any]) -> str:
    """The texts of a result's items; an item without text is replaced by its type, as in `[image]`.

    If no item has a text, the result's structured content is returned as JSON.
    """
    content = result.get("content")
    listed = content if isinstance(content, list) else []
    texts = [_text_of_item(item) for item in listed if isinstance(item, dict)]
    if not any(texts) and result.get("structuredContent") is not None:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(text for text in texts if text)


def _text_of_item(item: dict[str, Any]) -> str:
    resource = item.get("resource")
    text = item.get("text", resource.get("text") if isinstance(resource, dict) else None)
    return text if isinstance(text, str) else f"[{item.get('type')}]"
