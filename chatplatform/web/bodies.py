"""The body of a request, read by the event loop before a thread serves the request.

Whoever sends much must show a credential first, and has as much room as the path needs; whoever
sends too slowly is cut.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from chatplatform.api.errors import (
    MAX_HEADER_BYTES,
    BrokenBody,
    HeadersTooLarge,
    TooLarge,
    TooSlow,
)
from chatplatform.api.operation import PUBLIC, Form, Operation, operations_of
from chatplatform.api.routing import find_operation

Receive = Callable[[], Awaitable[dict[str, Any]]]
# A sender of less than so much in so long is cut.
SLOWEST_BYTES_A_SECOND, PATIENCE_SECONDS = 1_000, 10.0
_IN_MEMORY = 1_000_000  # bytes of a body before it goes to a temporary file, and is looked at


def check_headers(scope: dict[str, Any]) -> None:
    """Refuse headers that nobody needs to be so long."""
    if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        raise HeadersTooLarge


async def read(receive: Receive, largest: Callable[[], Awaitable[int]]) -> Any:
    """The body in a file object.

    `largest` is asked once, when it becomes large: it tells how large it may be, or refuses.
    """
    body = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    try:
        size, room, more, pace = 0, _IN_MEMORY, True, _Pace()
        while more:
            message = await pace.next(receive)
            if message["type"] == "http.disconnect":
                raise BrokenBody
            piece = message.get("body", b"")
            size += len(piece)
            if size > room == _IN_MEMORY:
                room = await largest()
            if size > room:
                raise TooLarge(f"A request has at most {room:,} bytes in all.")
            body.write(piece)
            more = message.get("more_body", False)
    except BaseException:
        body.close()
        raise
    body.seek(0)
    body.size = size  # type: ignore[attr-defined]
    return body


class _Pace:
    """Whether a sender sends fast enough, looked at again and again."""

    def __init__(self) -> None:
        self._begun_at, self._bytes = time.monotonic(), 0

    async def next(self, receive: Receive) -> dict[str, Any]:
        """The next piece; TooSlow if it, or what came with it, took too long."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                message = await receive()
        except TimeoutError as exc:
            raise TooSlow from exc
        self._bytes += len(message.get("body", b""))
        if (passed := time.monotonic() - self._begun_at) >= PATIENCE_SECONDS:
            if self._bytes < passed * SLOWEST_BYTES_A_SECOND and message.get("more_body"):
                raise TooSlow
            self._begun_at, self._bytes = time.monotonic(), 0
        return message


def largest(request: HttpRequest) -> int:
    """How many bytes the body of this request may have; refuses a caller who may not send it."""
    match = find_operation(request.path_info.rstrip("/"))
    if match is None:
        return settings.MAX_JSON_BYTES
    view: Any = match.func
    declared = operations_of(view.cls, view.actions).get((request.method or "").lower())
    if declared is None:
        return settings.MAX_JSON_BYTES
    if declared.access is not PUBLIC:
        declared.access.find_caller(request)
    return _room(declared)


def _room(declared: Operation) -> int:
    if isinstance(declared.body, Form) and declared.body.files:
        return settings.MAX_REQUEST_BYTES
    # What a server sends as often as it must is a callback.
    return settings.MAX_JSON_BYTES if declared.is_counted else settings.MAX_CALLBACK_BYTES
