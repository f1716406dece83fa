"""Checks the targets of outgoing calls, sets the deadline of an exchange, and defines the errors of
calls."""

import ipaddress
import logging
import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2
from django.conf import settings
from django.utils.translation import gettext_noop

from chatplatform.channel_names import MESSAGING_CHANNELS

# The purposes of calls to other servers; an entry of EGRESS_ALLOW may be limited to one purpose.
PURPOSES = (
    frozenset({"model", "function", "crawl", "webhook", "sign-in", "push"}) | MESSAGING_CHANNELS
)

# The message for a refused URL, by the code in the API's response.
REFUSALS = {
    # One message for every result of a name lookup, so that nobody can probe for internal names.
    "not_public": gettext_noop(
        "There's no such address on the public internet. Check the spelling. If your server is on a"
        " private network, give it a public address."
    ),
    # The other messages depend only on the URL's text, so they reveal nothing about our network.
    "not_an_address": gettext_noop("Enter a full URL that starts with https:// or http://."),
    "private_address": gettext_noop(
        "This address points to your own computer or a private network, where we can't reach it."
        " Enter the public address of your server."
    ),
    "other_port": gettext_noop("Use port 80 or 443. We don't connect to other ports."),
    "with_user": gettext_noop("Remove the username and password from the URL."),
    "insecure": gettext_noop("Secrets are only sent to addresses that start with https://."),
}
_URL_START = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_PORTS = frozenset({80, 443})
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]{1,253}")
# Suffixes of names that are never public (RFC 6761, 6762 and 8375, and the reserved `internal`).
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")

# Python 3.11's `is_global` is true for most of these networks.
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
        "2002::/16",  # 6to4 hides an IPv4 address and has no legitimate use left
        "3fff::/20",
    )
)
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

logger = logging.getLogger(__name__)

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# An address that a name resolves to: the address family and the socket address.
_Resolved = tuple[socket.AddressFamily, Any]


class EgressError(Exception):
    """The base of the errors of outgoing calls."""

    # True if the server cannot have seen anything of the request, so that a retry is safe.
    nothing_sent = False


class Blocked(EgressError):
    """The destination is refused. `code` gives the reason only if the URL's text shows it."""

    nothing_sent = True

    def __init__(self, code: str = "not_public") -> None:
        super().__init__(REFUSALS[code])
        self.code = code


class InvalidHeader(EgressError):
    """A header that HTTP cannot carry, such as a token with a non-ASCII letter."""

    nothing_sent = True

    def __init__(self, name: str) -> None:
        super().__init__(f"The value of the header {name} can't be sent.")


class Timeout(EgressError):
    """The exchange, from the name lookup to the end of the response, took too long."""


class TooLarge(EgressError):
    """The decompressed response or its headers exceed the limit."""


class ConnectionFailed(EgressError):
    """The connection or TLS failed, or the response ended early or is not HTTP."""


class NameNotFound(ConnectionFailed):
    """The name does not resolve."""

    def __init__(self) -> None:
        super().__init__(
            gettext_noop("We couldn't find a server with this name. Check the spelling.")
        )


class ConnectionRefused(ConnectionFailed):
    """The server accepts no connections at this port."""

    def __init__(self) -> None:
        super().__init__(
            gettext_noop("The server refused the connection. Check that it's running.")
        )


# The monotonic time by which this thread's exchange must end. No socket operation waits longer, so
# a server gains no time by sending a byte now and then.
_deadline: ContextVar[float] = ContextVar("egress_deadline")


@contextmanager
def deadline(ends_at: float) -> Iterator[None]:
    """Set the deadline for the duration of the block."""
    token = _deadline.set(ends_at)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Seconds until the deadline; raises Timeout once it has passed."""
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise Timeout("The request timed out.")
    return left


def is_public(address: str) -> bool:
    """Whether an IP address is on the public internet and in no network of EGRESS_DENY."""
    given = ipaddress.ip_address(address.partition("%")[0])
    forms = {given, _unwrapped(given)}
    if any(ip in network for ip in forms for network in settings.EGRESS_DENY):
        return False
    return _is_global(_unwrapped(given))


def _is_global(ip: _Address) -> bool:
    if isinstance(ip, ipaddress.IPv6Address) and ip not in _GLOBAL_UNICAST:
        # This excludes loopback, mapped, compatible, site-local, multicast and local NAT64.
        return False
    return ip.is_global and not any(ip in network for network in _REFUSED_NETWORKS)


def _is_literally_private(host: str) -> bool:
    """Whether the text of a host already shows that it is not on the public internet."""
    name = host.lower().removesuffix(".")
    try:
        return not _is_global(_unwrapped(ipaddress.ip_address(name)))
    except ValueError:
        return "." not in name or name.endswith(_PRIVATE_SUFFIXES)


def _unwrapped(address: _Address) -> _Address:
    """The IPv4 address that a mapped or NAT64 address leads to, else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def parse(url: str, purpose: str) -> httpx2.URL:
    """The URL as the HTTP client parses it; raises Blocked if it is invalid, or if parsers may
    disagree about it."""
    # Some parsers read a backslash or a space as part of the host, others as its end.
    if any(sign in url for sign in "\\ \t\r\n"):
        raise blocked("?", purpose, "ambiguous URL", _code_for(url))
    try:
        return httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError):
        raise blocked("?", purpose, "invalid URL", _code_for(url)) from None


