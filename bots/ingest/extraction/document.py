"""The types that readers return, and what they share: cleaning text, headings and tables."""

import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bots.language.normalization import normalize

# A longer text must be split into several documents, since it would take too long to encode.
MAX_TEXT_CHARACTERS = 2_000_000

# The maximum number of rows of a table.
MAX_ROWS = 20_000

# Separates lines of code, which are neither split into paragraphs nor joined like wrapped text.
CODE_LINE = "\u2028"
# A longer block is a text, not a code example.
_MAX_CODE_LINES = 25

# A longer first cell of a row is a text, not a name.
_MAX_NAME_WORDS = 12

# A table has at most this many rows of column names.
_MAX_HEADER_ROWS = 5
_DIGIT = re.compile(r"\d")
_UNSAFE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufdd0\ufeff\ud800-\udfff]")

# Stands for struck-out text until `remove_strikethrough` removes it. No text contains this
# character.
STRUCK = "\ufdd0"
_STRUCK = re.compile(rf"{STRUCK}(?:\s*{STRUCK})*")
# Marks the place of a struck-out part.
_OMISSION = "[…]"
_OPENING, _ENDING = frozenset(":：(（["), frozenset(".!?…。！？")
_CLOSING = _ENDING | frozenset(",;:)]/、，；：）")


@dataclass(frozen=True)
class Section:
    """Text under one heading or on one PDF page; blank lines separate its paragraphs."""

    heading: str
    text: str
    page: int | None = None


class Content(NamedTuple):
    """What a reader returns: the document's own title, or "", and its sections."""

    title: str
    sections: list[Section]
    # Says which parts of the document could not be read, in a line for each cause; "" if there are
    # none.
    warning: str = ""


@dataclass(frozen=True)
class ExtractedText:
    title: str
    mime_type: str
    sections: tuple[Section, ...]
    language: str
    warning: str = ""


def warning_line(what: str, values: int | str) -> str:
    """A line of a warning: what could not be read, translated when it is shown, and how much or
    which. Empty if there are no values."""
    return f"{what}: {values}." if values else ""


class ExtractError(Exception):
    """The text of a file cannot be extracted; the message is written for people.

    The message is stored in English and translated when it is shown; only the limit that the file
    exceeds is not, so it stands behind a colon. `code` is one of those in `DocumentError`.
    """

    def __init__(self, code: str, message: str, limit: int | str | None = None) -> None:
        self.code = code
        shown = f"{limit:,}" if isinstance(limit, int) else limit
        self.message = message if limit is None else f"{message}: {shown}."
        super().__init__(self.message)


