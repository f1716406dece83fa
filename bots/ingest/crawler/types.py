"""The types of a crawl: its limits, known pages, responses and outcomes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum

from bots.ingest.extraction import encodings, file_types
from bots.ingest.extraction.document import ExtractError
from chatplatform import egress

_SITEMAP_OPENING = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?><!--.{0,2000}?-->\s*)*+<(?:\w+:)?(?:urlset|sitemapindex)\b",
    re.DOTALL,
)
_GZIP = b"\x1f\x8b"


class Outcome(StrEnum):
    """The outcome of one page."""

    NEW = "new"  # its bytes are new or changed
    UNCHANGED = "unchanged"  # its bytes are the same as in the earlier crawl
    REFUSED = "refused"  # by the site's rules, or by our network guard, file types or limits
    FAILED = "failed"  # the site did not deliver it


@dataclass(frozen=True)
class Limits:
    """The limits of one crawl."""

    pages: int = 200  # stored pages
    results: int = 400  # all pages, including refused and failed pages
    total_bytes: int = 100_000_000
    total_seconds: float = 420.0  # a worker ends a job after 600 seconds
    page_bytes: int = 2_000_000  # decompressed
    page_seconds: float = 15.0  # including redirects
    redirects: int = 3
    sitemaps: int = 10
    delay_seconds: float = 0.5  # between two requests
    max_delay_seconds: float = 5.0  # a site's longer Crawl-delay is cut to this


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
    """One page of a crawl; `reason` says why it is not stored, and is empty if it is.

    `left` is the number of pages that are still queued.
    """

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
    """A page is not stored; `reason` says why."""

    def __init__(
        self, reason: str, outcome: Outcome = Outcome.REFUSED, http_status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.outcome, self.http_status = reason, outcome, http_status


@dataclass(frozen=True)
class Fetched:
    """The response to the request for a page; `known` is that page in an earlier crawl."""

    url: str
    reply: egress.Reply
    known: KnownPage | None

    @property
    def is_sitemap(self) -> bool:
        body = self.reply.body
        return bool(_SITEMAP_OPENING.match(body[:4_096])) or body.startswith(_GZIP)

    def check_status(self) -> None:
        """Raise NotStored unless the status says that there is a page."""
        status = self.reply.status
        if status == 304 and self.known:
            return
        if status in (404, 410):
            raise NotStored("not_found", Outcome.FAILED, status)
        if not 200 <= status < 300:
            raise NotStored("http_error", Outcome.FAILED, status)

    def content(self) -> tuple[bytes, str]:
        """The body and its MIME type; raises NotStored if the page cannot be used.

        The type is detected from the body; the header only decides between kinds of text.
        """
        self.check_status()
        if self.reply.status == 304 and self.known:
            return self.known.read(), self.known.mime_type
        header = Message()
        header["Content-Type"] = self.reply.headers.get("content-type", "")
        declared = header.get_content_type() if self.reply.headers.get("content-type") else ""
        body = self.reply.body
        if declared.startswith(("text/", "application/xhtml")):
            body = self._in_utf8(header.get_content_charset() or "")
        elif declared.startswith(("image/", "audio/", "video/", "font/")):
            raise NotStored("unsupported_type", http_status=self.reply.status)
        try:
            detected = file_types.sniff(body[: file_types.SNIFF_BYTES], "")
        except ExtractError as error:
            raise NotStored(error.code, http_status=self.reply.status) from None
        if detected != file_types.PLAIN:
            return body, detected
        if declared in (file_types.HTML, "application/xhtml+xml"):
            # The page starts with text, so a doctype tells the reader that it is HTML.
            return b"<!doctype html>\n" + body, file_types.HTML
        if (declared or file_types.PLAIN) not in (
            file_types.PLAIN,
            file_types.MARKDOWN,
            file_types.CSV,
        ):
            # Scripts and data are text too, but not meant for customers.
            raise NotStored("unsupported_type", http_status=self.reply.status)
        return body, declared or file_types.PLAIN

    def _in_utf8(self, charset: str) -> bytes:
        """The body in UTF-8, decoded by the header's charset, or else by the page's own charset."""
        body = self.reply.body
        try:
            return encodings.decode(body, charset or encodings.declared(body)).encode()
        except ExtractError as error:
            raise NotStored(error.code, http_status=self.reply.status) from None
