"""Sends the requests of a crawl."""

import re
import time
from collections.abc import Callable

from protego import Protego

from bots.ingest import page_links, url_normalization
from bots.ingest.crawler.types import KnownPage, Limits, NotStored, Outcome
from bots.ingest.extraction import encodings
from chatplatform import egress

USER_AGENT = f"{page_links.AGENT}/1.0"
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/plain,text/markdown;q=0.9,*/*;q=0.5"
# The maximum number of redirects to a robots.txt, and its maximum size in bytes (RFC 9309).
_ROBOTS_REDIRECTS = 5
_ROBOTS_BYTES = 512_000
# Matches a rule's user agent with a version, which is removed: rules apply to all versions.
_VERSION = re.compile(r"^([ \t]*user-agent[ \t]*:[ \t]*[\w-]+)/\S*", re.IGNORECASE | re.MULTILINE)


class Site:
    """Sends a crawl's requests one by one, with pauses, as its limits and robots.txt allow."""

    def __init__(self, limits: Limits, pause: Callable[[float], None]) -> None:
        self._limits = limits
        self._pause = pause
        # The robots.txt of each origin; None if it could not be read, so that no page may be
        # fetched.
        self._robots: dict[str, Protego | None] = {}
        self._ends_at = time.monotonic() + limits.total_seconds
        self._bytes_left = limits.total_bytes
        self._has_requested = False

    def limit_reached(self) -> str:
        if time.monotonic() >= self._ends_at:
            return "time_limit"
        return "byte_limit" if self._bytes_left <= 0 else ""

    def sitemaps(self, url: str) -> list[str]:
        """The sitemaps that the robots.txt of this page's origin lists."""
        robots = self._robots_for(url)
        return list(robots.sitemaps)[: self._limits.sitemaps] if robots else []

    def get(self, url: str, known: KnownPage | None, ends_at: float) -> egress.Reply:
        """Request a page; the status is 304 if a known page has not changed.

        Raises NotStored.
        """
        robots = self._robots_for(url)
        if robots is None:
            raise NotStored("robots_unreachable")
        if not robots.can_fetch(url, page_links.AGENT):
            raise NotStored("robots")
        headers = {}
        if known and known.etag:
            headers["If-None-Match"] = known.etag
        if known and known.last_modified:
            headers["If-Modified-Since"] = known.last_modified
        self._wait(robots.crawl_delay(page_links.AGENT) or 0)
        seconds = min(ends_at, self._ends_at + 1) - time.monotonic()
        return self._exchange(url, headers, seconds, self._limits.page_bytes)

    def _wait(self, crawl_delay: float) -> None:
        seconds = max(self._limits.delay_seconds, min(crawl_delay, self._limits.max_delay_seconds))
        if self._has_requested and seconds:
            self._pause(seconds)
        self._has_requested = True

    def _exchange(
        self, url: str, headers: dict[str, str], seconds: float, max_bytes: int
    ) -> egress.Reply:
        if seconds <= 0:
            raise NotStored("timeout", Outcome.FAILED)
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
            raise NotStored("blocked") from None
        except egress.TooLarge:
            self._bytes_left -= max_bytes
            raise NotStored("too_large") from None
        except egress.Timeout:
            raise NotStored("timeout", Outcome.FAILED) from None
        except egress.EgressError:
            raise NotStored("connection_failed", Outcome.FAILED) from None
        self._bytes_left -= len(reply.body)
        return reply

    def _robots_for(self, url: str) -> Protego | None:
        origin = url_normalization.origin(url)
        if origin not in self._robots:
            self._robots[origin] = self._read_robots(f"{origin}/robots.txt")
        return self._robots[origin]

    def _read_robots(self, url: str | None) -> Protego | None:
        """Read a robots.txt; None if it cannot be read, so that nothing may be fetched.

        A missing robots.txt allows everything (RFC 9309). Raises NotStored if its host is blocked.
        """
        reply: egress.Reply | None = None
        ends_at = time.monotonic() + self._limits.page_seconds
        try:
            for _ in range(_ROBOTS_REDIRECTS + 1):
                if url is None:
                    return None
                reply = self._exchange(url, {}, ends_at - time.monotonic(), _ROBOTS_BYTES)
                if reply.status not in REDIRECT_STATUSES:
                    break
                url = url_normalization.joined(url, reply.headers.get("location", ""))
        except NotStored as refusal:
            if reply is None and refusal.reason == "blocked":
                raise
            return None
        if reply is None or reply.status >= 500 or reply.status == 429:
            return None
        if reply.status >= 300:
            return Protego.parse("")
        # The file may have any kind of line end, and begin with a byte order mark.
        text = encodings.rough(reply.body).lstrip("\ufeff")
        return Protego.parse(_VERSION.sub(r"\1", "\n".join(text.splitlines())))
