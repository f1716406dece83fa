"""The HTTP server around `routing.handle`. Its responses may break off on demand."""

import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from simulator import routing
from simulator.http import Request, Response
from simulator.state import Simulator

MAX_BODY = 120_000_000


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, simulator: Simulator, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((host, port), _Handler)
        self.simulator = simulator
        simulator.origin = f"http://{host}:{self.server_port}"

    def start(self, *, stops_within: float = 0.5) -> None:
        """Serve in a thread, which checks every `stops_within` seconds whether to stop."""
        threading.Thread(target=self.serve_forever, args=(stops_within,), daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Callers disconnect, and faults break connections: report only other errors.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    # Send headers and body in one packet.
    wbufsize = -1
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY:
            self._send(Response(b"", 413))
            self.close_connection = True
            return
        body = self._chunked() if self.headers.get("Transfer-Encoding") else self.rfile.read(length)
        if not self._is_called_by_own_name():
            self._send(Response(b"", 421))
            return
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, url.path, query, headers, body)
        self._send(routing.handle(self.server.simulator, request))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def _is_called_by_own_name(self) -> bool:
        """Whether `Host` is one of our own names, as a defense against DNS rebinding."""
        own = str(self.server.server_address[0])
        name = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        return own in {"0.0.0.0", "::"} or name in {own, "localhost", "127.0.0.1", "::1"}

    def _chunked(self) -> bytes:
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, response: Response) -> None:
        if response.delay:
            time.sleep(response.delay)
        if response.sending == "reset":
            self._reset()
            return
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if response.sending == "cut":
            self.wfile.write(response.body[: len(response.body) // 2])
            self.close_connection = True
            return
        self.wfile.write(response.body)

    def _reset(self) -> None:
        """Break the connection so that the caller sees a reset."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, since the simulator has its own log of calls."""
