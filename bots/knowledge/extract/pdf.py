"""The reader of PDF: lines, columns, paragraphs and headings by where the text stands."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from bots.knowledge.extract import pdf_layout, text_headings
from bots.knowledge.extract.document import (
    DENSE,
    Content,
    ExtractError,
    Section,
    check_length,
    clean,
)
from bots.knowledge.extract.pdf_layout import SAME_LINE, Line
from bots.knowledge.words import normalize

MAX_PAGES = 2_000
# At the end of a line these two only break a word; a plain "-" may belong to it.
_SOFT_HYPHEN = re.compile(r"(?<=\w)[\u00ad\u2010]\n[ \t]*(?=\w)")
_HARD_HYPHEN = re.compile(r"([a-zà-ỹ]{2})-\n[ ]*([a-zà-ỹ]{2})")
# Words that are written with their hyphen: "e-mail", "self-service", "check-in".
_COMPOUND = re.compile(
    r"(\b(?:[a-z]|self|non|co|ex))-\n[ ]*(?=[a-z])|-\n[ ]*(?=(?:in|out|up|off|on)\b)"
)
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# A line of a table of contents: dots lead to the number of the page.
_CONTENTS = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}+\s*+(?:(\d++)|[ivxlc]++)\s*+$")
# A new paragraph: a distance of so much of the usual one.
_PARAGRAPH = 1.3
# On fewer pages a line that all of them have may be text.
_FEW_PAGES = 4
# What a browser prints above and below a page: the date and the title, the address and the number.
_PRINTED = re.compile(r"(?:#/#/#|#\.#\.#|#-#-#),? #:#|(?:file|https?)://\S+(?: # ?/ ?#)?$|# ?/ ?#$")
# A heading is so much larger than the text, and at most so long.
_LARGER, _MAX_HEADING = 1.12, 120
# The middle word of no language is longer; a few words tell nothing.
_MAX_MEAN_LETTERS, _MIN_LETTERS = 12, 60
_MARKS = ".,;:!?()[]\"'“”‘’„«»-–"
# The operator that sets how letters are drawn, and those that draw; 3 and 7 draw nothing.
_UNDRAWN = re.compile(rb"[37]\s+Tr\b")
_DRAWS = frozenset({b"Tj", b"TJ", b"'", b'"'})


def read_pdf(path: Path) -> Content:
    import pdf_oxide  # noqa: PLC0415  parsers are loaded in the child only
    import pypdf  # noqa: PLC0415
    from pypdf import errors  # noqa: PLC0415

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ExtractError("encrypted", "The PDF is protected by a password.")
        if len(reader.pages) > MAX_PAGES:
            raise ExtractError("too_large", f"The PDF has more than {MAX_PAGES} pages.")
        title = str((reader.metadata and reader.metadata.title) or "")
        document = pdf_oxide.PdfDocument(str(path))
        data = _without_undrawn_text(reader, document)
    except errors.LimitReachedError as error:
        raise ExtractError("too_large", "The PDF unpacks to too much data.") from error
    except errors.FileNotDecryptedError as error:
        raise ExtractError("encrypted", "The PDF is protected by a password.") from error
    if data:
        document = pdf_oxide.PdfDocument.from_bytes(data)
    pages, warning = _readable(list(_pages(document)))
    pages = _without_running_lines(_without_contents(pages))
    sections = _sections([pdf_layout.in_reading_order(page) for page in pages])
    return Content(title, sections, warning)


def _readable(pages: list[list[Line]]) -> tuple[list[list[Line]], str]:
    """The pages without those whose words cannot be told apart, and what is missing, in words."""
    glued = [has_glued_words(" ".join(line.text for line in page)) for page in pages]
    empty = sum(not page for page in pages)
    if any(glued) and sum(glued) + empty == len(pages):
        message = "Its words are drawn without spaces: save it again, or as a Word file."
        raise ExtractError("unreadable", message)
    missing = (
        (empty, "hold no text: they may be scans"),
        (sum(glued), "are left out: their words are drawn without spaces"),
    )
    warning = " ".join(f"{n} of {len(pages)} pages {what}." for n, what in missing if n)
    pairs = zip(pages, glued, strict=True)
    return [[] if is_glued else page for page, is_glued in pairs], warning


def has_glued_words(text: str) -> bool:
    """Whether the words of a text are too long for any language that parts them."""
    words = [word for word in text.split() if word.strip(_MARKS).isalpha()]
    words = [word for word in words if not DENSE.search(word)]
    letters = sum(map(len, words))
    return letters > _MIN_LETTERS and letters > _MAX_MEAN_LETTERS * len(words)


def _without_undrawn_text(reader: Any, document: Any) -> bytes | None:
    """The file without text that nobody who opens it sees; None if there is none."""
    import pypdf  # noqa: PLC0415  parsers are loaded in the child only

    numbers = [
        number
        for number, page in enumerate(reader.pages)
        if (content := page.get_contents()) is not None
        and _UNDRAWN.search(content.get_data())
        and not _is_scan(document, number)
    ]
    if not numbers:
        return None
    writer = pypdf.PdfWriter(clone_from=reader)
    for number in numbers:
        content = writer.pages[number].get_contents()
        assert content is not None
        content.operations = list(_drawn(content.operations))
        writer.pages[number].replace_contents(content)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _is_scan(document: Any, number: int) -> bool:
    """Whether a picture takes most of a page: text below it that is not drawn is what it shows."""
    left, bottom, right, top = document.page_media_box(number)
    pictures = document.page_images(number)
    area = max((picture["width"] * picture["height"] for picture in pictures), default=0)
    return bool(2 * area > (right - left) * (top - bottom))


def _drawn(operations: Sequence[tuple[Any, bytes]]) -> Iterator[tuple[Any, bytes]]:
    """The operations of a page without those that draw text which is not to be seen."""
    mode, outer = 0, list[int]()
    for operands, operator in operations:
        if operator == b"Tr":
            mode = operands[0]
        elif operator == b"q":
            outer.append(mode)
        elif operator == b"Q" and outer:
            mode = outer.pop()
        if operator not in _DRAWS or mode not in {3, 7}:
            yield operands, operator


def _pages(document: Any) -> Iterator[list[Line]]:
    """The pieces of text of each page, with their places."""
    total = 0
    for number in range(document.page_count()):
        lines = pdf_layout.pieces(document.extract_spans(number))
        lines = [line.with_text(_LIGATURE.sub(_letters, clean(line.text))) for line in lines]
        total += sum(len(line.text) for line in lines)
        check_length(total)
        yield [line for line in lines if line.text.strip()]


def _letters(ligature: re.Match[str]) -> str:
    return normalize("NFKC", ligature[0])


def _without_contents(pages: list[list[Line]]) -> list[list[Line]]:
    """Without tables of contents: their numbers are those of pages, and not prices."""
    listed = [match for page in pages for line in page if (match := _CONTENTS.search(line.text))]
    numbers = [int(match[1]) for match in listed if match[1]]
    if numbers != sorted(numbers) or (numbers and numbers[-1] > len(pages)):
        return pages
    return [[line for line in page if not _CONTENTS.search(line.text)] for page in pages]


def _without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
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


def _row_at_edge(lines: Sequence[Line], edge: Callable[[Iterator[float]], float]) -> list[Line]:
    """What stands highest or lowest on a page: a running line may have a part at either side."""
    if not lines:
        return []
    y = edge(line.y for line in lines)
    return [line for line in lines if abs(line.y - y) < SAME_LINE * line.size]


def _text_of(row: Sequence[Line]) -> str:
    return " ".join(line.text.strip() for line in sorted(row, key=lambda line: line.x))


def _is_running(shape: str, count: int, pages: int) -> bool:
    """Whether lines of one shape head or end pages; a chapter's only end with the page's number."""
    if shape == "#" or _PRINTED.match(shape):
        return True
    if pages < _FEW_PAGES:
        return count == pages > 1 and "#" in shape
    return count * 2 > pages or (count > 2 and shape.endswith("#"))


def _sections(pages: Sequence[Sequence[Line]]) -> list[Section]:
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


def _joined(lines: Iterator[Line]) -> str:
    """A heading of several lines; lines of other sizes are a heading below it."""
    sized = groupby(lines, key=lambda line: round(line.size, 1))
    parts = [" ".join(line.text.strip() for line in group) for _, group in sized]
    return clean(" > ".join(parts[-2:]))


def _is_heading(line: Line, body: float) -> bool:
    is_larger = line.size >= _LARGER * body and len(line.text) <= _MAX_HEADING
    return is_larger and any(map(str.isalpha, line.text))


def _paragraphs(lines: Sequence[Line]) -> str:
    """The lines with an empty one where the distance is larger than usual."""
    steps = [above.y - below.y for above, below in pairwise(lines) if above.y > below.y]
    usual = Counter(round(step, 0) for step in steps).most_common(1)
    text = lines[0].text
    for above, below in pairwise(lines):
        is_far = bool(usual) and above.y - below.y > _PARAGRAPH * usual[0][0]
        text += ("\n\n" if is_far else "\n") + below.text
    text = _COMPOUND.sub(r"\1-", without_soft_hyphens(text))
    return _HARD_HYPHEN.sub(r"\1\2", text)


def without_soft_hyphens(text: str) -> str:
    """Rejoin words that a soft or typographic hyphen breaks at the end of a line."""
    return _SOFT_HYPHEN.sub("", text)
