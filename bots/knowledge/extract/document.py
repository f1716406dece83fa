"""What is read from a file, and how its text is cleaned and collected."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bots.knowledge.words import normalize

# About 1,300 passages, which take half an hour to encode: more is not one document.
MAX_TEXT_CHARACTERS = 2_000_000

MAX_ROWS = 20_000

# Ends a line of code. It separates no paragraph, and nothing joins it with the next line.
CODE_LINE = "\u2028"
# What is longer is no example, but a text.
_MAX_CODE_LINES = 25

# A longer first cell of a row is a text, and no name.
_MAX_NAME_WORDS = 12

# Above a table stand so many rows of names at most.
_MAX_HEADER_ROWS = 5
_DIGIT = re.compile(r"\d")
# Scripts without spaces between words.
DENSE = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
_UNSAFE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ud800-\udfff]")


@dataclass(frozen=True)
class Section:
    """Text under one heading or on one PDF page; blank lines separate its paragraphs."""

    heading: str
    text: str
    page: int | None = None


class Content(NamedTuple):
    """What a reader returns: the title that the document gives itself, or "", and its sections."""

    title: str
    sections: list[Section]
    # What of the document could not be read; "": nothing.
    warning: str = ""


@dataclass(frozen=True)
class ExtractedText:
    title: str
    mime_type: str
    sections: tuple[Section, ...]
    language: str
    warning: str = ""


class ExtractError(Exception):
    """`code`: unsupported_type, too_large, encrypted, empty, malformed, unreadable,
    unknown_encoding or timeout.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def clean(text: str) -> str:
    """NFC without control characters and surrogates; at most one blank line in a row."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n\n")
    text = normalize("NFC", _UNSAFE.sub("", text)).replace("\u00a0", " ")
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def as_written(code: str) -> str:
    """Lines that keep their ends and their indentation, whatever is done to the text."""
    lines = textwrap.dedent(code).strip("\n").split("\n")
    if len(lines) > _MAX_CODE_LINES:
        return "\n".join(filter(str.strip, lines))
    return CODE_LINE.join(line.rstrip() for line in lines)


def labelled_row(header: Mapping[int, str], row: Mapping[int, str]) -> str:
    """A row of a table, by column, as lines of `column: value` without its empty cells."""
    lines: list[str] = []
    for column, value in row.items():
        name, value = header.get(column, ""), clean(value.strip())
        if value:
            lines.append(f"{name}: {value}" if name else value)
    return "\n".join(lines)


def names_below(header: Mapping[int, str], row: Mapping[int, str]) -> dict[int, str]:
    """The names of columns, each below the name of its group."""
    columns = sorted(header.keys() | row.keys())
    parts = {column: (header.get(column, ""), row.get(column, "")) for column in columns}
    return {column: " ".join(dict.fromkeys(filter(None, parts[column]))) for column in columns}


def table_lines(rows: Sequence[Mapping[int, str]]) -> list[str]:
    """The rows of a table, by column, as items of a list.

    If the first row names the columns of figures, its names take the place of the bars: else an
    empty cell keeps its place, since what stands beside it belongs to another column.
    """
    rows = [dict(row) for row in rows if row]
    columns = max(map(max, rows), default=0) + 1
    header: dict[int, str] = {}
    names = 0
    for row in rows[:_MAX_HEADER_ROWS] if columns > 2 else ():
        if any(map(_DIGIT.search, row.values())):
            break
        header, names = names_below(header, row), names + 1
        # Below names of groups stand the names of their columns.
        if len(row) == len(set(row.values())) == columns:
            break
    rest = rows[names:]
    if len(header) == columns and any(_DIGIT.search(text) for row in rest for text in row.values()):
        return ["- " + labelled_row(header, row).replace("\n", ", ") for row in rest]
    return [
        "- " + " | ".join(row.get(column, "") or "–" for column in range(max(row) + 1))
        for row in rows
    ]


def headed_row(table: str, header: Mapping[int, str], row: Mapping[int, str]) -> str:
    """The heading of a row: its table, and the words of its first column, which say what it is."""
    first = min(header, default=None)
    name = " ".join(row.get(first, "").split()) if first is not None else ""
    is_name = any(map(str.isalpha, name)) and len(name.split()) <= _MAX_NAME_WORDS
    return " > ".join(filter(None, (table, name if is_name else "")))


def check_length(characters: int) -> None:
    if characters > MAX_TEXT_CHARACTERS:
        raise ExtractError("too_large", f"The text is above {MAX_TEXT_CHARACTERS} characters.")


class Headings:
    """The headings above a place in a document: "Returns > Damaged goods"."""

    def __init__(self, title: str = "") -> None:
        self._title = title
        self._open: dict[int, str] = {}

    def below(self, level: int, heading: str) -> str:
        """The heading with its nearest parent; the title itself and a first level are no parent."""
        self._open = {key: value for key, value in self._open.items() if key < level}
        above = self._open[max(self._open)] if self._open and max(self._open) > 1 else ""
        self._open[level] = heading
        return f"{above} > {heading}" if above and above != self._title else heading


class SectionBuilder:
    """Collects paragraphs under the latest heading."""

    def __init__(self) -> None:
        self._sections: list[Section] = []
        self._heading = ""
        self._page: int | None = None
        self._text: list[str] = []
        self._length = 0

    def start_section(self, heading: str) -> None:
        self._close()
        self._heading = clean(" ".join(heading.split()))

    def start_page(self, page: int) -> None:
        """What follows stands on this page, still under the latest heading."""
        self._close()
        self._page = page

    def add(self, text: str, *, glue: str = "\n\n") -> None:
        if text.strip():
            self._text.append((glue if self._text else "") + text)
            self._length += len(text)
            check_length(self._length)

    def _close(self) -> None:
        text = clean("".join(self._text))
        if text:
            self._sections.append(Section(self._heading, text, self._page))
        self._text.clear()

    def build(self) -> list[Section]:
        self._close()
        return self._sections
