"""Reads the links and robots directives of an HTML page, and the URLs in a sitemap.

Markup may be hostile, so a child process parses it: run as a program, this module reads standard
input and prints JSON.
"""

import json
import sys
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html.parser import HTMLParser
from typing import Any
from xml.parsers import expat

from bots.ingest import child_process

# The name of the crawler in robots.txt, robots meta elements and X-Robots-Tag headers.
AGENT = "chatplatform-crawler"
# The directives with a value after a colon. Other names before a colon are crawlers: compare
# `max-image-preview: none` and `googlebot: none`.
_VALUED = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
MAX_LINKS = 2_000
MAX_LINK_CHARACTERS = 4_000
MAX_SITEMAP_BYTES = 10 * 2**20
TIMEOUT_SECONDS = 5
MEMORY_MB = 256


class MarkupError(Exception):
    """The markup cannot be read within the limits, or is not of the expected kind."""


@dataclass
class Robots:
    """Whether a page may be stored and its links followed."""

    noindex: bool = False
    nofollow: bool = False

    def apply(self, directives: str) -> None:
        """Add the directives of a meta element or a header."""
        for directive in directives.lower().split(","):
            word = directive.strip()
            self.noindex |= word in ("noindex", "none")
            self.nofollow |= word in ("nofollow", "none")

    def apply_header(self, value: str) -> None:
        """Add the directives of an X-Robots-Tag header, except directives for other crawlers."""
        applies = True
        for part in value.split(","):
            before, colon, after = part.lower().partition(":")
            name = before.strip()
            # Names contain no spaces, unlike the part of an `unavailable_after` date after a comma.
            if colon and " " not in name and name not in _VALUED:
                applies = name == AGENT
                part = after
            if applies:
                self.apply(part)


@dataclass(frozen=True)
class Markup:
    """The links and directives of an HTML page; links are as written, relative to `base`."""

    links: Sequence[str] = ()
    base: str = ""
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False


@dataclass(frozen=True)
class Sitemap:
    """The pages that a sitemap lists, and the sitemaps that a sitemap index lists."""

    pages: Sequence[str] = ()
    sitemaps: Sequence[str] = ()


def read_page(body: bytes) -> Markup:
    """The links and directives of an HTML page in UTF-8, read in a child process."""
    return Markup(**_read_in_child("page", body))


def read_sitemap(body: bytes) -> Sitemap:
    """The URLs in a sitemap or sitemap index, which may be gzipped, read in a child process."""
    return Sitemap(**_read_in_child("sitemap", body))


def _read_in_child(kind: str, body: bytes) -> dict[str, Any]:
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.seek(0)
        try:
            finished = child_process.run(
                "bots.ingest.page_links", kind, timeout_seconds=TIMEOUT_SECONDS, stdin=file
            )
            result: dict[str, Any] = json.loads(finished.output)
        except (child_process.TimedOut, child_process.OutputTooLarge, ValueError) as error:
            raise MarkupError(kind) from error
    if "error" in result:
        raise MarkupError(result["error"])
    return result


# --- in the child process -----------------------------------------------------------------------


class _PageReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        # A dict keeps the order and drops repeated links.
        self.links: dict[str, None] = {}
        self.base = self.canonical = ""
        self.robots = Robots()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in reversed(attrs)}
        href = attributes.get("href", "")[:MAX_LINK_CHARACTERS]
        rel = attributes.get("rel", "").lower().split()
        if tag in ("a", "area"):
            if href and "nofollow" not in rel and len(self.links) < MAX_LINKS:
                self.links[href] = None
        elif tag == "base":
            self.base = self.base or href
        elif tag == "link" and "canonical" in rel:
            self.canonical = self.canonical or href
        elif tag == "meta" and attributes.get("name", "").lower() in ("robots", AGENT):
            self.robots.apply(attributes.get("content", ""))


def _page(body: bytes) -> Markup:
    reader = _PageReader()
    reader.feed(body.decode("utf-8", "replace"))
    reader.close()
    robots = reader.robots
    return Markup(
        tuple(reader.links), reader.base, reader.canonical, robots.noindex, robots.nofollow
    )


class _SitemapReader:
    """Collects `loc` elements by the element that contains them."""

    def __init__(self) -> None:
        self.locations: dict[str, list[str]] = {"url": [], "sitemap": []}
        self._path: list[str] = []
        self._text = ""
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _refuse(self, *_: object) -> None:
        # A document type declaration may define entities, which no sitemap needs.
        raise MarkupError("document type declaration")

    def _start(self, name: str, _: object) -> None:
        self._path.append(name.rpartition(" ")[2])
        if len(self._path) == 1 and self._path[0] not in ("urlset", "sitemapindex"):
            raise MarkupError("not a sitemap")
        if len(self._path) > 20:
            raise MarkupError("nested too deeply")
        self._text = ""

    def _characters(self, text: str) -> None:
        if len(self._text) < MAX_LINK_CHARACTERS:
            self._text += text

    def _end(self, _: str) -> None:
        name, parent = self._path.pop(), self._path[-1] if self._path else ""
        if name == "loc" and parent in self.locations and len(self.locations[parent]) < MAX_LINKS:
            self.locations[parent].append(self._text.strip())


def _sitemap(body: bytes) -> Sitemap:
    if body.startswith(b"\x1f\x8b"):
        unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
        body = unzip.decompress(body, MAX_SITEMAP_BYTES)
        if unzip.unconsumed_tail:
            raise MarkupError("unpacks to too much data")
    reader = _SitemapReader()
    reader.parser.Parse(body, True)
    return Sitemap(tuple(reader.locations["url"]), tuple(reader.locations["sitemap"]))


def _main(kind: str) -> None:
    # Set before the markup is read, so that it can harm only this process.
    child_process.limit_resources(MEMORY_MB, TIMEOUT_SECONDS)
    body = sys.stdin.buffer.read()
    result: dict[str, object]
    try:
        result = asdict(_page(body) if kind == "page" else _sitemap(body))
    except (MarkupError, expat.ExpatError, zlib.error, AssertionError) as error:
        # The HTML parser raises AssertionError on a few kinds of nonsense.
        result = {"error": str(error) or type(error).__name__}
    child_process.print_and_exit(json.dumps(result).encode())


if __name__ == "__main__":
    _main(*sys.argv[1:])
