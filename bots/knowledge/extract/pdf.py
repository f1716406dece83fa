"""The reader of PDF: lines, columns, paragraphs and headings by where the text stands."""

import importlib
import json
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NoReturn

from bots.knowledge.extract import text_headings
from bots.knowledge.extract.document import (
    ExtractError,
    Section,
    TitleAndSections,
    check_length,
    clean,
)
from bots.knowledge.words import normalize

MAX_PAGES = 2_000
# So many pages are read by two processes.
_LONG = 30
# Longer strings of hexadecimal digits are read letter by letter.
_HEX_BYTES = 4_096
# At the end of a line these two only break a word; a plain "-" may belong to it.
_SOFT_HYPHEN = re.compile(r"(?<=\w)[\u00ad\u2010]\n[ \t]*(?=\w)")
_HARD_HYPHEN = re.compile(r"([a-zà-ỹ]{2})-\n[ ]*([a-zà-ỹ]{2})")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# A line of a table of contents: dots lead to the number of the page.
_CONTENTS = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}+\s*+[\divxlc]++\s*+$")
# Shares of the letters' size: pieces on one line, the space between columns, a new paragraph.
_SAME_LINE, _GUTTER, _PARAGRAPH = 0.4, 1.5, 1.3
# The middle letter takes about this share of its size.
_WIDTH = 0.5
# A page has columns if so many of its lines begin in its right half at one place.
# A line that reaches so far into the right column stands over both.
_WIDE = 0.2
_MIN_COLUMN_LINES, _MIN_COLUMN_SHARE = 5, 0.25
# On fewer pages a line that all of them have may be text.
_FEW_PAGES = 4
# What a browser prints above and below a page: the date and the title, the address and the number.
_PRINTED = re.compile(r"(?:#/#/#|#\.#\.#|#-#-#),? #:#|(?:file|https?)://\S+(?: # ?/ ?#)?$|# ?/ ?#$")
# A heading is so much larger than the text, and at most so long.
_LARGER, _MAX_HEADING = 1.12, 120


@dataclass(frozen=True)
class _Line:
    """`x` and `y` from the lower left corner of the page."""

    text: str
    x: float
    y: float
    size: float

    @property
    def end(self) -> float:
        return self.x + len(self.text) * self.size * _WIDTH


def read_pdf(path: Path) -> TitleAndSections:
    import pypdf  # noqa: PLC0415  parsers are loaded in the child only
    from pypdf import errors  # noqa: PLC0415

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ExtractError("encrypted", "The PDF is protected by a password.")
        if len(reader.pages) > MAX_PAGES:
            raise ExtractError("too_large", f"The PDF has more than {MAX_PAGES} pages.")
        pages = _pages(reader)
        title = str((reader.metadata and reader.metadata.title) or "")
    except errors.LimitReachedError as error:
        raise ExtractError("too_large", "The PDF unpacks to too much data.") from error
    except errors.FileNotDecryptedError as error:
        raise ExtractError("encrypted", "The PDF is protected by a password.") from error
    return title, _sections(_without_running_lines(pages))


def _pages(reader: Any) -> list[list[_Line]]:
    """The lines of each page; of a long document a second process reads every second page."""
    _read_hex_faster()
    numbers = range(len(reader.pages))
    if len(numbers) < _LONG:
        return list(_some_pages(reader, numbers))
    pages: dict[int, list[_Line]] = {}
    with _beside(reader, numbers[1::2]) as others:
        pages |= zip(numbers[::2], _some_pages(reader, numbers[::2]), strict=True)
        pages |= zip(numbers[1::2], others(), strict=True)
    check_length(sum(len(line.text) for lines in pages.values() for line in lines))
    return [pages[number] for number in numbers]


def _some_pages(reader: Any, numbers: Sequence[int]) -> Iterator[list[_Line]]:
    total = 0
    for number in numbers:
        page = reader.pages[number]
        lines = [line for line in _lines(page) if not _CONTENTS.search(line.text)]
        total += sum(len(line.text) for line in lines)
        check_length(total)
        yield _in_reading_order(lines, float(page.mediabox.width))


