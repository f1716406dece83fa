"""Slow responses: replies and feeds that the event loop writes as their events arrive, and
responses that waiting threads create."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import close_old_connections
from django.http import HttpResponse, HttpResponseBase

from chatplatform.json_encoding import as_json
from chatplatform.live.pubsub import Listener

Send = Callable[[dict[str, Any]], Awaitable[None]]
PING_SECONDS = 15.0  # a comment line keeps proxies from closing a quiet stream


# The OpenAPI document uses this name for all events of the event log.
STORED_EVENT = "stored"


class StreamEvent(StrEnum):
    """The names of a stream's events; events from the event log are named by their type instead."""

    # The stream of a reply.
    MESSAGE = "message"  # the customer's message is stored
    DELTA = "delta"  # a further piece of the reply's text
    RESET = "reset"  # discard the pieces shown so far
    JOINED = "joined"  # a later message's reply also answers this message; never sent to readers
    DONE = "done"  # the result, or a turn that is still pending; always the last event
    # The live feed of the desk.
    READY = "ready"  # the stream is open; says who is online, and who is away
    PRESENCE = "presence"  # a person came or went
    AWAY = "away"  # a person set themselves as away or as available
    TYPING = "typing"  # somebody is typing, or has stopped
    VIEWING = "viewing"  # a person opened or left a chat
    DELETED = "deleted"  # a chat is no longer stored


class ServerSent(NamedTuple):
    """A server-sent event; a reader that reconnects sends the `id` of the last event it got."""

    event: str
    data: dict[str, Any]
    id: str = ""


Events = AsyncIterator[ServerSent]


class StreamingReply(HttpResponse):
    """A response that the event loop writes after the view has freed its thread.

    `follow(listener, in_thread)` yields events. If `as_stream`, they are sent as they come; if not,
    the response is the data of the last event as JSON, with the status that `status_of` returns.
    An `endless` stream ends when the process stops. `on_end` is called in a thread after the end.
    """

    def __init__(
        self,
        follow: Callable[[Listener, "InThread"], Events],
        *,
        as_stream: bool,
        status_of: Callable[[dict[str, Any]], int],
        endless: bool = False,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(content_type="text/event-stream" if as_stream else "application/json")
        self.follow = follow
        self.as_stream = as_stream
        self.status_of = status_of
        self.endless = endless
        self.on_end = on_end
        self["Cache-Control"] = "no-store"
        if as_stream:
            self["X-Accel-Buffering"] = "no"

    async def write_to(self, listener: Listener, threads: Executor, send: Send) -> None:
        """Send the whole response."""
        events = self.follow(listener, InThread(threads))
        if self.as_stream:
            await send(start_message(self))
            until = listener.stopping.requested if self.endless else None
            async for piece in with_pings(events, until):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
            return
        last: dict[str, Any] = {}
        async for sent in events:
            last = sent.data
        self.status_code = self.status_of(last)
        await send(start_message(self))
        await send({"type": "http.response.body", "body": as_json(last)})


def start_message(response: HttpResponseBase) -> dict[str, Any]:
    """The ASGI message with the status and headers of a response."""
    pairs = [(name.lower(), value) for name, value in response.items()]
    pairs += [("set-cookie", cookie.OutputString()) for cookie in response.cookies.values()]
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


class WaitingResponse(HttpResponse):
    """A response that `act` creates outside of the few web threads, since it waits for another
    server."""

    def __init__(self, act: Callable[[], HttpResponseBase]) -> None:
        super().__init__()
        context = contextvars.copy_context()
        self.act: Callable[[], HttpResponseBase] = lambda: context.run(act)

    def finish(self) -> HttpResponseBase:
        """The response of `act`, with the headers that the middleware set on this one."""
        close_old_connections()
        try:
            response = self.act()
        finally:
            self.close()  # closes the request's files and releases the database connection
        for name, value in self.items():
            if name != "Content-Type":
                response.headers.setdefault(name, value)
        return response


class InThread:
    """Runs database reads of an open stream in the web threads."""

    def __init__(self, threads: Executor) -> None:
        self.threads = threads

    async def __call__(self, read: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(
            self.threads, _with_connection, read, *args
        )


def _with_connection(read: Callable[..., Any], *args: Any) -> Any:
    """Read on a working connection: outside of a request, nothing else checks the connection."""
    close_old_connections()
    return read(*args)


async def with_pings(
    events: Events, until: asyncio.Future[None] | None = None
) -> AsyncIterator[bytes]:
    """Yield the events in the format of WHATWG HTML 9.2, and a comment line after each quiet
    period; end after the last event, or when `until` is done.
    """
    waiting: asyncio.Future[Any] | None = None
    ends = {until} if until else set()
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait(
                {waiting, *ends}, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if done & ends:
                return
            if not done:
                yield b": ping\n\n"
                continue
            try:
                sent = waiting.result()
            except StopAsyncIteration:
                return
            waiting = None
            start = f"id: {sent.id}\nevent: " if sent.id else "event: "
            yield f"{start}{sent.event}\ndata: ".encode() + as_json(sent.data) + b"\n\n"
    finally:
        if waiting:
            waiting.cancel()  # the reader has disconnected, or `until` is done
