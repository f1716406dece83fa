"""Calls from the providers to the platform: callbacks, and the check of a callback's address."""

import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Protocol
from urllib.parse import urlsplit


class Wire(Protocol):
    """How the platform is reached; a refused or broken call raises OSError or HTTPException."""

    def call(
        self, method: str, url: str, headers: dict[str, str], body: bytes, *, timeout: float
    ) -> tuple[int, bytes]: ...


class Sockets:
    """Real HTTP, over connections that each thread keeps."""

    def __init__(self) -> None:
        self._threads = threading.local()

    def call(
        self, method: str, url: str, headers: dict[str, str], body: bytes, *, timeout: float
    ) -> tuple[int, bytes]:
        parts = urlsplit(url)
        kept: dict[str, HTTPConnection] = self._threads.__dict__.setdefault("kept", {})
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection = kept.pop(url, None)
        if connection is not None:
            try:
                return self._exchange(connection, (method, path, body, headers), timeout, url)
            except TimeoutError:
                raise
            except (OSError, HTTPException):
                # It was closed meanwhile: a new one is tried.
                connection.close()
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.netloc, timeout=timeout)
        try:
            return self._exchange(connection, (method, path, body, headers), timeout, url)
        except (OSError, HTTPException):
            connection.close()
            raise

    def _exchange(
        self,
        connection: HTTPConnection,
        call: tuple[str, str, bytes, dict[str, str]],
        timeout: float,
        url: str,
    ) -> tuple[int, bytes]:
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        method, path, body, headers = call
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        data = response.read()
        if not response.will_close:
            self._threads.kept[url] = connection
        return response.status, data
