"""Reads the body of a request in the event loop, before a thread serves the request.

A large body needs a valid credential, unless its operation is public, and may be as large as the
operation allows. A slow sender is cut off. Anyone can read a public key in a web page, so a large
body with a public key also needs a Visitor-Token and must arrive within minutes. Only a few such
bodies are read at once.
"""

import asyncio
import math
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from chatplatform.api import proxies
from chatplatform.api.bulkhead import Bulkhead
from chatplatform.api.errors import (
    MAX_HEADER_BYTES,
    BodyTimeout,
    HeadersTooLarge,
    MalformedBody,
    TooLarge,
)
from chatplatform.api.operation import PUBLIC, Form, Operation, operations_of
from chatplatform.api.rate_limits import counted_address
from chatplatform.api.routing import find_operation

Receive = Callable[[], Awaitable[dict[str, Any]]]
# A sender slower than this over PATIENCE_SECONDS is cut off.
MIN_BYTES_PER_SECOND, PATIENCE_SECONDS = 1_000, 10.0
# A larger body goes to a temporary file, and only then is the limit of its operation looked up.
_MAX_BYTES_IN_MEMORY = 1_000_000
# A large body with a public key must arrive within this time: 25 MB at 0.7 Mbit/s. At the slowest
# pace, the largest body would occupy the disk for a day.
PUBLIC_KEY_SECONDS = 300.0
# The maximum number of large bodies with one public key that a process reads at once: from one
# address, and from all addresses. Together, the latter take up to two gigabytes.
ADDRESS_UPLOADS, PUBLIC_KEY_UPLOADS = 4, 20
_UPLOAD_SLOTS = Bulkhead(retry_after=10)
# An HTTP/1.1 request has a body only if it has one of these headers (RFC 9112, 6.3).
_BODY_HEADERS = {b"content-length", b"transfer-encoding"}
# A refused caller's body is read up to this size, to keep the connection open.
_MAX_DRAINED_BYTES = 64_000


@dataclass(frozen=True)
class BodyLimit:
    """The maximum bytes and seconds of a body; `caps` limits how many each holder sends at once."""

    size: int
    seconds: float = math.inf
    caps: Mapping[str, int] = field(default_factory=dict)


class Body(tempfile.SpooledTemporaryFile[bytes]):
    """The body of a request; closing it frees its upload slot."""

    def __init__(self) -> None:
        super().__init__(max_size=_MAX_BYTES_IN_MEMORY)
        self.size = 0
        self.slot = ExitStack()

    def close(self) -> None:
        super().close()
        self.slot.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def check_headers(scope: dict[str, Any]) -> None:
    """Raise HeadersTooLarge if the headers exceed 16 KiB in total."""
    if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        raise HeadersTooLarge


def should_drain(scope: dict[str, Any]) -> bool:
    """Whether a refused caller's body is small enough to be read, to keep the connection open.

    Otherwise the response is sent before the body has arrived, and the connection is closed.
    """
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"0")
    is_small = length.isdigit() and int(length) <= _MAX_DRAINED_BYTES
    return is_small and b"transfer-encoding" not in headers


def _may_have_body(scope: dict[str, Any]) -> bool:
    """Whether a request may have a body; in HTTP/2, no header has to announce it."""
    names = {name for name, value in scope["headers"] if value != b"0"}
    return not scope["http_version"].startswith("1") or bool(names & _BODY_HEADERS)


async def read(
    scope: dict[str, Any], receive: Receive, largest: Callable[[], Awaitable[BodyLimit]]
) -> Body:
    """Read the body into a file object.

    When the body becomes large, `largest` is called once; it returns the limit or raises an error.
    """
    body = Body()
    if not _may_have_body(scope):
        return body
    try:
        limit, has_more, pace = BodyLimit(_MAX_BYTES_IN_MEMORY), True, _Pace()
        while has_more:
            message = await pace.next(receive)
            if message["type"] == "http.disconnect":
                raise MalformedBody
            piece = message.get("body", b"")
            body.size += len(piece)
            if body.size > limit.size == _MAX_BYTES_IN_MEMORY:
                limit = await largest()
                pace.end_after(limit.seconds)
                if body.size <= limit.size:
                    body.slot.enter_context(_UPLOAD_SLOTS.admit(limit.caps))
            if body.size > limit.size:
                raise TooLarge(f"A request may have up to {limit.size:,} bytes in total.")
            body.write(piece)
            has_more = message.get("more_body", False)
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body


class _Pace:
    """Checks periodically that a sender is fast enough."""

    def __init__(self) -> None:
        self._started_at = self._begun_at = time.monotonic()
        self._bytes, self._ends_at = 0, math.inf

    def end_after(self, seconds: float) -> None:
        """Allow the whole body this many seconds from its beginning."""
        self._ends_at = self._started_at + seconds

    async def next(self, receive: Receive) -> dict[str, Any]:
        """The next piece; raises BodyTimeout if it or the last few pieces took too long."""
        try:
            async with asyncio.timeout(min(PATIENCE_SECONDS, self._ends_at - time.monotonic())):
                message = await receive()
        except TimeoutError as exc:
            raise BodyTimeout from exc
        if time.monotonic() > self._ends_at:
            raise BodyTimeout
        self._bytes += len(message.get("body", b""))
        if (passed := time.monotonic() - self._begun_at) >= PATIENCE_SECONDS:
            if self._bytes < passed * MIN_BYTES_PER_SECOND and message.get("more_body"):
                raise BodyTimeout
            self._begun_at, self._bytes = time.monotonic(), 0
        return message


def largest(request: HttpRequest) -> BodyLimit:
    """The limit of this request's body; raises an error if the caller may not send it."""
    proxies.apply_forwarded_headers(request.META)
    match = find_operation(request.path_info.rstrip("/"))
    if match is None:
        may_send_files = request.path_info.startswith("/admin/") and _is_signed_in(request)
        return BodyLimit(settings.MAX_REQUEST_BYTES if may_send_files else settings.MAX_JSON_BYTES)
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
    if caller.is_anonymous_visitor and size > _MAX_BYTES_IN_MEMORY:
        raise declared.access.refusal("With a public key, a body this large needs a Visitor-Token.")
    key, address = request.headers["API-KEY"], counted_address(request.META["REMOTE_ADDR"])
    caps = {key: PUBLIC_KEY_UPLOADS, f"{key} {address}": ADDRESS_UPLOADS}
    return BodyLimit(size, PUBLIC_KEY_SECONDS, caps)


def _is_signed_in(request: HttpRequest) -> bool:
    """Whether a person is signed in to the site; the site's middleware has not run yet."""
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return get_user(request).is_authenticated


def _size(declared: Operation) -> int:
    if isinstance(declared.body, Form) and declared.body.files:
        return settings.MAX_REQUEST_BYTES
    # An operation with a body but without rate limits receives a provider's callbacks.
    return settings.MAX_JSON_BYTES if declared.is_counted else settings.MAX_CALLBACK_BYTES
