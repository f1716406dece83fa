"""The body of a request, read by the event loop before a thread serves the request.

Whoever sends much must show a credential first, and is allowed as much as the path needs; whoever
sends too slowly is cut. Everybody can read a public key: a large body with it needs a visitor too,
comes within minutes, and is one of few.
"""

import asyncio
import math
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from chatplatform.api import proxies
from chatplatform.api.bulkhead import Bulkhead
from chatplatform.api.errors import (
    MAX_HEADER_BYTES,
    BrokenBody,
    HeadersTooLarge,
    TooLarge,
    TooSlow,
)
from chatplatform.api.operation import PUBLIC, Form, Operation, operations_of
from chatplatform.api.rate_limits import counted_address
from chatplatform.api.routing import find_operation

Receive = Callable[[], Awaitable[dict[str, Any]]]
# A sender of less than so much in so long is cut.
SLOWEST_BYTES_A_SECOND, PATIENCE_SECONDS = 1_000, 10.0
_IN_MEMORY = 1_000_000  # bytes of a body before it goes to a temporary file, and is looked at
# A large body with a public key comes within this time: 25 MB with 0.7 Mbit/s. At the slowest pace
# alone, one would lie on the disk for a day.
PUBLIC_KEY_SECONDS = 300.0
# Large bodies with a public key at once in a process, from one address and in all: two gigabytes at
# most.
ADDRESS_UPLOADS, PUBLIC_KEY_UPLOADS = 4, 20
_UPLOAD_SLOTS = Bulkhead(retry_after=10)
# Headers of HTTP/1.1 without one of which a request has no body (RFC 9112, 6.3).
_ANNOUNCING = {b"content-length", b"transfer-encoding"}
# A refused caller's body is read up to this size: else the connection would have to be closed.
_WORTH_READING = 64_000


@dataclass(frozen=True)
class BodyLimit:
    """How large a body may be and how long it may take; of how many at once of its holders."""

    size: int
    seconds: float = math.inf
    caps: Mapping[str, int] = field(default_factory=dict)


class Body(tempfile.SpooledTemporaryFile[bytes]):
    """A body that was read; once it is closed, its upload slot is free."""

    def __init__(self) -> None:
        super().__init__(max_size=_IN_MEMORY)
        self.size = 0
        self.slot = ExitStack()

    def close(self) -> None:
        super().close()
        self.slot.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def check_headers(scope: dict[str, Any]) -> None:
    """Refuse headers that nobody needs to be so long."""
    if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        raise HeadersTooLarge


def is_worth_reading(scope: dict[str, Any]) -> bool:
    """Whether the body of a refused caller is so small that it is read for the connection's sake.

    Else the answer goes ahead of the body, and the connection is closed.
    """
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"0")
    is_small = length.isdigit() and int(length) <= _WORTH_READING
    return is_small and b"transfer-encoding" not in headers


def _is_announced(scope: dict[str, Any]) -> bool:
    """Whether a request has a body. One of HTTP/2 need not say so ahead."""
    names = {name for name, value in scope["headers"] if value != b"0"}
    return not scope["http_version"].startswith("1") or bool(names & _ANNOUNCING)


async def read(
    scope: dict[str, Any], receive: Receive, largest: Callable[[], Awaitable[BodyLimit]]
) -> Body:
    """The body in a file object.

    `largest` is asked once, when it becomes large: it tells how large it may be, or refuses.
    """
    body = Body()
    if not _is_announced(scope):
        return body
    try:
        limit, more, pace = BodyLimit(_IN_MEMORY), True, _Pace()
        while more:
            message = await pace.next(receive)
            if message["type"] == "http.disconnect":
                raise BrokenBody
            piece = message.get("body", b"")
            body.size += len(piece)
            if body.size > limit.size == _IN_MEMORY:
                limit = await largest()
                pace.end_after(limit.seconds)
                if body.size <= limit.size:
                    body.slot.enter_context(_UPLOAD_SLOTS.admit(limit.caps))
            if body.size > limit.size:
                raise TooLarge(f"A request has at most {limit.size:,} bytes in all.")
            body.write(piece)
            more = message.get("more_body", False)
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body


class _Pace:
    """Whether a sender sends fast enough, looked at again and again."""

    def __init__(self) -> None:
        self._started_at = self._begun_at = time.monotonic()
        self._bytes, self._ends_at = 0, math.inf

    def end_after(self, seconds: float) -> None:
        """Allow the whole body so many seconds from its beginning."""
        self._ends_at = self._started_at + seconds

    async def next(self, receive: Receive) -> dict[str, Any]:
        """The next piece; TooSlow if it, or what came with it, took too long."""
        try:
            async with asyncio.timeout(min(PATIENCE_SECONDS, self._ends_at - time.monotonic())):
                message = await receive()
        except TimeoutError as exc:
            raise TooSlow from exc
        if time.monotonic() > self._ends_at:
            raise TooSlow
        self._bytes += len(message.get("body", b""))
        if (passed := time.monotonic() - self._begun_at) >= PATIENCE_SECONDS:
            if self._bytes < passed * SLOWEST_BYTES_A_SECOND and message.get("more_body"):
                raise TooSlow
            self._begun_at, self._bytes = time.monotonic(), 0
        return message


def largest(request: HttpRequest) -> BodyLimit:
    """How large the body of this request may be; refuses a caller who may not send it."""
    proxies.apply_forwarded_headers(request.META)
    match = find_operation(request.path_info.rstrip("/"))
    if match is None:
        return BodyLimit(settings.MAX_JSON_BYTES)
    view: Any = match.func
    declared = operations_of(view.cls, view.actions).get((request.method or "").lower())
    if declared is None:
        return BodyLimit(settings.MAX_JSON_BYTES)
    size = _size(declared)
    if declared.access is PUBLIC:
        return BodyLimit(size)
    caller = declared.access.find_caller(request)
    if not caller.is_public_key:
        return BodyLimit(size)
    if caller.is_anonymous_visitor and size > _IN_MEMORY:
        raise declared.access.refusal("So large a body needs a Visitor-Token beside a public key.")
    key, address = request.headers["API-KEY"], counted_address(request.META["REMOTE_ADDR"])
    caps = {key: PUBLIC_KEY_UPLOADS, f"{key} {address}": ADDRESS_UPLOADS}
    return BodyLimit(size, PUBLIC_KEY_SECONDS, caps)


def _size(declared: Operation) -> int:
    if isinstance(declared.body, Form) and declared.body.files:
        return settings.MAX_REQUEST_BYTES
    # What a server sends as often as it must is a callback.
    return settings.MAX_JSON_BYTES if declared.is_counted else settings.MAX_CALLBACK_BYTES
