"""Responses that take time: written by the event loop, or made in the pool that may wait."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

from django.db import close_old_connections
from django.http import HttpResponse, HttpResponseBase

from chatplatform.api.encoding import as_json
from chatplatform.web.live import Listener

Send = Callable[[dict[str, Any]], Awaitable[None]]
PING_SECONDS = 15.0  # a comment line, so that no proxy takes a quiet stream for a dead one


class ServerSent(NamedTuple):
    """One server-sent event; a reader who comes back names the last `id` that he has seen."""

    event: str
    data: dict[str, Any]
    id: str = ""


Events = AsyncIterator[ServerSent]


class StreamingReply(HttpResponse):
    """A response that is written later, by `follow`, once its thread is free.

    `follow(listener, in_thread)` yields what is sent with `as_stream`; else the data of the last
    is the JSON answer and `status_of` gives its status.
    """

    def __init__(
        self,
        follow: Callable[[Listener, "InThread"], Events],
        *,
        as_stream: bool,
        status_of: Callable[[dict[str, Any]], int],
    ) -> None:
        super().__init__(content_type="text/event-stream" if as_stream else "application/json")
        self.follow = follow
        self.as_stream = as_stream
        self.status_of = status_of
        self["Cache-Control"] = "no-store"
        if as_stream:
            self["X-Accel-Buffering"] = "no"

    async def write_to(self, listener: Listener, threads: Executor, send: Send) -> None:
        """Send the whole response; ends when `follow` does."""
        events = self.follow(listener, InThread(threads))
        if self.as_stream:
            await send(self._start(200))
            async for piece in with_pings(events):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
            return
        last: dict[str, Any] = {}
        async for sent in events:
            last = sent.data
        await send(self._start(self.status_of(last)))
        await send({"type": "http.response.body", "body": as_json(last)})

    def _start(self, status: int) -> dict[str, Any]:
        headers = [(n.lower().encode(), v.encode("latin-1")) for n, v in self.items()]
        return {"type": "http.response.start", "status": status, "headers": headers}


class WaitingResponse(HttpResponse):
    """A response that another thread makes: `act` waits for a server that may be slow.

    The web threads are few and serve everybody; what waits for a model or a receiver must not
    hold one of them.
    """

    def __init__(self, act: Callable[[], HttpResponseBase]) -> None:
        super().__init__()
        context = contextvars.copy_context()
        self.act: Callable[[], HttpResponseBase] = lambda: context.run(act)

    def finish(self) -> HttpResponseBase:
        """The response itself, with what the middleware wrote on this one."""
        close_old_connections()
        try:
            response = self.act()
        finally:
            close_old_connections()
        for name, value in self.items():
            if name != "Content-Type":
                response.headers.setdefault(name, value)
        return response


class InThread:
    """Runs database reads of a held connection in the web threads."""

    def __init__(self, threads: Executor) -> None:
        self.threads = threads

    async def __call__(self, read: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.threads, _fresh, read, *args)


def _fresh(read: Callable[..., Any], *args: Any) -> Any:
    """Read on a connection that works: outside a request nobody else checks it."""
    close_old_connections()
    return read(*args)


async def with_pings(events: Events) -> AsyncIterator[bytes]:
    """Events as server-sent events (WHATWG HTML 9.2), with a comment in every quiet spell."""
    waiting: asyncio.Future[Any] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait({waiting}, timeout=PING_SECONDS)
            if not done:
                yield b": ping\n\n"
                continue
            try:
                sent = waiting.result()
            except StopAsyncIteration:
                return
            waiting = None
            named = f"id: {sent.id}\nevent: " if sent.id else "event: "
            yield f"{named}{sent.event}\ndata: ".encode() + as_json(sent.data) + b"\n\n"
    finally:
        if waiting:
            waiting.cancel()  # a reader who has gone away waits for nothing any more
