"""The guarded transport: it connects only to checked addresses, and limits time and size."""

import functools
import select
import socket
import ssl
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import httpcore2
import httpx2
from django.utils.translation import gettext_noop

from chatplatform import cpu_slots
from chatplatform.egress.guard import (
    ConnectionFailed,
    ConnectionRefused,
    EgressError,
    Guard,
    Timeout,
    TooLarge,
    deadline,
    seconds_left,
)

MAX_HEADER_BYTES = 32_768
_PIECE_BYTES = 65_536


class GuardedTransport(httpx2.BaseTransport):
    """Sends every request of an HTTP client, and checks each one, including redirects."""

    def __init__(self, timeout_seconds: float, max_bytes: int, guard: Guard) -> None:
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes
        self._guard = guard
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_tls(),
            max_connections=10,
            keepalive_expiry=5,
            network_backend=_Backend(guard),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._guard.check_target(request.url)
        ends_at = time.monotonic() + self._timeout_seconds
        cpu_slots.release()
        with _within(ends_at):
            response = self._pool.handle_request(self._core_request(request))
            body = _Body(cast("Iterable[bytes]", response.stream), ends_at, self._max_bytes)
        try:
            headers = body.accept_headers(response.headers)
        except EgressError:
            body.close()
            raise
        return httpx2.Response(status_code=response.status, headers=headers, stream=body)

    def close(self) -> None:
        self._pool.close()

    def _core_request(self, request: httpx2.Request) -> httpcore2.Request:
        url = request.url
        return httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=cast("Iterable[bytes]", request.stream),
            # Our sockets limit every other wait, but not the wait for a free connection.
            extensions={"timeout": {"pool": self._timeout_seconds}},
        )


@contextmanager
def _within(ends_at: float) -> Iterator[None]:
    """Set the exchange's deadline, and convert the client library's errors to ours."""
    try:
        with deadline(ends_at):
            yield
    except httpcore2.TimeoutException:
        raise Timeout("The request timed out.") from None
    except (
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.UnsupportedProtocol,
    ) as error:
        raise ConnectionFailed("The response ended early or is not HTTP.") from error


class _Body(httpx2.SyncByteStream):
    """The body of a response, decompressed and counted piece by piece."""

    def __init__(self, stream: Iterable[bytes], ends_at: float, max_bytes: int) -> None:
        self._stream = stream
        self._ends_at = ends_at
        self._left = max_bytes
        self._gzip: Any = None
        self._is_fed = False

    def accept_headers(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Check the headers; return the headers that also describe the decompressed body."""
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
            raise TooLarge(f"The headers have more than {MAX_HEADER_BYTES} bytes.")
        codings = [value.lower() for name, value in headers if name.lower() == b"content-encoding"]
        if all(coding in {b"", b"identity"} for coding in codings):
            return headers
        if codings not in ([b"gzip"], [b"x-gzip"]):
            raise ConnectionFailed("The response has an encoding that wasn't requested.")
        self._gzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
        outdated = {b"content-encoding", b"content-length"}
        return [(name, value) for name, value in headers if name.lower() not in outdated]

    def __iter__(self) -> Iterator[bytes]:
        chunks = iter(self._stream)
        while True:
            with _within(self._ends_at):
                seconds_left()
                chunk = next(chunks, None)
            if chunk is None:
                break
            for piece in (chunk,) if self._gzip is None else self._inflated(chunk):
                self._left -= len(piece)
                if self._left < 0:
                    raise TooLarge("The response is larger than allowed.")
                yield piece
        if self._is_fed and not self._gzip.eof:
            raise ConnectionFailed("The compressed response ended early.")

    def close(self) -> None:
        close = getattr(self._stream, "close", None)
        if close is not None:
            with _within(self._ends_at):
                close()

    def _inflated(self, chunk: bytes) -> Iterator[bytes]:
        """Inflate in bounded pieces: a few megabytes can inflate to gigabytes."""
        self._is_fed = full = True
        while chunk or full:
            try:
                piece = self._gzip.decompress(chunk, _PIECE_BYTES)
            except zlib.error as error:
                raise ConnectionFailed("The compressed response is damaged.") from error
            if piece:
                yield piece
            full = len(piece) == _PIECE_BYTES
            chunk = self._gzip.unconsumed_tail


class _Backend(httpcore2.NetworkBackend):
    """Opens sockets to checked addresses only, without resolving the name a second time."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failure: EgressError = ConnectionFailed("The name has no address.")
        with _nothing_sent():
            for family, address in self._guard.addresses(host, port):
                try:
                    return _Stream(_connected(family, address))
                except ConnectionFailed as error:
                    failure = error
            raise failure


class _Stream(httpcore2.NetworkStream):
    """A socket whose operations wait at most until the exchange's deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _socket_errors():
            self._sock.settimeout(seconds_left())
            return self._sock.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        with _socket_errors():
            while rest:
                self._sock.settimeout(seconds_left())
                rest = rest[self._sock.send(rest) :]

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            with _nothing_sent(), _socket_errors():
                self._sock.settimeout(seconds_left())
                wrapped = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
        except EgressError:
            self.close()
            raise
        return _Stream(wrapped)

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            # The pool asks this about an idle connection: it is readable if the server closed it.
            poll = select.poll()
            poll.register(self._sock, select.POLLIN)
            return bool(poll.poll(0))
        return None


def _connected(family: socket.AddressFamily, address: Any) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        with _socket_errors():
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(seconds_left())
            sock.connect(address)
    except EgressError:
        sock.close()
        raise
    return sock


@contextmanager
def _nothing_sent() -> Iterator[None]:
    """Mark errors that occur before the request is sent, so that a retry is safe."""
    try:
        yield
    except EgressError as error:
        error.nothing_sent = True
        raise


@contextmanager
def _socket_errors() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise Timeout("The request timed out.") from None
    except ConnectionRefusedError:
        raise ConnectionRefused from None
    except ssl.SSLCertVerificationError as error:
        message = gettext_noop("The server's certificate isn't valid for this address.")
        raise ConnectionFailed(message) from error
    except (OSError, ValueError) as error:
        # ValueError: OpenSSL does not accept the host as a server name.
        raise ConnectionFailed("The connection failed.") from error


@functools.cache
def _tls() -> ssl.SSLContext:
    # Cached, because reading the certificates takes longer than a local request.
    return httpx2.create_ssl_context(trust_env=False)
