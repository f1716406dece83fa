"""Normalizes the URLs of web pages, so that each page has a single URL."""

import re
from urllib.parse import SplitResult, quote, urljoin, urlsplit

MAX_CHARACTERS = 2_000
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Query parameters that track visitors and do not change the page.
_TRACKING = frozenset(
    {
        "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid",
        "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "phpsessid", "jsessionid",
    }
)  # fmt: skip
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_TRIPLET = re.compile(r"%([0-9A-Fa-f]{2})")
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_IPV6 = re.compile(r"[0-9a-f:.]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\\]")


def normalized(url: str) -> str | None:
    """Normalize an http(s) URL; None if it is invalid or too long, or contains a user name.

    The result has a lower-case scheme and host, no default port, dot segments, fragment or tracking
    parameters, and percent-encodes only what needs it.
    """
    try:
        parts = urlsplit(url.strip(" ").replace(" ", "%20"))
        authority = _authority(parts)
        if authority is None or _CONTROLS.search(url):
            return None
        path = _without_dots(_encoded(parts.path, safe="/:@!$&'()*+,;=")) or "/"
        query = _query(parts.query)
    except ValueError:  # for empty brackets, a port that is not a number, or a lone surrogate
        return None
    result = f"{parts.scheme}://{authority}{path}{query and '?' + query}"
    return result if len(result) <= MAX_CHARACTERS else None


def joined(base: str, reference: str) -> str | None:
    """The normalized target of a link on the page at `base`; None if it is not a web page."""
    # Browsers remove line ends and tabs anywhere in a link.
    reference = re.sub(r"[\t\r\n]", "", reference).strip()
    if len(reference) > 2 * MAX_CHARACTERS:
        return None
    try:
        return normalized(urljoin(base, reference))
    except ValueError:
        return None


def same_site(url: str, other: str) -> bool:
    """Whether two normalized URLs have the same host, apart from `www.`, and the same port."""
    return _site(url) == _site(other)


def origin(url: str) -> str:
    """Scheme, host and port of a normalized URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def is_root(url: str) -> bool:
    """Whether a normalized URL is the front page of its host."""
    return url == f"{origin(url)}/"


def file_stem(url: str) -> str:
    """A file name for a page, without extension: the last part of its path, else its host."""
    parts = urlsplit(url)
    last = parts.path.rstrip("/").rpartition("/")[2]
    stem = last.rpartition(".")[0] or last
    return re.sub(r"[^\w-]+", "-", stem or parts.hostname or "page").strip("-")[:200] or "page"


def _site(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.port


def _authority(parts: SplitResult) -> str | None:
    if parts.scheme not in _DEFAULT_PORTS or "@" in parts.netloc:
        return None
    host = (parts.hostname or "").rstrip(".")
    if not host.isascii():
        host = host.encode("idna").decode("ascii").lower()
    if ":" in host:
        host = f"[{host}]" if _IPV6.fullmatch(host) else ""
    elif not _HOST.fullmatch(host):
        return None
    if parts.port in (None, _DEFAULT_PORTS[parts.scheme]):
        return host or None
    return f"{host}:{parts.port}" if host else None


def _encoded(text: str, *, safe: str) -> str:
    """Percent-encode only what needs it, with upper-case digits; encode stray percent signs too."""
    pieces = _TRIPLET.split(text)
    for position, piece in enumerate(pieces):
        if position % 2 == 0:
            pieces[position] = quote(piece, safe=safe)
        else:
            char = chr(int(piece, 16))
            pieces[position] = char if char in _UNRESERVED else f"%{piece.upper()}"
    return "".join(pieces)


def _without_dots(path: str) -> str:
    """Remove dot segments (RFC 3986, 5.2.4)."""
    result: list[str] = []
    segments = path.split("/")
    for segment in segments[1:]:
        if segment == "..":
            result = result[:-1]
        elif segment != ".":
            result.append(segment)
    if segments[-1] in (".", ".."):
        result.append("")
    return "/" + "/".join(result)


def _query(query: str) -> str:
    fields = [field for field in query.split("&") if field and not _is_tracking(field)]
    return "&".join(_encoded(field, safe="/:@!$'()*+,;=?[]|") for field in fields)


def _is_tracking(field: str) -> bool:
    name = field.partition("=")[0].lower()
    return name in _TRACKING or name.startswith("utm_")
