"""The caller's IP address, and the requested scheme and host, behind a proxy.

Anyone can send `X-Forwarded-…`, so these headers count only if the request comes from an address
in TRUSTED_PROXIES. They are read from the right: our proxies append to what the caller sent.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

_SCHEMES = {"http", "https"}
# Proxies add headers that begin with these names.
_FORWARDED = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")


def apply_forwarded_headers(meta: dict[str, Any]) -> None:
    """Replace the proxy's address, scheme and host with those of the caller's request."""
    if not settings.TRUSTED_PROXIES or not _is_trusted(meta.get("REMOTE_ADDR", "")):
        return
    addresses = _values(meta, "FOR")
    while addresses and _is_trusted(meta["REMOTE_ADDR"]):
        address = _parsed(addresses.pop())
        if address is None:
            break  # our proxies write only addresses: anything further left may be forged
        meta["REMOTE_ADDR"] = str(address)
    scheme, host = _values(meta, "PROTO"), _values(meta, "HOST")
    if scheme and scheme[-1] in _SCHEMES:
        meta["wsgi.url_scheme"] = scheme[-1]
    if host:
        meta["HTTP_HOST"] = host[-1]


def is_local_request(request: HttpRequest) -> bool:
    """Whether the request comes from this machine, to a loopback host, and through no proxy."""
    if any(name.startswith(_FORWARDED) for name in request.META):
        return False
    host = split_domain_port(request.get_host())[0].strip("[]")
    peer = _parsed(request.META.get("REMOTE_ADDR", ""))
    address = _parsed("127.0.0.1" if host == "localhost" else host)
    return all(item is not None and item.is_loopback for item in (peer, address))


def _values(meta: dict[str, Any], name: str) -> list[str]:
    sent = meta.get(f"HTTP_X_FORWARDED_{name}", "")
    return [value.strip() for value in sent.split(",") if value.strip()]


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address; an IPv4-mapped IPv6 address as IPv4. None if the text is not an address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_trusted(text: str) -> bool:
    address = _parsed(text)
    return address is not None and any(address in network for network in settings.TRUSTED_PROXIES)
