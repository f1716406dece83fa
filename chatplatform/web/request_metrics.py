"""Counts and traces the requests of the web process, if it serves metrics or sends traces."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from chatplatform.live.streaming import Send
from chatplatform.observing import metrics, tracing
from chatplatform.web.bodies import Receive

# Keys in the ASGI scope: the route that serves the request, and whether the request waits for a
# reply or another server.
ROUTE, WAITS = "chatplatform.route", "chatplatform.waits"
NO_ROUTE = "none"
# All other methods, which callers may invent, are counted as "other".
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

Serve = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


def is_on() -> bool:
    """Whether this process serves metrics or sends traces."""
    return metrics.REQUESTS.made is not None or tracing.is_on()


class _Measurement:
    """Measures one request: passes the response on and records its beginning and end."""

    def __init__(self, scope: dict[str, Any], send: Send) -> None:
        self._scope, self._send = scope, send
        self._started_at, self._started_ns = time.monotonic(), time.time_ns()
        self._status, self._request_id, self._is_stream = "none", "", False

    async def send(self, message: dict[str, Any]) -> None:
        """Pass a message of the application on to the server."""
        if message["type"] == "http.response.start":
            self._record_start(message)
        await self._send(message)

    def _record_start(self, message: dict[str, Any]) -> None:
        headers = dict(message["headers"])
        self._status = str(message["status"])
        self._request_id = headers.get(b"x-request-id", b"").decode()
        self._is_stream = headers.get(b"content-type", b"").startswith(b"text/event-stream")
        if self._is_stream:
            metrics.STREAMS.add(self._route)

    @property
    def _route(self) -> str:
        return str(self._scope.get(ROUTE) or NO_ROUTE)

    def end(self) -> None:
        """Record the end: the response is sent, or its reader has disconnected."""
        method = self._scope["method"] if self._scope["method"] in _METHODS else "other"
        metrics.REQUESTS.add(self._route, method, self._status)
        if self._is_stream:
            metrics.STREAMS.add(self._route, amount=-1)
        elif WAITS not in self._scope:
            metrics.REQUEST_SECONDS.observe(time.monotonic() - self._started_at, self._route)
        tracing.record_request(
            self._request_id,
            f"{method} {self._route}",
            started_ns=self._started_ns,
            status=self._status,
        )


async def serve(serve: Serve, scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Serve a request and measure it."""
    request = _Measurement(scope, send)
    try:
        await serve(scope, receive, request.send)
    finally:
        request.end()
