"""Calls from the providers to the platform: callbacks, and checks of a callback's URL."""

import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Protocol
from urllib.parse import urlsplit


class Wire(Protocol):
    """A way to call the platform. Without a response, it raises OSError or HTTPException."""

    def call(
        self, method: str, url: str, headers: dict[str, str], body: bytes, *, timeout: float
    ) -> tuple[int, bytes]: ...

    def close(self) -> None: ...


class Sockets:
    """Real HTTP over keep-alive connections; each thread has its own connections."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self._open: set[HTTPConnection] = set()

    def call(
        self, method: str, url: str, headers: dict[str, str], body: bytes, *, timeout: float
    ) -> tuple[int, bytes]:
        parts = urlsplit(url)
        kept: dict[str, HTTPConnection] = self._threads.__dict__.setdefault("kept", {})
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        for connection in (kept.pop(parts.netloc, None), None):
            is_kept = connection is not None
            connection = connection or self._connection(parts.scheme, parts.netloc)
            connection.timeout = timeout
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            try:
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                data = response.read()
            except (OSError, HTTPException) as error:
                self._close(connection)
                # The platform may have closed the idle connection, so try a new one.
                if not is_kept or isinstance(error, TimeoutError):
                    raise
                continue
            if response.will_close:
                self._close(connection)
            else:
                kept[parts.netloc] = connection
            return response.status, data
        raise AssertionError("a new connection either answers or raises")

    def _connection(self, scheme: str, netloc: str) -> HTTPConnection:
        connection = (HTTPSConnection if scheme == "https" else HTTPConnection)(netloc)
        self._open.add(connection)
        return connection

    def _close(self, connection: HTTPConnection) -> None:
        connection.close()
        self._open.discard(connection)

    def close(self) -> None:
        for connection in list(self._open):
            self._close(connection)
