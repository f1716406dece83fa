"""The values of a crawl: its limits, the pages that it knows, and the outcome of each page."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of one page."""

    NEW = "new"  # its bytes are new or changed
    UNCHANGED = "unchanged"  # its bytes are the known ones
    REFUSED = "refused"  # by its site, or by our guard or limits
    FAILED = "failed"  # the site did not deliver it


@dataclass(frozen=True)
class Limits:
    """The limits of one crawl."""

    pages: int = 200  # stored pages
    results: int = 400  # all pages, refused and failed ones too
    total_bytes: int = 100_000_000
    total_seconds: float = 420.0  # a worker ends a job after 600
    page_bytes: int = 2_000_000  # decompressed
    page_seconds: float = 15.0  # with its redirects
    redirects: int = 3
    sitemaps: int = 10
    delay_seconds: float = 0.5  # between two requests
    max_delay_seconds: float = 5.0  # the longest Crawl-delay of a site that is respected


@dataclass(frozen=True)
class KnownPage:
    """A page as an earlier crawl stored it."""

    sha256: str
    mime_type: str
    etag: str
    last_modified: str
    read: Callable[[], bytes]


@dataclass(frozen=True)
class Page:
    """One page of a crawl; `reason` says why it was not stored, `left` counts queued pages."""

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


class NotStored(Exception):
    """Ends the work on a page that is not stored."""

    def __init__(
        self, reason: str, outcome: Outcome = Outcome.REFUSED, http_status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.outcome, self.http_status = reason, outcome, http_status
