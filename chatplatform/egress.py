"""The only way out: HTTP to other people's servers, guarded against reaching our own.

A URL is parsed once, by the client's own type. Every address of its name is checked, and the
connection goes to the very address that was checked, with the name kept for Host and SNI. One
deadline covers an exchange as a whole; sizes are counted after decompression. Redirects are not
followed and the environment's proxies are not used.
"""

import functools
import ipaddress
import logging
import queue
import re
import select
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import httpcore2
import httpx2
from django.conf import settings

REFUSAL = "The destination is not allowed."
TIMEOUT_SECONDS = 15
MAX_BYTES = 2_000_000
MAX_HEADER_BYTES = 32_768
_LOOKUP_SECONDS = 5
_PIECE_BYTES = 65_536
_PORTS = frozenset({80, 443})
_USER_AGENT = "chatplatform/1.0"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,253}")

# `is_global` of Python 3.11 calls most of these global.
_REFUSED_NETWORKS = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier NAT, and some clouds' metadata
        "192.0.0.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",  # Teredo and other protocol assignments
        "2001:db8::/32",
        "2002::/16",  # 6to4 hides an IPv4 address and has no honest use left
        "3fff::/20",
    )
)
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

logger = logging.getLogger(__name__)

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class EgressError(Exception):
    """The base of what can go wrong on the way out."""


class Blocked(EgressError):
    """A destination that we do not talk to. The text is one for all, so that it maps nothing."""

    def __init__(self) -> None:
        super().__init__(REFUSAL)


class Timeout(EgressError):
    """The exchange as a whole took longer than it may."""


class TooLarge(EgressError):
    """The answer, decompressed, or its headers are over the limit."""


class ConnectionFailed(EgressError):
    """No name, no connection, no TLS, or an answer that breaks off or is not HTTP."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    duration_ms: int


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    content: bytes | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    max_bytes: int = MAX_BYTES,
    purpose: str,
    allow: Collection[str] = (),
    only_hosts: Collection[str] | None = None,
) -> Reply:
    """One exchange, redirects returned as they come; raises an EgressError.

    `allow` names further "host:port" pairs that may be private. `only_hosts` pins the request to
    these hosts (".example.com" for all below one): set it wherever credentials are sent along.
    """
    started = time.monotonic()
    target = _parsed(url, purpose)
    if only_hosts is not None and not _is_pinned(target.host, only_hosts):
        raise _blocked(target.host, purpose, "host not pinned")
    with client(
        timeout_seconds=timeout_seconds, max_bytes=max_bytes, purpose=purpose, allow=allow
    ) as http:
        try:
            answer = http.request(method, target, headers=headers, json=json, content=content)
        except httpx2.HTTPError as error:
            raise ConnectionFailed("The answer is not valid HTTP.") from error
    spent = round((time.monotonic() - started) * 1000)
    return Reply(answer.status_code, dict(answer.headers), answer.content, spent)


Kept = httpx2.Client  # a client that is kept for many exchanges with one server


def post(
    via: Kept, url: str, *, headers: Mapping[str, str], content: bytes, read_bytes: int
) -> Reply:
    """One POST through a kept `client()`; of the answer's body at most about `read_bytes`.

    A longer answer is no fault: its connection is closed instead of being read to the end.
    """
    started = time.monotonic()
    target = _parsed(url, "post")
    body = b""
    try:
        with via.stream("POST", target, headers=headers, content=content) as answer:
            for piece in answer.iter_raw():
                body += piece
                if len(body) >= read_bytes:
                    break
    except httpx2.HTTPError as error:
        raise ConnectionFailed("The answer is not valid HTTP.") from error
    spent = round((time.monotonic() - started) * 1000)
    return Reply(answer.status_code, dict(answer.headers), body, spent)


def client(
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    max_bytes: int = MAX_BYTES,
    purpose: str,
    allow: Collection[str] = (),
) -> httpx2.Client:
    """A guarded client for libraries that bring their own requests; close it after use.

    The limits hold for each exchange. Make it after a fork: it keeps connections.
    """
    return httpx2.Client(
        transport=transport(
            timeout_seconds=timeout_seconds, max_bytes=max_bytes, purpose=purpose, allow=allow
        ),
        headers={"User-Agent": _USER_AGENT, "Accept-Encoding": "gzip"},
        timeout=timeout_seconds,
        trust_env=False,
        follow_redirects=False,
    )


def transport(
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    max_bytes: int = MAX_BYTES,
    purpose: str,
    allow: Collection[str] = (),
) -> httpx2.BaseTransport:
    """The guard itself; every request of a client that holds it passes here, each hop anew."""
    return _GuardedTransport(timeout_seconds, max_bytes, _Guard(purpose, allow))


def check_url(url: str, *, allow: Collection[str] = (), purpose: str = "check") -> None:
    """Raise Blocked unless `url` could be called now. Resolves its name, for at most 5 seconds."""
    guard = _Guard(purpose, allow)
    target = _parsed(url, purpose)
    guard.check_target(target)
    token = _deadline.set(time.monotonic() + _LOOKUP_SECONDS)
    try:
        guard.addresses(target.raw_host.decode("ascii"), _port(target))
    except EgressError:
        # An unknown name is refused in the same words, or the answer would list our own names.
        raise Blocked from None
    finally:
        _deadline.reset(token)


def host_port(url: str) -> str:
    """The "host:port" of a URL, in the form that `allow` and EGRESS_ALLOW take."""
    target = httpx2.URL(url)
    return f"{target.host.lower()}:{_port(target)}"


def is_public(address: str) -> bool:
    """Whether an IP address, in text, is one of the public internet."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        found = _unwrapped(found)
    if isinstance(found, ipaddress.IPv6Address) and found not in _GLOBAL_UNICAST:
        # Loopback, mapped, compatible, site-local, multicast and local NAT64 all lie outside.
        return False
    return found.is_global and not any(found in network for network in _REFUSED_NETWORKS)


