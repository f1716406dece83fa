"""Walks over the pages of one host, breadth first."""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

from bots.ingest import page_links, url_normalization
from bots.ingest.crawler.fetcher import REDIRECT_STATUSES, Site
from bots.ingest.crawler.types import Fetched, KnownPage, Limits, NotStored, Outcome, Page
from bots.ingest.extraction import file_types
from bots.ingest.page_links import Markup, MarkupError, Robots
from chatplatform import egress

_SITEMAP_LEVELS = 3


class _SeenAlready(Exception):
    """A redirect leads to a page that was or will be fetched anyway."""


def crawl(
    start: str,
    *,
    depth: int,
    limits: Limits,
    known_page: Callable[[str], KnownPage | None] = lambda url: None,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Page]:
    """Yield the pages within `depth` links of the normalized URL `start`, on its host only.

    Ends after `limits.results` pages.
    """
    walk = _Walk(start, depth, limits, known_page, pause)
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
        known_page: Callable[[str], KnownPage | None],
        pause: Callable[[float], None],
    ) -> None:
        self._start = start
        self._depth = depth
        self._limits = limits
        self._known_page = known_page
        self._site = Site(limits, pause)
        self._queue: deque[tuple[str, int]] = deque()
        self._seen: set[str] = set()
        # Pages to which other pages' canonical links point; their own canonical links are ignored.
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
            and url_normalization.same_site(url, self._start)
        ):
            self._seen.add(url)
            self._queue.append((url, depth))

    def _limit_reached(self) -> str:
        if len(self._digests) >= self._limits.pages:
            return "page_limit"
        return self._site.limit_reached()

    def _visit(self, url: str, depth: int) -> Iterator[Page]:
        try:
            if url == self._start and self._depth and url_normalization.is_root(url):
                for listed in self._site.sitemaps(url):
                    yield from self._read_sitemap(url_normalization.normalized(listed), depth=1)
            fetched = self._fetch(url)
            if url == self._start and fetched.is_sitemap:
                yield from self._queue_sitemap(fetched, depth=0)
            else:
                yield self._read(fetched, depth)
        except _SeenAlready:
            return
        except NotStored as refusal:
            yield Page(url, depth, refusal.outcome, refusal.reason, refusal.http_status)

    def _fetch(self, url: str) -> Fetched:
        """Fetch a page, following a few redirects; each target is checked like a link."""
        hops, ends_at = [url], time.monotonic() + self._limits.page_seconds
        while True:
            known = self._known_page(url)
            reply = self._site.get(url, known, ends_at)
            if reply.status not in REDIRECT_STATUSES or "location" not in reply.headers:
                return Fetched(url, reply, known)
            url = self._redirect_target(url, reply)
            if url in hops or len(hops) > self._limits.redirects:
                raise NotStored("too_many_redirects", http_status=reply.status)
            if url in self._seen:
                raise _SeenAlready
            self._seen.add(url)
            hops.append(url)

    def _redirect_target(self, url: str, reply: egress.Reply) -> str:
        target = url_normalization.joined(url, reply.headers["location"])
        try:
            if target is None:
                raise egress.Blocked
            if url_normalization.same_site(target, self._start):
                return target
            egress.check_url(target, purpose="crawl")
        except egress.Blocked:
            raise NotStored("blocked", http_status=reply.status) from None
        raise NotStored("other_host", http_status=reply.status)

    def _read(self, fetched: Fetched, depth: int) -> Page:
        """Read a page and queue its links."""
        url, reply = fetched.url, fetched.reply
        body, mime_type = fetched.content()
        page = _read_markup(body, mime_type)
        robots = Robots(page.noindex, page.nofollow)
        robots.apply_header(reply.headers.get("x-robots-tag", ""))
        canonical = self._canonical_elsewhere(url, page.canonical)
        if canonical:
            self._canonical.add(canonical)
            self._add(canonical, depth)
        if depth < self._depth and not robots.nofollow:
            base = url_normalization.joined(url, page.base) if page.base else url
            for link in page.links:
                self._add(url_normalization.joined(base or url, link), depth + 1)
        if robots.noindex:
            raise NotStored("noindex", http_status=reply.status)
        digest = hashlib.sha256(body).hexdigest()
        if canonical or digest in self._digests:
            raise NotStored("duplicate", http_status=reply.status)
        self._digests.add(digest)
        is_known = fetched.known is not None and fetched.known.sha256 == digest
        return Page(
            url,
            depth,
            Outcome.UNCHANGED if is_known else Outcome.NEW,
            http_status=reply.status,
            etag=_validator(reply, "etag", 300),
            last_modified=_validator(reply, "last-modified", 60),
            mime_type=mime_type,
            body=body,
            sha256=digest,
        )

    def _canonical_elsewhere(self, url: str, canonical: str) -> str | None:
        """The canonical URL of the page, if it is another URL on this host; else None."""
        if not canonical or url in self._canonical:
            return None
        target = url_normalization.joined(url, canonical)
        if target is None or target == url or not url_normalization.same_site(target, self._start):
            return None
        return target

    def _read_sitemap(self, url: str | None, *, depth: int, level: int = 1) -> Iterator[Page]:
        if url is None or url in self._seen or not url_normalization.same_site(url, self._start):
            return
        if self._sitemaps_read >= self._limits.sitemaps or self._limit_reached():
            return
        self._seen.add(url)
        try:
            yield from self._queue_sitemap(self._fetch(url), depth=depth, level=level)
        except _SeenAlready:
            return
        except NotStored as refusal:
            yield Page(url, depth, refusal.outcome, refusal.reason, refusal.http_status)

    def _queue_sitemap(self, fetched: Fetched, *, depth: int, level: int = 1) -> Iterator[Page]:
        """Queue the pages that a sitemap and its nested sitemaps list.

        Yields the nested sitemaps that cannot be read.
        """
        self._sitemaps_read += 1
        fetched.check_status()
        try:
            listed = page_links.read_sitemap(fetched.reply.body)
        except MarkupError:
            raise NotStored("malformed", Outcome.FAILED, fetched.reply.status) from None
        for url in listed.pages:
            self._add(url_normalization.joined(fetched.url, url), depth)
        if level < _SITEMAP_LEVELS:
            for url in listed.sitemaps:
                target = url_normalization.joined(fetched.url, url)
                yield from self._read_sitemap(target, depth=depth, level=level + 1)


def _validator(reply: egress.Reply, name: str, max_length: int) -> str:
    """A validator of the response (RFC 9110, 8.8), to be sent with the next request.

    It is empty if a header cannot carry it, or if it is longer than `max_length`.
    """
    value = reply.headers.get(name, "")
    return value if value.isascii() and value.isprintable() and len(value) <= max_length else ""


def _read_markup(body: bytes, mime_type: str) -> Markup:
    if mime_type != file_types.HTML:
        return Markup()
    try:
        return page_links.read_page(body)
    except MarkupError:
        raise NotStored("malformed", Outcome.FAILED) from None
