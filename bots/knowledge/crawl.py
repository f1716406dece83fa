"""A walk over the pages of one host, breadth first, with manners and limits.

It knows HTTP and markup, and nothing of rows: `crawl()` yields what became of each page.
"""

import codecs
import hashlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from email.message import Message
from enum import StrEnum

from protego import Protego

from bots.knowledge import addresses, extract, markup
from bots.knowledge.extract import CSV, HTML, MARKDOWN, PLAIN, SNIFF_BYTES, ExtractError
from bots.knowledge.markup import Markup, MarkupError, Robots
from chatplatform import egress

USER_AGENT = f"{markup.AGENT}/1.0"
_ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/plain,text/markdown;q=0.9,*/*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# RFC 9309: redirects of robots.txt that are followed, and how much of it is read.
_ROBOTS_REDIRECTS = 5
_ROBOTS_BYTES = 512_000
_SITEMAP_LEVELS = 3
_SITEMAP_OPENING = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:\w+:)?(?:urlset|sitemapindex)\b",
    re.DOTALL,
)
_GZIP = b"\x1f\x8b"
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
# Encodings that pages are still written in; others that Python knows are no text encodings.
_CHARSETS = re.compile(
    r"(?:cp125\d|iso8859-\d+|koi8-[ru]|shift_jis|euc_(?:jp|kr)|gb2312|gbk|gb18030|big5|cp874"
    r"|tis-620|utf-16(?:-[lb]e)?)"
)


class Outcome(StrEnum):
    """What became of a page."""

    NEW = "new"  # its bytes are there to be read
    UNCHANGED = "unchanged"  # they are those that are known
    REFUSED = "refused"  # by its site, or by our guard or limits
    FAILED = "failed"  # the site did not give it


@dataclass(frozen=True)
class Limits:
    """What one crawl may take."""

    pages: int = 200  # pages kept
    results: int = 400  # rows in all, with those that were refused
    total_bytes: int = 100_000_000
    total_seconds: float = 420.0  # a worker ends a job after 600
    page_bytes: int = 2_000_000  # decompressed
    page_seconds: float = 15.0  # with its redirects
    redirects: int = 3
    sitemaps: int = 10
    delay_seconds: float = 0.5  # between two requests
    max_delay_seconds: float = 5.0  # what a site's Crawl-delay may make of it


@dataclass(frozen=True)
class Known:
    """A page as an earlier crawl kept it."""

    sha256: str
    mime_type: str
    etag: str
    last_modified: str
    read: Callable[[], bytes]


@dataclass(frozen=True)
class Page:
    """One page of the walk; `reason` where it was not kept, `left` pages are still to see."""

    url: str
    depth: int
    outcome: Outcome
    reason: str = ""
    http_status: int | None = None
    etag: str = ""
    last_modified: str = ""
    mime_type: str = ""
    body: bytes = b""
    sha256: str = ""
    left: int = 0


class _NotKept(Exception):
    """Why a page is not kept; ends the work on it."""

    def __init__(
        self, reason: str, outcome: Outcome = Outcome.REFUSED, http_status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.outcome, self.http_status = reason, outcome, http_status


class _SeenAlready(Exception):
    """A redirect leads to a page that has its own turn."""


@dataclass(frozen=True)
class _Fetched:
    url: str
    reply: egress.Reply
    known: Known | None

    @property
    def is_unchanged(self) -> bool:
        return self.reply.status == 304


def crawl(
    start: str,
    *,
    depth: int,
    limits: Limits,
    known: Callable[[str], Known | None] = lambda url: None,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Page]:
    """Every page within `depth` links of `start` (normalized), on its host alone."""
    walk = _Walk(start, depth, limits, known, pause)
    for result, page in enumerate(walk.pages(), 1):
        yield replace(page, left=walk.left)
        if result >= limits.results:
            return


class _Walk:
    def __init__(
        self,
        start: str,
        depth: int,
        limits: Limits,
        known: Callable[[str], Known | None],
        pause: Callable[[float], None],
    ) -> None:
        self._start = start
        self._depth = depth
        self._limits = limits
        self._known = known
        self._site = _Site(limits, pause)
        self._queue: deque[tuple[str, int]] = deque()
        self._seen: set[str] = set()
        # Pages that others name as the right address of their content: theirs is believed.
        self._canonical: set[str] = set()
        self._digests: set[str] = set()
        self._sitemaps_read = 0

    @property
    def left(self) -> int:
        return len(self._queue)

    def pages(self) -> Iterator[Page]:
        self._add(self._start, 0)
        while self._queue:
            url, depth = self._queue.popleft()
            limit = self._limit_reached()
            if limit:
                yield Page(url, depth, Outcome.REFUSED, limit)
            else:
                yield from self._visit(url, depth)

    def _add(self, url: str | None, depth: int) -> None:
        if (
            url is not None
            and url not in self._seen
            and len(self._seen) < 2 * self._limits.results
            and addresses.same_site(url, self._start)
        ):
            self._seen.add(url)
            self._queue.append((url, depth))

    def _limit_reached(self) -> str:
        if len(self._digests) >= self._limits.pages:
            return "page_limit"
        return self._site.limit_reached()

    def _visit(self, url: str, depth: int) -> Iterator[Page]:
        try:
            if url == self._start and self._depth and addresses.is_root(url):
                for listed in self._site.sitemaps(url):
                    yield from self._read_sitemap(addresses.normalized(listed), depth=1)
            fetched = self._fetch(url)
            if url == self._start and _is_sitemap(fetched.reply):
                yield from self._list(fetched, depth=0)
            else:
                yield self._read(fetched, depth)
        except _SeenAlready:
            return
        except _NotKept as found:
            yield Page(url, depth, found.outcome, found.reason, found.http_status)

    def _fetch(self, url: str) -> _Fetched:
        """The page, behind at most three redirects; each hop is checked like a link."""
        hops, ends_at = [url], time.monotonic() + self._limits.page_seconds
        while True:
            known = self._known(url)
            reply = self._site.get(url, known, ends_at)
            if reply.status not in _REDIRECTS or "location" not in reply.headers:
                return _Fetched(url, reply, known)
            url = self._hop(url, reply)
            if url in hops or len(hops) > self._limits.redirects:
                raise _NotKept("too_many_redirects", http_status=reply.status)
            if url in self._seen:
                raise _SeenAlready
            self._seen.add(url)
            hops.append(url)

    def _hop(self, url: str, reply: egress.Reply) -> str:
        target = addresses.joined(url, reply.headers["location"])
        try:
            if target is None:
                raise egress.Blocked
            if addresses.same_site(target, self._start):
                return target
            egress.check_url(target, purpose="crawl")
        except egress.Blocked:
            raise _NotKept("blocked", http_status=reply.status) from None
        raise _NotKept("other_host", http_status=reply.status)

    def _read(self, fetched: _Fetched, depth: int) -> Page:
        """What the page is, with its links queued."""
        url, reply = fetched.url, fetched.reply
        body, mime_type = _content(fetched)
        said = _markup(body, mime_type)
        robots = Robots(said.noindex, said.nofollow)
        robots.apply_header(reply.headers.get("x-robots-tag", ""))
        canonical = self._other_address(url, said.canonical)
        if canonical:
            self._canonical.add(canonical)
            self._add(canonical, depth)
        if depth < self._depth and not robots.nofollow:
            base = addresses.joined(url, said.base) if said.base else url
            for link in said.links:
                self._add(addresses.joined(base or url, link), depth + 1)
        if robots.noindex:
            raise _NotKept("noindex", http_status=reply.status)
        digest = hashlib.sha256(body).hexdigest()
        if canonical or digest in self._digests:
            raise _NotKept("duplicate", http_status=reply.status)
        self._digests.add(digest)
        is_known = fetched.known is not None and fetched.known.sha256 == digest
        return Page(
            url,
            depth,
            Outcome.UNCHANGED if is_known else Outcome.NEW,
            http_status=reply.status,
            etag=reply.headers.get("etag", "")[:300],
            last_modified=reply.headers.get("last-modified", "")[:60],
            mime_type=mime_type,
            body=body,
            sha256=digest,
        )

    def _other_address(self, url: str, canonical: str) -> str | None:
        """Where the page says that its content belongs, if elsewhere on this host."""
        if not canonical or url in self._canonical:
            return None
        found = addresses.joined(url, canonical)
        if found is None or found == url or not addresses.same_site(found, self._start):
            return None
        return found

    def _read_sitemap(self, url: str | None, *, depth: int, level: int = 1) -> Iterator[Page]:
        if url is None or url in self._seen or not addresses.same_site(url, self._start):
            return
        if self._sitemaps_read >= self._limits.sitemaps or self._limit_reached():
            return
        self._seen.add(url)
        try:
            yield from self._list(self._fetch(url), depth=depth, level=level)
        except _SeenAlready:
            return
        except _NotKept as found:
            yield Page(url, depth, found.outcome, found.reason, found.http_status)

    def _list(self, fetched: _Fetched, *, depth: int, level: int = 1) -> Iterator[Page]:
        """Queue what a sitemap lists; its own row appears only where it cannot be read."""
        self._sitemaps_read += 1
        _check_status(fetched)
        try:
            listed = markup.read_sitemap(fetched.reply.body)
        except MarkupError:
            raise _NotKept("malformed", Outcome.FAILED, fetched.reply.status) from None
        for url in listed.pages:
            self._add(addresses.joined(fetched.url, url), depth)
        if level < _SITEMAP_LEVELS:
            for url in listed.sitemaps:
                below = addresses.joined(fetched.url, url)
                yield from self._read_sitemap(below, depth=depth, level=level + 1)


class _Site:
    """The requests of a crawl: one at a time, with pauses, as robots.txt allows, within limits."""

    def __init__(self, limits: Limits, pause: Callable[[float], None]) -> None:
        self._limits = limits
        self._pause = pause
        # None: it could not be had, and nothing may be read.
        self._robots: dict[str, Protego | None] = {}
        self._ends_at = time.monotonic() + limits.total_seconds
        self._bytes_left = limits.total_bytes
        self._has_asked = False

    def limit_reached(self) -> str:
        if time.monotonic() >= self._ends_at:
            return "time_limit"
        return "byte_limit" if self._bytes_left <= 0 else ""

    def sitemaps(self, url: str) -> list[str]:
        """Sitemaps that the robots.txt of this page's origin names."""
        robots = self._robots_of(url)
        return list(robots.sitemaps)[: self._limits.sitemaps] if robots else []

    def get(self, url: str, known: Known | None, ends_at: float) -> egress.Reply:
        """A page, or 304 where it is as it was known."""
        robots = self._robots_of(url)
        if robots is None:
            raise _NotKept("robots_unreachable")
        if not robots.can_fetch(url, markup.AGENT):
            raise _NotKept("robots")
        headers = {}
        if known and known.etag:
            headers["If-None-Match"] = known.etag
        if known and known.last_modified:
            headers["If-Modified-Since"] = known.last_modified
        self._wait(robots.crawl_delay(markup.AGENT) or 0)
        seconds = min(ends_at, self._ends_at + 1) - time.monotonic()
        return self._exchange(url, headers, seconds, self._limits.page_bytes)

    def _wait(self, asked: float) -> None:
        seconds = max(self._limits.delay_seconds, min(asked, self._limits.max_delay_seconds))
        if self._has_asked and seconds:
            self._pause(seconds)
        self._has_asked = True

    def _exchange(
        self, url: str, headers: dict[str, str], seconds: float, max_bytes: int
    ) -> egress.Reply:
        if seconds <= 0:
            raise _NotKept("timeout", Outcome.FAILED)
        try:
            reply = egress.request(
                "GET",
                url,
                headers={"User-Agent": USER_AGENT, "Accept": _ACCEPT, **headers},
                timeout_seconds=seconds,
                max_bytes=max_bytes,
                purpose="crawl",
            )
        except egress.Blocked:
            raise _NotKept("blocked") from None
        except egress.TooLarge:
            self._bytes_left -= max_bytes
            raise _NotKept("too_large") from None
        except egress.Timeout:
            raise _NotKept("timeout", Outcome.FAILED) from None
        except egress.EgressError:
            raise _NotKept("connection_failed", Outcome.FAILED) from None
        self._bytes_left -= len(reply.body)
        return reply

    def _robots_of(self, url: str) -> Protego | None:
        origin = addresses.origin(url)
        if origin not in self._robots:
            self._robots[origin] = self._read_robots(f"{origin}/robots.txt")
        return self._robots[origin]

    def _read_robots(self, url: str | None) -> Protego | None:
        """RFC 9309: a missing robots.txt allows everything, an unreachable one nothing."""
        reply: egress.Reply | None = None
        ends_at = time.monotonic() + self._limits.page_seconds
        try:
            for _ in range(_ROBOTS_REDIRECTS + 1):
                if url is None:
                    return None
                reply = self._exchange(url, {}, ends_at - time.monotonic(), _ROBOTS_BYTES)
                if reply.status not in _REDIRECTS:
                    break
                url = addresses.joined(url, reply.headers.get("location", ""))
        except _NotKept as found:
            if reply is None and found.reason == "blocked":
                raise
            return None
        if reply is None or reply.status >= 500:
            return None
        text = reply.body.decode("utf-8", "replace") if reply.status < 300 else ""
        return Protego.parse(text)


# --- what an answer holds -----------------------------------------------------------------------


def _check_status(fetched: _Fetched) -> None:
    status = fetched.reply.status
    if fetched.is_unchanged and fetched.known:
        return
    if status in (404, 410):
        raise _NotKept("not_found", Outcome.FAILED, status)
    if not 200 <= status < 300:
        raise _NotKept("http_error", Outcome.FAILED, status)


def _is_sitemap(reply: egress.Reply) -> bool:
    return bool(_SITEMAP_OPENING.match(reply.body[:4_096])) or reply.body.startswith(_GZIP)


def _content(fetched: _Fetched) -> tuple[bytes, str]:
    """The bytes and their type: the content decides, the header tells text formats apart."""
    _check_status(fetched)
    if fetched.is_unchanged and fetched.known:
        return fetched.known.read(), fetched.known.mime_type
    header = Message()
    header["Content-Type"] = fetched.reply.headers.get("content-type", "")
    declared = header.get_content_type() if fetched.reply.headers.get("content-type") else ""
    charset = header.get_content_charset() or ""
    body = fetched.reply.body
    if declared.startswith(("text/", "application/xhtml")):
        body = _in_utf8(body, charset)
    elif declared.startswith(("image/", "audio/", "video/", "font/")):
        raise _NotKept("unsupported_type", http_status=fetched.reply.status)
    try:
        found = extract.sniff(body[:SNIFF_BYTES], "")
    except ExtractError as error:
        raise _NotKept(error.code, http_status=fetched.reply.status) from None
    if found == PLAIN and declared in (HTML, "application/xhtml+xml"):
        # The page opens with something else than its elements; the reader must know what it is.
        return b"<!doctype html>\n" + body, HTML
    if found == PLAIN and (declared or PLAIN) not in (PLAIN, MARKDOWN, CSV):
        # Scripts, data and the like are text too, and nobody's reading.
        raise _NotKept("unsupported_type", http_status=fetched.reply.status)
    return body, (declared or PLAIN) if found == PLAIN else found


def _in_utf8(body: bytes, charset: str) -> bytes:
    """Text in UTF-8, from what its header or else the page itself names."""
    inside = _META_CHARSET.search(body[:1_024])
    named = charset or (inside.group(1).decode("ascii", "replace") if inside else "")
    try:
        codec = codecs.lookup(named).name if named else "utf-8"
    except LookupError:
        return body
    return body.decode(codec, "replace").encode() if _CHARSETS.fullmatch(codec) else body


def _markup(body: bytes, mime_type: str) -> Markup:
    if mime_type != HTML:
        return Markup()
    try:
        return markup.read_page(body)
    except MarkupError:
        raise _NotKept("malformed", Outcome.FAILED) from None