@contextmanager
def _beside(reader: Any, numbers: Sequence[int]) -> Iterator[Callable[[], Iterable[list[_Line]]]]:
    """Read pages in a copy of this process, which has its limits, and end it.

    What it cannot read is read here, so that its error is raised here.
    """
    receiving, sending = os.pipe()
    copy = os.fork()
    if copy == 0:
        os.close(receiving)
        _send_and_exit(reader, numbers, sending)
    os.close(sending)
    with open(receiving, "rb") as stream:

        def received() -> Iterable[list[_Line]]:
            try:
                pages = json.loads(stream.read())
            except ValueError:
                return _some_pages(reader, numbers)
            return [[_Line(*line) for line in lines] for lines in pages]

        try:
            yield received
        finally:
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)


def _send_and_exit(reader: Any, numbers: Sequence[int], sending: int) -> NoReturn:
    # Whatever happens, nothing of the caller goes on in the copy.
    try:
        pages = [[astuple(line) for line in lines] for lines in _some_pages(reader, numbers)]
        with open(sending, "wb") as stream:
            stream.write(json.dumps(pages).encode())
    finally:
        os._exit(0)


def _read_hex_faster() -> None:
    """Let pypdf read "<0048>" as a whole: letter by letter it takes half the time of a page."""
    parser: Any = importlib.import_module("pypdf.generic._data_structures")
    letter_by_letter = parser.read_hex_string_from_stream
    as_string = importlib.import_module("pypdf.generic._utils").create_string_object

    def read_hex(stream: Any, forced_encoding: Any = None) -> Any:
        start = stream.tell()
        digits, end, _ = stream.read(_HEX_BYTES)[1:].partition(b">")
        try:
            data = bytes.fromhex(digits.decode("ascii")) if end else None
        except ValueError:
            data = None  # an odd number of digits, or an error
        if data is None:
            stream.seek(start)
            return letter_by_letter(stream, forced_encoding)
        stream.seek(start + len(digits) + 2)
        return as_string(data, forced_encoding)

    if letter_by_letter.__module__ != __name__:
        parser.read_hex_string_from_stream = read_hex


def _lines(page: Any) -> Iterator[_Line]:
    """The lines of a page as they are drawn; those of two columns side by side are two."""
    pieces: list[_Line] = []

    def draw(text: str, place: Any, matrix: Any, _: Any, size: float) -> None:
        x = matrix[4] * place[0] + matrix[5] * place[2] + place[4]
        y = matrix[4] * place[1] + matrix[5] * place[3] + place[5]
        # Letters may be mirrored and turned back.
        height = abs(size * (matrix[3] or matrix[1]) * (place[3] or place[1]))
        for number, part in enumerate(_LIGATURE.sub(_letters, clean(text)).split("\n")):
            if part.strip():
                pieces.append(_Line(part, float(x), float(y) - number * height, float(height)))

    page.extract_text(visitor_text=draw)
    line: _Line | None = None
    for piece in pieces:
        if line is not None and _continues(line, piece):
            line = _Line(_glued(line.text, piece.text), line.x, line.y, max(line.size, piece.size))
            continue
        if line is not None:
            yield line
        line = piece
    if line is not None:
        yield line


def _letters(ligature: re.Match[str]) -> str:
    return normalize("NFKC", ligature[0])


def _continues(line: _Line, piece: _Line) -> bool:
    """Whether a piece stands behind a line, and not in the next column."""
    size = max(line.size, piece.size)
    is_level = abs(line.y - piece.y) < _SAME_LINE * size
    return is_level and -size < piece.x - line.x and piece.x - line.end < _GUTTER * size


def _glued(before: str, after: str) -> str:
    is_apart = before[-1:].isspace() or after[:1].isspace() or after[:1] in ".,;:!?)]}%’”"
    return f"{before}{after}" if is_apart else f"{before} {after}"