def clean(text: str) -> str:
    """Normalize to NFC and remove control characters, surrogates and repeated blank lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n\n")
    text = normalize("NFC", _UNSAFE.sub("", text)).replace("\u00a0", " ")
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def remove_strikethrough(text: str) -> str:
    """Remove the struck-out parts of a paragraph, for which STRUCK stands.

    `[…]` marks a gap that would break a sentence: "Old price: […], new price: 30". Lines whose
    words are all struck out are dropped.
    """
    if STRUCK not in text:
        return text
    lines = ((line, _mended(line) if STRUCK in line else line) for line in text.split("\n"))
    return "\n".join(mended for line, mended in lines if mended or not line)


def _mended(line: str) -> str:
    pieces, *others = [[piece] for piece in _STRUCK.split(line)]
    for (after,) in others:
        left, right = pieces[-1].rstrip(), after.lstrip()
        is_torn = left[-1:] in _OPENING or right[:1] in _CLOSING
        if is_torn or (left and not right and left[-1] not in _ENDING):
            pieces += [_OMISSION, after]
        else:
            is_apart = len(left) < len(pieces[-1]) or len(right) < len(after)
            pieces[-1:] = [left, " " if left and right and is_apart else "", right]
    mended = "".join(pieces).rstrip()
    return mended if any(map(str.isalnum, mended)) else ""


def mark_code_lines(code: str) -> str:
    """Mark lines of code, so that line ends and indentation survive all later steps.

    A long block becomes ordinary lines, and its blank lines are dropped.
    """
    lines = textwrap.dedent(code).strip("\n").split("\n")
    if len(lines) > _MAX_CODE_LINES:
        return "\n".join(filter(str.strip, lines))
    return CODE_LINE.join(line.rstrip() for line in lines)


def labeled_row(header: Mapping[int, str], row: Mapping[int, str]) -> str:
    """Write a row, given by column, as lines of `column: value`; empty cells are left out."""
    lines: list[str] = []
    for column, value in row.items():
        name, value = header.get(column, ""), clean(value.strip())
        if value:
            lines.append(f"{name}: {value}" if name else value)
    return "\n".join(lines)


def names_below(header: Mapping[int, str], row: Mapping[int, str]) -> dict[int, str]:
    """The names of columns, each after the name of its group."""
    columns = sorted(header.keys() | row.keys())
    parts = {column: (header.get(column, ""), row.get(column, "")) for column in columns}
    return {column: " ".join(dict.fromkeys(filter(None, parts[column]))) for column in columns}


def table_lines(rows: Sequence[Mapping[int, str]]) -> list[str]:
    """Write the rows of a table, given by column, as list items.

    If the first rows name more than two columns and rows with figures follow, each cell gets the
    name of its column. Otherwise bars separate the cells, and a dash stands for an empty cell.
    """
    rows = [dict(row) for row in rows if row]
    columns = max(map(max, rows), default=0) + 1
    header: dict[int, str] = {}
    names = 0
    for row in rows[:_MAX_HEADER_ROWS] if columns > 2 else ():
        if any(map(_DIGIT.search, row.values())):
            break
        header, names = names_below(header, row), names + 1
        # The last row of the header has a different name in each column.
        if len(row) == len(set(row.values())) == columns:
            break
    counts, group = Counter(header.values()), ""
    for column, name in header.items():
        # The name of a group may stand only above its first column, but applies to the others too.
        group = rows[0].get(column, group)
        if counts[name] > 1 and column not in rows[0]:
            header[column] = f"{group} {name}".strip()
    rest = rows[names:]
    if len(header) == columns and any(_DIGIT.search(text) for row in rest for text in row.values()):
        return ["- " + labeled_row(header, row).replace("\n", ", ") for row in rest]
    return [
        "- " + " | ".join(row.get(column, "") or "–" for column in range(max(row) + 1))
        for row in rows
    ]


def headed_row(table: str, header: Mapping[int, str], row: Mapping[int, str]) -> str:
    """The heading of a row: the name of its table, and its first cell if that is a name."""
    first = min(header, default=None)
    name = " ".join(row.get(first, "").split()) if first is not None else ""
    is_name = any(map(str.isalpha, name)) and len(name.split()) <= _MAX_NAME_WORDS
    return " > ".join(filter(None, (table, name if is_name else "")))


def check_length(characters: int) -> None:
    if characters > MAX_TEXT_CHARACTERS:
        raise ExtractError(
            "too_large", "The text has more characters than the limit", MAX_TEXT_CHARACTERS
        )


class Headings:
    """Tracks the headings above the current place in a document."""

    def __init__(self, title: str = "") -> None:
        self._title = title
        self._open: dict[int, str] = {}

    def below(self, level: int, heading: str) -> str:
        """The heading with its nearest parent before it: "Returns > Damaged goods".

        A parent of level 1, or one that repeats the title, is left out.
        """
        self._open = {key: value for key, value in self._open.items() if key < level}
        above = self._open[max(self._open)] if self._open and max(self._open) > 1 else ""
        self._open[level] = heading
        return f"{above} > {heading}" if above and above != self._title else heading


class SectionBuilder:
    """Collects paragraphs into sections, each under the latest heading."""

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
        """Start a PDF page, whose text is under the latest heading until the next heading."""
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