def _unwrapped(address: ipaddress.IPv6Address) -> _Address:
    """The IPv4 address that a mapped or NAT64 address leads to, else the address itself."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _parsed(url: str, purpose: str) -> httpx2.URL:
    # A backslash or a space is read as part of the host by some and as its end by others.
    if any(sign in url for sign in "\\ \t\r\n"):
        raise _blocked("?", purpose, "ambiguous URL")
    try:
        return httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError):
        raise _blocked("?", purpose, "invalid URL") from None


def _port(url: httpx2.URL) -> int:
    return url.port if url.port is not None else {"http": 80, "https": 443}.get(url.scheme, 0)


def _is_pinned(host: str, hosts: Collection[str]) -> bool:
    name = host.lower()
    return any(name == known or (known[:1] == "." and name.endswith(known)) for known in hosts)


def _blocked(host: str, purpose: str, reason: str) -> Blocked:
    logger.warning("egress blocked: purpose=%s host=%.253s reason=%s", purpose, host, reason)
    return Blocked()


class _Guard:
    """Decides where a connection may go. Knows names and addresses, and nothing of HTTP."""

    def __init__(self, purpose: str, allow: Collection[str]) -> None:
        self._purpose = purpose
        self._allow = frozenset(
            entry.strip().lower().replace("[", "").replace("]", "")
            for entry in (*getattr(settings, "EGRESS_ALLOW", ()), *allow)
        )

    def check_target(self, url: httpx2.URL) -> None:
        """Refuse by the URL alone: scheme, user, host's form, port."""
        host = url.raw_host.decode("ascii")
        if url.scheme not in {"http", "https"}:
            raise _blocked(host, self._purpose, "scheme")
        if url.userinfo:
            raise _blocked(host, self._purpose, "userinfo")
        if ":" not in host and not _NAME.fullmatch(host):
            raise _blocked(host, self._purpose, "host name")
        if _port(url) not in _PORTS and not self._allows(host, _port(url)):
            raise _blocked(host, self._purpose, "port")

    def addresses(self, host: str, port: int) -> list[tuple[socket.AddressFamily, Any]]:
        """All addresses of a host, as (family, socket address); refused if any is not public."""
        found = _look_up(host, port)
        if not self._allows(host, port):
            for _, place in found:
                if not is_public(place[0]):
                    raise _blocked(host, self._purpose, "address")
        return found

    def _allows(self, host: str, port: int) -> bool:
        return f"{host.lower()}:{port}" in self._allow


# When the exchange that this thread is in must be over, on the monotonic clock. Sockets read it
# at each turn, so that a server which sends a byte now and then gains no time by it.
_deadline: ContextVar[float] = ContextVar("egress_deadline")


def _seconds_left() -> float:
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise Timeout("The time for this request is over.")
    return left


def _look_up(host: str, port: int) -> list[tuple[socket.AddressFamily, Any]]:
    """Resolve within the deadline. The system's resolver takes no limit: it gets a thread."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, name="egress-lookup", daemon=True).start()
    try:
        found = answers.get(timeout=_seconds_left())
    except queue.Empty:
        raise Timeout("The name was not resolved in time.") from None
    if isinstance(found, Exception) or not found:
        raise ConnectionFailed("The name does not resolve.")
    internet = (socket.AF_INET, socket.AF_INET6)
    return [(entry[0], entry[4]) for entry in found if entry[0] in internet]


class _Stream(httpcore2.NetworkStream):
    """A socket whose every wait ends with the exchange's deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _socket_errors():
            self._sock.settimeout(_seconds_left())
            return self._sock.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        with _socket_errors():
            while rest:
                self._sock.settimeout(_seconds_left())
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
            with _socket_errors():
                self._sock.settimeout(_seconds_left())
                wrapped = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
        except EgressError:
            self.close()
            raise
        return _Stream(wrapped)

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            # The pool asks this of an idle connection: readable means that the server hung up.
            poll = select.poll()
            poll.register(self._sock, select.POLLIN)
            return bool(poll.poll(0))
        return None


