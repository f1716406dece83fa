"""The body of a request, read by the event loop before a thread serves the request.

Whoever sends much must show a credential first, and has as much room as the path needs; whoever
sends too slowly is cut. Everybody can read the public key of a page: a large body with it needs a
visitor too, comes within minutes, and is one of few.
"""

import asyncio
import math
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from chatplatform.api import proxies
from chatplatform.api.errors import (
    MAX_HEADER_BYTES,
    BrokenBody,
    HeadersTooLarge,
    TooLarge,
    TooManyRequests,
    TooSlow,
)
from chatplatform.api.operation import PUBLIC, Form, Operation, operations_of
from chatplatform.api.rate_limits import counted_address
from chatplatform.api.routing import find_operation

Receive = Callable[[], Awaitable[dict[str, Any]]]
# A sender of less than so much in so long is cut.
SLOWEST_BYTES_A_SECOND, PATIENCE_SECONDS = 1_000, 10.0
_IN_MEMORY = 1_000_000  # bytes of a body before it goes to a temporary file, and is looked at
# A page's large body comes within this time: 25 MB with 0.7 Mbit/s. At the slowest pace alone, one
# would lie on the disk for a day.
PAGE_SECONDS = 300.0
# Large bodies of a page at once in a process, from one address and in all: two gigabytes at most.
PAGE_AND_ADDRESS, PAGE = 4, 20
_AGAIN_IN_SECONDS = 10
# Headers of HTTP/1.1 without one of which a request has no body (RFC 9112, 6.3).
_ANNOUNCING = {b"content-length", b"transfer-encoding"}
# A refused caller's body is read up to this size: else the connection would have to be closed.
_WORTH_READING = 64_000


@dataclass(frozen=True)
class Room:
    """How large a body may be; of a page's, also how long it may take, and whose it is."""

    size: int
    seconds: float = math.inf
    page: str | None = None
    address: str = ""


class Body(tempfile.SpooledTemporaryFile[bytes]):
    """A body that was read; once it is closed, its place among the large ones is free."""

    def __init__(self) -> None:
        super().__init__(max_size=_IN_MEMORY)
        self.size = 0
        self.place = ExitStack()

    def close(self) -> None:
        super().close()
        self.place.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class Places:
    """The large bodies that pages send now. Used by the event loop alone."""

    def __init__(self) -> None:
        self._taken = Counter[tuple[str, ...]]()

    @contextmanager
    def take(self, room: Room) -> Iterator[None]:
        """A place for a body; 429 if its page, or its address, has too many already."""
        if room.page is None:
            yield
            return
        most = {(room.page,): PAGE, (room.page, room.address): PAGE_AND_ADDRESS}
        if any(self._taken[holder] >= amount for holder, amount in most.items()):
            raise TooManyRequests(_AGAIN_IN_SECONDS)
        self._taken.update(most.keys())
        try:
            yield
        finally:
            self._taken.subtract(most.keys())
            self._taken += Counter()  # drops those that have none


_PLACES = Places()


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
    scope: dict[str, Any], receive: Receive, largest: Callable[[], Awaitable[Room]]
) -> Body:
    """The body in a file object.

    `largest` is asked once, when it becomes large: it tells how large it may be, or refuses.
    """
    body = Body()
    if not _is_announced(scope):
        return body
    try:
        room, more, pace = Room(_IN_MEMORY), True, _Pace()
        while more:
            message = await pace.next(receive)
            if message["type"] == "http.disconnect":
                raise BrokenBody
            piece = message.get("body", b"")
            body.size += len(piece)
            if body.size > room.size == _IN_MEMORY:
                room = await largest()
                pace.end_after(room.seconds)
                if body.size <= room.size:
                    body.place.enter_context(_PLACES.take(room))
            if body.size > room.size:
                raise TooLarge(f"A request has at most {room.size:,} bytes in all.")
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


def largest(request: HttpRequest) -> Room:
    """How large the body of this request may be; refuses a caller who may not send it."""
    proxies.look_behind(request.META)
    match = find_operation(request.path_info.rstrip("/"))
    if match is None:
        return Room(settings.MAX_JSON_BYTES)
    view: Any = match.func
    declared = operations_of(view.cls, view.actions).get((request.method or "").lower())
    if declared is None:
        return Room(settings.MAX_JSON_BYTES)
    size = _size(declared)
    if declared.access is PUBLIC:
        return Room(size)
    caller = declared.access.find_caller(request)
    if not caller.is_page:
        return Room(size)
    if caller.is_anybody and size > _IN_MEMORY:
        raise declared.access.refusal("So large a body needs a Visitor-Token beside a public key.")
    address = counted_address(request.META["REMOTE_ADDR"])
    return Room(size, PAGE_SECONDS, request.headers["API-KEY"], address)


def _size(declared: Operation) -> int:
    if isinstance(declared.body, Form) and declared.body.files:
        return settings.MAX_REQUEST_BYTES
    # What a server sends as often as it must is a callback.
    return settings.MAX_JSON_BYTES if declared.is_counted else settings.MAX_CALLBACK_BYTES