def _in_reading_order(lines: list[_Line], width: float) -> list[_Line]:
    """The lines as they are read: of two columns first the left one."""
    right = Counter(round(line.x / 4) for line in lines if line.x > 0.4 * width)
    # Further places are those of its indented lines.
    place = min((at for at, count in right.items() if count >= _MIN_COLUMN_LINES), default=0)
    is_half = sum(right.values()) >= _MIN_COLUMN_SHARE * len(lines)
    if not place or not is_half or sum(line.x < 0.3 * width for line in lines) < _MIN_COLUMN_LINES:
        return lines
    middle = 4.0 * place - 4
    # A line over both columns, such as a title, parts what is above it from what is below.
    over = middle + _WIDE * width
    wide = sorted({line.y for line in lines if line.x < middle and line.end > over}, reverse=True)

    def order(line: _Line) -> tuple[int, bool, float]:
        band = sum(line.y <= y for y in wide)
        return band, line.x >= middle, -line.y

    return sorted(lines, key=order)


def _without_running_lines(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Drop the top and the bottom lines that pages share, whatever numbers they contain."""
    for edge in (max, min):
        rows = [_row_at_edge(lines, edge) for lines in pages]
        shapes = [re.sub(r"\d+", "#", _text_of(row)) for row in rows]
        counts = Counter(shapes)
        running = {shape for shape in counts if _is_running(shape, counts[shape], len(pages))}
        pages = [
            [line for line in lines if line not in row] if shape in running else lines
            for lines, row, shape in zip(pages, rows, shapes, strict=True)
        ]
    return pages


def _row_at_edge(lines: Sequence[_Line], edge: Callable[[Iterator[float]], float]) -> list[_Line]:
    """What stands highest or lowest on a page: a running line may have a part at either side."""
    if not lines:
        return []
    y = edge(line.y for line in lines)
    return [line for line in lines if abs(line.y - y) < _SAME_LINE * line.size]


def _text_of(row: Sequence[_Line]) -> str:
    return " ".join(line.text.strip() for line in sorted(row, key=lambda line: line.x))


def _is_running(shape: str, count: int, pages: int) -> bool:
    """Whether lines of one shape head or end pages; a chapter's only end with the page's number."""
    if shape == "#" or _PRINTED.match(shape):
        return True
    if pages < _FEW_PAGES:
        return count == pages > 1 and "#" in shape
    return count * 2 > pages or (count > 2 and shape.endswith("#"))


def _sections(pages: Sequence[Sequence[_Line]]) -> list[Section]:
    """The text of each page, under the headings that larger letters show."""
    sizes: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        sizes[round(line.size, 1)] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    if not any(_is_heading(line, body) for lines in pages for line in lines):
        # Its headings show by their words and their place, as those of a plain text.
        return text_headings.paged_sections(_paragraphs(lines) if lines else "" for lines in pages)
    sections, heading = [], ""
    for number, lines in enumerate(pages, 1):
        for is_heading, group in groupby(lines, key=lambda line: _is_heading(line, body)):
            if is_heading:
                heading = _joined(group)
            else:
                sections.append(Section(heading, _paragraphs(list(group)), number))
    return sections


def _joined(lines: Iterator[_Line]) -> str:
    """A heading of several lines; lines of other sizes are a heading below it."""
    sized = groupby(lines, key=lambda line: round(line.size, 1))
    parts = [" ".join(line.text.strip() for line in group) for _, group in sized]
    return clean(" > ".join(parts[-2:]))


def _is_heading(line: _Line, body: float) -> bool:
    is_larger = line.size >= _LARGER * body and len(line.text) <= _MAX_HEADING
    return is_larger and any(map(str.isalpha, line.text))


def _paragraphs(lines: Sequence[_Line]) -> str:
    """The lines with an empty one where the distance is larger than usual."""
    steps = [above.y - below.y for above, below in pairwise(lines) if above.y > below.y]
    usual = Counter(round(step, 0) for step in steps).most_common(1)
    text = lines[0].text
    for above, below in pairwise(lines):
        is_far = bool(usual) and above.y - below.y > _PARAGRAPH * usual[0][0]
        text += ("\n\n" if is_far else "\n") + below.text
    return _HARD_HYPHEN.sub(r"\1\2", without_soft_hyphens(text))


def without_soft_hyphens(text: str) -> str:
    """Rejoin words that a soft or typographic hyphen breaks at the end of a line."""
    return _SOFT_HYPHEN.sub("", text)