class _Backend(httpcore2.NetworkBackend):
    """Opens sockets to checked addresses only: the name is not resolved a second time."""

    def __init__(self, guard: _Guard) -> None:
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
        for family, place in self._guard.addresses(host, port):
            try:
                return _Stream(_connected(family, place))
            except ConnectionFailed as error:
                failure = error
        raise failure


def _connected(family: socket.AddressFamily, place: Any) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        with _socket_errors():
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(_seconds_left())
            sock.connect(place)
    except EgressError:
        sock.close()
        raise
    return sock


@contextmanager
def _socket_errors() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise Timeout("The time for this request is over.") from None
    except (OSError, ValueError) as error:
        # ValueError: a host that OpenSSL does not take as a server name.
        raise ConnectionFailed("The connection failed.") from error


@functools.cache
def _tls() -> ssl.SSLContext:
    # Reading the certificates takes longer than a local request: once a process.
    return httpx2.create_ssl_context(trust_env=False)


class _GuardedTransport(httpx2.BaseTransport):
    def __init__(self, timeout_seconds: float, max_bytes: int, guard: _Guard) -> None:
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
        with _within(ends_at):
            answer = self._pool.handle_request(self._core_request(request))
            body = _Body(cast("Iterable[bytes]", answer.stream), ends_at, self._max_bytes)
        try:
            headers = body.take_headers(answer.headers)
        except EgressError:
            body.close()
            raise
        return httpx2.Response(status_code=answer.status, headers=headers, stream=body)

    def close(self) -> None:
        self._pool.close()

    def _core_request(self, request: httpx2.Request) -> httpcore2.Request:
        return httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=cast("Iterable[bytes]", request.stream),
            # Waiting for a free connection is the one wait that no socket of ours sees.
            extensions={"timeout": {"pool": self._timeout_seconds}},
        )


@contextmanager
def _within(ends_at: float) -> Iterator[None]:
    token = _deadline.set(ends_at)
    try:
        yield
    except httpcore2.TimeoutException:
        raise Timeout("The time for this request is over.") from None
    except (
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.UnsupportedProtocol,
    ) as error:
        raise ConnectionFailed("The answer broke off or is not HTTP.") from error
    finally:
        _deadline.reset(token)


class _Body(httpx2.SyncByteStream):
    """An answer's body as it comes: decompressed here, piece by piece, and counted."""

    def __init__(self, stream: Iterable[bytes], ends_at: float, max_bytes: int) -> None:
        self._stream = stream
        self._ends_at = ends_at
        self._left = max_bytes
        self._gzip: Any = None
        self._is_fed = False

    def take_headers(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """The headers for our side, without what no longer holds once the body is decoded."""
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
            raise TooLarge(f"The headers are over {MAX_HEADER_BYTES} bytes.")
        codings = [value.lower() for name, value in headers if name.lower() == b"content-encoding"]
        if all(coding in {b"", b"identity"} for coding in codings):
            return headers
        if codings not in ([b"gzip"], [b"x-gzip"]):
            raise ConnectionFailed("The answer is encoded in a way that was not asked for.")
        self._gzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
        gone = {b"content-encoding", b"content-length"}
        return [(name, value) for name, value in headers if name.lower() not in gone]

    def __iter__(self) -> Iterator[bytes]:
        chunks = iter(self._stream)
        decode = self._as_is if self._gzip is None else self._inflated
        while True:
            with _within(self._ends_at):
                _seconds_left()
                chunk = next(chunks, None)
            if chunk is None:
                break
            for piece in decode(chunk):
                self._left -= len(piece)
                if self._left < 0:
                    raise TooLarge("The answer is over its limit of bytes.")
                yield piece
        if self._is_fed and not self._gzip.eof:
            raise ConnectionFailed("The answer's compression breaks off.")

    def close(self) -> None:
        close = getattr(self._stream, "close", None)
        if close is not None:
            with _within(self._ends_at):
                close()

    def _as_is(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def _inflated(self, chunk: bytes) -> Iterator[bytes]:
        """Inflate in bounded pieces: a few kilobytes can stand for gigabytes."""
        self._is_fed = full = True
        while chunk or full:
            try:
                piece = self._gzip.decompress(chunk, _PIECE_BYTES)
            except zlib.error as error:
                raise ConnectionFailed("The answer's compression is broken.") from error
            if piece:
                yield piece
            full = len(piece) == _PIECE_BYTES
            chunk = self._gzip.unconsumed_tail
