"""The web process: Django runs in threads, open streams in the event loop, both on one port.

A view that must wait for a reply or for events first stores its changes, then returns a
`StreamingReply` and frees its thread; the event loop waits and writes. So a thousand open streams
need no thread, and everything else runs as plain synchronous Django.
"""

import asyncio
import contextlib
import io
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.core import signals
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponseBase

from chatplatform.api.errors import render
from chatplatform.api.middleware import early_response
from chatplatform.api.operation import ALLOWANCE, CAN_WAIT, HOLDERS
from chatplatform.api.outgoing_call_limits import WAITING_THREADS
from chatplatform.live.pubsub import Listener
from chatplatform.live.stopping import Stopping
from chatplatform.live.streaming import Send, StreamingReply, WaitingResponse, start_message
from chatplatform.web import bodies, measured
from chatplatform.web.bodies import Receive
from chatplatform.web.early_rate_limit import Refusals, sent_id
from chatplatform.web.turns import THREADS, Turns

# Check Health answers even while every other thread hangs.
HEALTH_THREADS = 2
# If a client reads nothing of a stream or file for this long, the response is aborted.
READER_SECONDS = 60.0
# `/health/live` answers even while Check Health is flooded, since it decides whether a container is
# restarted.
LIVE_THREADS = 1


class _ReaderStalled(Exception):
    """The client has stopped reading the response."""


class Application:
    """The ASGI application; `chatplatform.asgi` makes one for the process."""

    def __init__(self) -> None:
        self.handler = BaseHandler()
        self.handler.load_middleware()
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="web")
        self.waiting = ThreadPoolExecutor(WAITING_THREADS, thread_name_prefix="waiting")
        self.health = ThreadPoolExecutor(HEALTH_THREADS, thread_name_prefix="health")
        self.live = ThreadPoolExecutor(LIVE_THREADS, thread_name_prefix="live")
        self.turns = Turns()
        self.refusals = Refusals()
        self.listener: Listener | None = None

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if measured.is_on():
            await measured.serve(self.serve, scope, receive, send)
        else:
            await self.serve(scope, receive, send)

    async def serve(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()

        async def largest() -> bodies.BodyLimit:
            return await loop.run_in_executor(self.threads, self.largest, scope)

        refusal = self.refusals.find(scope)
        if refusal and not bodies.is_worth_reading(scope):
            await _send_ahead(refusal, send)
            return
        try:
            bodies.check_headers(scope)
            body = await bodies.read(scope, receive, largest)
        except Exception as exc:
            refusal = early_response(sent_id(scope), partial(render, exc))
            await _send_ahead(refusal, send)
            return
        if refusal:
            body.close()
            await _send(refusal, send)
            return
        with body:
            async with self.turns.take(scope):
                threads = self.threads_for(scope["path"])
                response = await loop.run_in_executor(threads, self.respond, scope, body)
            self.refusals.note(scope, response)
            self.turns.note(scope)
            if isinstance(response, WaitingResponse | StreamingReply):
                scope[measured.WAITS] = True
            if isinstance(response, WaitingResponse):
                response = await loop.run_in_executor(self.waiting, response.finish)
        if isinstance(response, StreamingReply):
            await self._write_stream(response, receive, send)
        elif response.streaming:
            await self._send_file(response, receive, send)
        else:
            await _send(response, send)

    def threads_for(self, path: str) -> ThreadPoolExecutor:
        """The threads that serve this path."""
        if path.startswith("/health/live"):
            return self.live
        return self.health if path.startswith("/health") else self.threads

    def largest(self, scope: dict[str, Any]) -> bodies.BodyLimit:
        """The limit of the body; raises a refusal. Runs in a thread."""
        nothing = io.BytesIO()
        nothing.size = 0  # type: ignore[attr-defined]
        signals.request_started.send(sender=self.__class__, environ={})
        try:
            return bodies.largest(WSGIRequest(_environ(scope, nothing)))
        finally:
            signals.request_finished.send(sender=self.__class__)

    def respond(self, scope: dict[str, Any], body: Any) -> HttpResponseBase:
        """Let Django make the response. Runs in a thread."""
        signals.request_started.send(sender=self.__class__, environ={})
        request = WSGIRequest(_environ(scope, body))
        response = self.handler.get_response(request)
        match = request.resolver_match
        scope[measured.ROUTE] = match.route if match else None
        scope[ALLOWANCE] = request.META.get(ALLOWANCE)
        scope[HOLDERS] = request.META.get(HOLDERS)
        if not response.streaming or isinstance(response, StreamingReply):
            response.close()  # sends request_finished, which returns the connection
        return response

    async def _send_file(self, response: HttpResponseBase, receive: Receive, send: Send) -> None:
        """Send a file, and close it as soon as the reader has it all or has disconnected."""
        try:
            await _until_gone(self._send_pieces(response, _patiently(send)), receive)
        finally:
            await asyncio.get_running_loop().run_in_executor(self.threads, response.close)

    async def _send_pieces(self, response: HttpResponseBase, send: Send) -> None:
        """Send a file that is read in a thread, piece by piece."""
        loop = asyncio.get_running_loop()
        await send(start_message(response))
        pieces = iter(response)
        while piece := await loop.run_in_executor(self.threads, next, pieces, b""):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _write_stream(self, response: StreamingReply, receive: Receive, send: Send) -> None:
        if self.listener is None:
            self.listener = Listener(Stopping())
        try:
            answer = response.write_to(self.listener, self.threads, _patiently(send))
            await _until_gone(answer, receive)
        finally:
            if response.on_end:
                self.threads.submit(response.on_end)


async def _until_gone(answer: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Send an answer; stop if its reader disconnects or stops reading."""
    gone = asyncio.ensure_future(_wait_for_disconnect(receive))
    work = asyncio.ensure_future(answer)
    await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
    gone.cancel()
    if work.done():
        with contextlib.suppress(_ReaderStalled):
            work.result()
        return
    work.cancel()
    await asyncio.wait({work})


def _patiently(send: Send) -> Send:
    """A `send` for long responses; it raises _ReaderStalled if the client reads nothing for too
    long."""

    async def send_piece(message: dict[str, Any]) -> None:
        try:
            async with asyncio.timeout(READER_SECONDS):
                await send(message)
        except TimeoutError as exc:
            raise _ReaderStalled from exc

    return send_piece


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _environ(scope: dict[str, Any], body: Any) -> dict[str, Any]:
    """The WSGI environ (PEP 3333) of an ASGI scope."""
    host, port = scope.get("server") or ("localhost", 80)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode("utf-8").decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": (scope.get("client") or ("", 0))[0],
        CAN_WAIT: True,
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1").upper()
        if "_" in name:
            continue  # dropped, since X_Y and X-Y would become the same name
        name = name.replace("-", "_")
        key = name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"
        value = raw_value.decode("latin-1")
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_LENGTH"] = str(body.size)
    return environ


async def _send_ahead(response: Any, send: Send) -> None:
    """Send a response without reading the rest of the request, then close the connection."""
    response["Connection"] = "close"
    await _send(response, send)


async def _send(response: Any, send: Send) -> None:
    await send(start_message(response))
    await send({"type": "http.response.body", "body": response.content})
