"""A server that a bot's functions call: it responds according to its mode and records requests.

Modes: ok (returns `reply`, which is bytes or becomes JSON), slow (slow:2 for two seconds), 404 or
any other status, redirect, huge, echo (returns the request's headers), close (closes the connection
without a response).
"""

import json
import sys
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chatplatform.testing.servers import serving


@dataclass
class ToolRequest:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class ToolServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mode = "ok"
        self.reply: Any = {"status": "on its way", "arrives": "24 November"}
        self.requests: list[ToolRequest] = []

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Tests close connections on purpose; show any other error.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def running() -> AbstractContextManager[ToolServer]:
    """A server on a free port of the loopback."""
    return serving(ToolServer())


class _Handler(BaseHTTPRequestHandler):
    server: ToolServer
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append(ToolRequest(self.command, self.path, dict(self.headers), body))
        mode = self.server.mode
        if mode.startswith("slow"):
            time.sleep(float(mode.partition(":")[2] or 30))
        if mode == "close":
            self.close_connection = True
        elif mode == "redirect":
            self._answer(302, b"", Location=f"http://{self.server.host_port}/elsewhere")
        elif mode == "huge":
            self._answer(200, b"x" * 5_000_000)
        elif mode == "echo":
            self._answer(200, json.dumps(dict(self.headers)).encode())
        else:
            status = int(mode) if mode.isdigit() else 200
            reply = self.server.reply
            body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self._answer(status, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, to keep the tests' output readable."""
