"""What a page says of itself and where it leads, and what a sitemap lists.

Markup is hostile: it is read in a child process. Run as a module it reads standard input and
prints JSON.
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

from bots.knowledge import child

# The token that robots.txt, robots meta elements and X-Robots-Tag headers may name.
AGENT = "chatplatform-crawler"
MAX_LINKS = 2_000
MAX_LINK_CHARACTERS = 4_000
MAX_SITEMAP_BYTES = 10 * 2**20
TIMEOUT_SECONDS = 5
MEMORY_MB = 256


class MarkupError(Exception):
    """It cannot be read within the limits, or is not what it seems to be."""


@dataclass
class Robots:
    """Whether a page may be kept, and its links be followed."""

    noindex: bool = False
    nofollow: bool = False

    def heed(self, directives: str) -> None:
        """Take in what a meta element or a header says."""
        for directive in directives.lower().split(","):
            word = directive.strip()
            self.noindex |= word in ("noindex", "none")
            self.nofollow |= word in ("nofollow", "none")

    def heed_header(self, value: str) -> None:
        """X-Robots-Tag: what stands behind another crawler's name is not for us."""
        is_ours = True
        for part in value.split(","):
            agent, colon, directive = part.partition(":")
            if colon and agent.strip().lower() not in ("unavailable_after", "max-snippet"):
                is_ours = agent.strip().lower() == AGENT
                part = directive
            if is_ours:
                self.heed(part)


@dataclass(frozen=True)
class Markup:
    """An HTML page: links as they are written, to be joined with `base`."""

    links: Sequence[str] = ()
    base: str = ""
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False


@dataclass(frozen=True)
class Sitemap:
    """Pages that a sitemap lists, and the sitemaps that an index of them lists."""

    pages: Sequence[str] = ()
    sitemaps: Sequence[str] = ()


def read_page(body: bytes) -> Markup:
    """The links and directives of an HTML page in UTF-8, read in a child process."""
    return Markup(**_asked("page", body))


def read_sitemap(body: bytes) -> Sitemap:
    """The addresses in a sitemap or an index of them, gzip or not, read in a child process."""
    return Sitemap(**_asked("sitemap", body))


def _asked(kind: str, body: bytes) -> dict[str, Any]:
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.seek(0)
        try:
            ended = child.run(
                "bots.knowledge.markup", kind, timeout_seconds=TIMEOUT_SECONDS, stdin=file
            )
            found: dict[str, Any] = json.loads(ended.output)
        except (child.TookTooLong, child.SaidTooMuch, ValueError) as error:
            raise MarkupError(kind) from error
    if "error" in found:
        raise MarkupError(found["error"])
    return found


# --- in the child -------------------------------------------------------------------------------


class _PageReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        # By address: a page often links another twice. Order is kept.
        self.links: dict[str, None] = {}
        self.base = self.canonical = ""
        self.robots = Robots()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in reversed(attrs)}
        href = given.get("href", "")[:MAX_LINK_CHARACTERS]
        rel = given.get("rel", "").lower().split()
        if tag in ("a", "area"):
            if href and "nofollow" not in rel and len(self.links) < MAX_LINKS:
                self.links[href] = None
        elif tag == "base":
            self.base = self.base or href
        elif tag == "link" and "canonical" in rel:
            self.canonical = self.canonical or href
        elif tag == "meta" and given.get("name", "").lower() in ("robots", AGENT):
            self.robots.heed(given.get("content", ""))


def _page(body: bytes) -> Markup:
    reader = _PageReader()
    reader.feed(body.decode("utf-8", "replace"))
    reader.close()
    robots = reader.robots
    return Markup(
        tuple(reader.links), reader.base, reader.canonical, robots.noindex, robots.nofollow
    )


class _SitemapReader:
    """`loc` elements, by the kind of element that they stand in."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {"url": [], "sitemap": []}
        self._path: list[str] = []
        self._text = ""
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _refuse(self, *_: object) -> None:
        # No sitemap needs one; entities are declared there.
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
        name, above = self._path.pop(), self._path[-1] if self._path else ""
        if name == "loc" and above in self.found and len(self.found[above]) < MAX_LINKS:
            self.found[above].append(self._text.strip())


def _sitemap(body: bytes) -> Sitemap:
    if body.startswith(b"\x1f\x8b"):
        unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
        body = unzip.decompress(body, MAX_SITEMAP_BYTES)
        if unzip.unconsumed_tail:
            raise MarkupError("unpacks to too much data")
    reader = _SitemapReader()
    reader.parser.Parse(body, True)
    return Sitemap(tuple(reader.found["url"]), tuple(reader.found["sitemap"]))


def _main(kind: str) -> None:
    # Limits come first: from here on nothing that the markup does reaches beyond this process.
    child.limit(MEMORY_MB, TIMEOUT_SECONDS)
    body = sys.stdin.buffer.read()
    answer: dict[str, object]
    try:
        answer = asdict(_page(body) if kind == "page" else _sitemap(body))
    except (MarkupError, expat.ExpatError, zlib.error, AssertionError) as error:
        # AssertionError: how the HTML parser ends on a few kinds of nonsense.
        answer = {"error": str(error) or type(error).__name__}
    child.say(json.dumps(answer).encode())


if __name__ == "__main__":
    _main(*sys.argv[1:])
