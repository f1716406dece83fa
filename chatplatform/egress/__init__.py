"""HTTP calls to other people's servers, guarded so that they cannot reach our own servers.

All outgoing calls go through here.

Every address of a name is checked, and the connection goes to a checked address. One deadline
covers a whole exchange, and sizes are counted after decompression. Redirects are not followed.
"""

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from chatplatform.egress.guard import PURPOSES as PURPOSES
from chatplatform.egress.guard import Blocked as Blocked
from chatplatform.egress.guard import ConnectionFailed as ConnectionFailed
from chatplatform.egress.guard import ConnectionRefused as ConnectionRefused
from chatplatform.egress.guard import EgressError as EgressError
from chatplatform.egress.guard import Guard, blocked, deadline, is_pinned, parse, port_of
from chatplatform.egress.guard import InvalidHeader as InvalidHeader
from chatplatform.egress.guard import NameNotFound as NameNotFound
from chatplatform.egress.guard import Timeout as Timeout
from chatplatform.egress.guard import TooLarge as TooLarge
from chatplatform.egress.guard import allowed_for as allowed_for
from chatplatform.egress.guard import is_public as is_public
from chatplatform.egress.transport import GuardedTransport

TIMEOUT_SECONDS = 15
MAX_BYTES = 2_000_000
_LOOKUP_SECONDS = 5
_HEADER_VALUE = re.compile(r"([\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?)?")
_USER_AGENT = "chatplatform/1.0"

KeepAliveClient = httpx2.Client  # used for many exchanges with one server


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete response. Header names are in lower case."""

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
    """Make one request and return its response, even a redirect; raises an EgressError.

    Servers in `allow` ("host:port") may be private. `only_hosts` limits the request to these hosts
    (".example.com" means all subdomains): set it if the request carries credentials.
    """
    started = time.monotonic()
    target = parse(url, purpose)
    _check_headers(headers or {})
    if only_hosts is not None and not is_pinned(target.host, only_hosts):
        raise blocked(target.host, purpose, "host not pinned")
    with client(
        timeout_seconds=timeout_seconds, max_bytes=max_bytes, purpose=purpose, allow=allow
    ) as http:
        try:
            response = http.request(method, target, headers=headers, json=json, content=content)
        except httpx2.HTTPError as error:
            raise ConnectionFailed("The response is not valid HTTP.") from error
    duration_ms = round((time.monotonic() - started) * 1000)
    return Reply(response.status_code, dict(response.headers), response.content, duration_ms)


@dataclass(frozen=True, slots=True)
class OpenReply:
    """A response whose body is still to be read, in decompressed pieces."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]


@contextmanager
def stream(
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes,
    timeout_seconds: float,
    max_bytes: int,
    purpose: str,
) -> Iterator[OpenReply]:
    """POST, and read the response while it arrives; the caller may stop reading at any time."""
    target = parse(url, purpose)
    _check_headers(headers)
    try:
        with (
            client(timeout_seconds=timeout_seconds, max_bytes=max_bytes, purpose=purpose) as http,
            http.stream("POST", target, headers=headers, content=content) as response,
        ):
            yield OpenReply(response.status_code, dict(response.headers), response.iter_bytes())
    except httpx2.HTTPError as error:
        raise ConnectionFailed("The response is not valid HTTP.") from error


def post(
    http: KeepAliveClient, url: str, *, headers: Mapping[str, str], content: bytes, read_bytes: int
) -> Reply:
    """POST through an open `client()`, and read the response up to about `read_bytes`."""
    started = time.monotonic()
    target = parse(url, "post")
    _check_headers(headers)
    body = b""
    try:
        with http.stream("POST", target, headers=headers, content=content) as response:
            for piece in response.iter_raw():
                body += piece
                if len(body) >= read_bytes:
                    break
    except httpx2.HTTPError as error:
        raise ConnectionFailed("The response is not valid HTTP.") from error
    duration_ms = round((time.monotonic() - started) * 1000)
    return Reply(response.status_code, dict(response.headers), body, duration_ms)


def _check_headers(headers: Mapping[str, str]) -> None:
    """Raise InvalidHeader unless each value is visible ASCII, with spaces and tabs only inside it
    (RFC 9110, 5.5)."""
    for name, value in headers.items():
        if not _HEADER_VALUE.fullmatch(value):
            raise InvalidHeader(name)


def client(
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    max_bytes: int = MAX_BYTES,
    purpose: str,
    allow: Collection[str] = (),
) -> httpx2.Client:
    """A guarded client for many exchanges or for a library; close it after use.

    The limits apply to each exchange. Create it after a fork, since it keeps connections open.
    """
    return httpx2.Client(
        transport=GuardedTransport(timeout_seconds, max_bytes, Guard(purpose, allow)),
        headers={"User-Agent": _USER_AGENT, "Accept-Encoding": "gzip"},
        timeout=timeout_seconds,
        trust_env=False,
        follow_redirects=False,
    )


def check_url(url: str, *, purpose: str = "check") -> None:
    """Raise Blocked unless `url` could be called now. Resolves its host for up to 5 seconds."""
    refused = first_blocked([url], purpose=purpose)
    if refused is not None:
        raise refused[1]


def first_blocked(urls: Sequence[str], *, purpose: str) -> tuple[int, Blocked] | None:
    """The first URL that could not be called now, as its index and the reason; None if there is
    none.

    The hosts are resolved in parallel, for up to 5 seconds in total.
    """
    guard = Guard(purpose, ())
    waits: list[Callable[[], object]] = []
    refused: Blocked | None = None
    for url in urls:
        try:
            target = parse(url, purpose)
            guard.check_target(target)
        except Blocked as error:
            refused = error
            break  # the host of an earlier URL may turn out to be blocked
        waits.append(guard.start_lookup(target.raw_host.decode("ascii"), port_of(target)))
    with deadline(time.monotonic() + _LOOKUP_SECONDS):
        for index, wait in enumerate(waits):
            try:
                wait()
            except EgressError:
                # Unknown names get the same error, so that callers cannot probe for internal names.
                return index, Blocked()
    return (len(waits), refused) if refused else None


def keeps_secrets(url: str, *, purpose: str) -> bool:
    """Whether secrets may be sent there: the URL is https, or EGRESS_ALLOW permits the server for
    this purpose."""
    target = parse(url, purpose)
    return target.scheme == "https" or Guard(purpose, ()).is_named(target)


def host_port(url: str) -> str:
    """The "host:port" of a URL, as `allow` and EGRESS_ALLOW expect it."""
    target = httpx2.URL(url)
    return f"{target.host.lower()}:{port_of(target)}"
