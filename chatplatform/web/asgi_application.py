"""The web process: Django runs in threads, open streams in the event loop, both on one port.

A view that must wait for a reply or for events first stores its changes, then returns a
`StreamingReply` and frees its thread; the event loop waits and writes. So even a thousand waiting
streams occupy no thread, and everything else runs as plain synchronous Django.
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
from chatplatform.api.operation import CAN_WAIT, HOLDERS, RATE_LIMIT_RESULT
from chatplatform.api.outgoing_call_limits import WAITING_THREADS
from chatplatform.live.pubsub import Listener
from chatplatform.live.stopping import Stopping
from chatplatform.live.streaming import Send, StreamingReply, WaitingResponse, start_message
from chatplatform.web import bodies, request_metrics
from chatplatform.web.bodies import Receive
from chatplatform.web.early_rate_limit import Refusals, sent_id
from chatplatform.web.thread_limits import THREADS, ThreadLimits

# The health check has its own threads, so that it responds even while all others hang.
HEALTH_THREADS = 2
# `/health/live` decides whether a container is restarted. It has its own thread, so that it
# responds even while `/health` is flooded with requests.
LIVE_THREADS = 1
# If a client reads nothing of a stream or file for this long, the response is aborted.
READER_SECONDS = 60.0


class _ReaderStalled(Exception):
    """The client has stopped reading the response."""


class Application:
    """The ASGI application; `chatplatform.asgi` creates one for the process."""

    def __init__(self) -> None:
        self.handler = BaseHandler()
        self.handler.load_middleware()
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="web")
        self.waiting = ThreadPoolExecutor(WAITING_THREADS, thread_name_prefix="waiting")
        self.health = ThreadPoolExecutor(HEALTH_THREADS, thread_name_prefix="health")
        self.live = ThreadPoolExecutor(LIVE_THREADS, thread_name_prefix="live")
        self.thread_limits = ThreadLimits()
        self.refusals = Refusals()
        self.listener: Listener | None = None

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if request_metrics.is_on():
            await request_metrics.serve(self.serve, scope, receive, send)
        else:
            await self.serve(scope, receive, send)

    async def serve(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()

        async def find_limit() -> bodies.BodyLimit:
            return await loop.run_in_executor(self.threads, self.body_limit, scope)

        refusal = self.refusals.find(scope)
        if refusal and not bodies.should_drain(scope):
            await _send_early(refusal, send)
            return
        try:
            bodies.check_headers(scope)
            body = await bodies.read(scope, receive, find_limit)
        except Exception as exc:
            refusal = early_response(sent_id(scope), partial(render, exc))
            await _send_early(refusal, send)
            return
        if refusal:
            body.close()
            await _send(refusal, send)
            return
        with body:
            async with self.thread_limits.take(scope):
                threads = self.threads_for(scope["path"])
                response = await loop.run_in_executor(threads, self.respond, scope, body)
            self.refusals.remember(scope, response)
            self.thread_limits.remember(scope)
            if isinstance(response, WaitingResponse | StreamingReply):
                scope[request_metrics.WAITS] = True
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

    def body_limit(self, scope: dict[str, Any]) -> bodies.BodyLimit:
        """The size limit of the request's body; raises an error if the caller may not send it.
        Runs in a thread."""
        empty = io.BytesIO()
        empty.size = 0  # type: ignore[attr-defined]
        signals.request_started.send(sender=self.__class__, environ={})
        try:
            return bodies.largest(WSGIRequest(_environ(scope, empty)))
        finally:
            signals.request_finished.send(sender=self.__class__)

    def respond(self, scope: dict[str, Any], body: Any) -> HttpResponseBase:
        """Django's response to the request. Runs in a thread."""
        signals.request_started.send(sender=self.__class__, environ={})
        request = WSGIRequest(_environ(scope, body))
        response = self.handler.get_response(request)
        match = request.resolver_match
        scope[request_metrics.ROUTE] = match.route if match else None
        scope[RATE_LIMIT_RESULT] = request.META.get(RATE_LIMIT_RESULT)
        scope[HOLDERS] = request.META.get(HOLDERS)
        if isinstance(response, WaitingResponse):
            # This releases the database connection. The request's files are still needed, until
            # `finish` closes them.
            signals.request_finished.send(sender=self.__class__)
        elif not response.streaming or isinstance(response, StreamingReply):
            response.close()  # sends request_finished, which releases the database connection
        return response

    async def _send_file(self, response: HttpResponseBase, receive: Receive, send: Send) -> None:
        """Send a file; close it as soon as the reader has all of it or has disconnected."""
        try:
            await _until_disconnected(self._send_pieces(response, _with_timeout(send)), receive)
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
            sending = response.write_to(self.listener, self.threads, _with_timeout(send))
            await _until_disconnected(sending, receive)
        finally:
            if response.on_end:
                self.threads.submit(response.on_end)


async def _until_disconnected(sending: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Send a response; stop if its reader disconnects or stops reading."""
    disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
    work = asyncio.ensure_future(sending)
    await asyncio.wait({disconnect, work}, return_when=asyncio.FIRST_COMPLETED)
    disconnect.cancel()
    if work.done():
        with contextlib.suppress(_ReaderStalled):
            work.result()
        return
    work.cancel()
    await asyncio.wait({work})


def _with_timeout(send: Send) -> Send:
    """`send`, but raising _ReaderStalled if the client reads nothing for too long."""

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


async def _send_early(response: Any, send: Send) -> None:
    """Send a response without reading the rest of the request, then close the connection."""
    response["Connection"] = "close"
    await _send(response, send)


async def _send(response: Any, send: Send) -> None:
    await send(start_message(response))
    await send({"type": "http.response.body", "body": response.content})