def _code_for(text: str) -> str:
    """The refusal's code for a text that cannot be parsed as a URL."""
    return "not_public" if _URL_START.match(text) else "not_an_address"


def port_of(url: httpx2.URL) -> int:
    """The URL's port, or the default port of its scheme; 0 for other schemes."""
    return url.port if url.port is not None else {"http": 80, "https": 443}.get(url.scheme, 0)


def is_pinned(host: str, hosts: Collection[str]) -> bool:
    """Whether the host is in `hosts`; `.example.com` matches all its subdomains."""
    name = host.lower()
    return any(name == pin or (pin[:1] == "." and name.endswith(pin)) for pin in hosts)


def blocked(host: str, purpose: str, reason: str, code: str = "not_public") -> Blocked:
    """Log a refusal with its reason, and return the exception to raise, which has only the code."""
    logger.warning("egress blocked: purpose=%s host=%.253s reason=%s", purpose, host, reason)
    return Blocked(code)


def allowed_for(purpose: str) -> list[str]:
    """The "host:port" pairs that EGRESS_ALLOW permits for this purpose, in its order."""
    entries = [entry.strip().rpartition("=") for entry in settings.EGRESS_ALLOW]
    return [pair for for_purpose, _, pair in entries if for_purpose in {"", purpose}]


class Guard:
    """Checks the targets of one purpose; "host:port" pairs in `allow` may be private."""

    def __init__(self, purpose: str, allow: Collection[str]) -> None:
        self._purpose = purpose
        # Written like the targets: in lower case, without brackets.
        self._allow = {
            pair.strip().lower().translate({ord("["): "", ord("]"): ""})
            for pair in (*allowed_for(purpose), *allow)
        }

    def check_target(self, url: httpx2.URL) -> None:
        """Raise Blocked if the URL's scheme, user, host or port is refused; resolves no name."""
        host = url.raw_host.decode("ascii")
        if url.scheme not in {"http", "https"}:
            raise blocked(host, self._purpose, "scheme", "not_an_address")
        if not host:
            raise blocked(host, self._purpose, "no host", "not_an_address")
        if url.userinfo:
            raise blocked(host, self._purpose, "userinfo", "with_user")
        if ":" not in host and not _HOST_NAME.fullmatch(host):
            raise blocked(host, self._purpose, "host name")
        if self._allows(host, port_of(url)):
            return
        if _is_literally_private(host):
            raise blocked(host, self._purpose, "address", "private_address")
        if port_of(url) not in _PORTS:
            raise blocked(host, self._purpose, "port", "other_port")

    def addresses(self, host: str, port: int) -> list[_Resolved]:
        """All addresses of a host as (family, socket address). Raises Blocked if one is private and
        the host is not allowed."""
        return self.start_lookup(host, port)()

    def start_lookup(self, host: str, port: int) -> Callable[[], list[_Resolved]]:
        """Start the lookup of a host in a thread. The returned function waits for the addresses and
        checks them like `addresses`."""
        wait = _look_up(host, port)

        def checked() -> list[_Resolved]:
            addresses = wait()
            are_public = all(is_public(address[0]) for _, address in addresses)
            if not are_public and not self._allows(host, port):
                raise blocked(host, self._purpose, "address")
            return addresses

        return checked

    def is_named(self, url: httpx2.URL) -> bool:
        """Whether EGRESS_ALLOW or the caller allows this server by name and port."""
        return self._allows(url.raw_host.decode("ascii"), port_of(url))

    def _allows(self, host: str, port: int) -> bool:
        return f"{host.lower()}:{port}" in self._allow


def _look_up(host: str, port: int) -> Callable[[], list[_Resolved]]:
    """Start the lookup of a name in a thread, since the system's resolver has no timeout. The
    returned function waits for the result, at most until the deadline."""
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            results.put(error)

    def wait() -> list[_Resolved]:
        try:
            result = results.get(timeout=seconds_left())
        except queue.Empty:
            raise Timeout("The name was not resolved in time.") from None
        if isinstance(result, Exception) or not result:
            raise NameNotFound
        internet = (socket.AF_INET, socket.AF_INET6)
        return [(entry[0], entry[4]) for entry in result if entry[0] in internet]

    threading.Thread(target=resolve, name="egress-lookup", daemon=True).start()
    return wait
