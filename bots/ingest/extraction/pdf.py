"""Reads PDF files; paragraphs and headings are recognized by the position and size of the text."""

import io
import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from bots.ingest.extraction import (
    ocr,
    pdf_layout,
    pdf_ruled_tables,
    pdf_spaces,
    pdf_visibility,
    text_headings,
)
from bots.ingest.extraction.document import (
    Content,
    ExtractError,
    Section,
    check_length,
    clean,
    remove_strikethrough,
    warning_line,
)
from bots.ingest.extraction.missing_spaces import is_glued, language_of
from bots.ingest.extraction.pdf_layout import MIN_HEADING_RATIO, SAME_LINE, Line
from bots.language.normalization import normalize

MAX_PAGES = 2_000
# At the end of a line these two hyphens only break a word; a plain "-" may belong to the word.
_SOFT_HYPHEN = re.compile(r"(?<=\w)[\u00ad\u2010]\n[ \t]*(?=\w)")
_HARD_HYPHEN = re.compile(r"([a-zà-ỹ]{2})-\n[ ]*([a-zà-ỹ]{2})")
# Matches the hyphen of words that are written with one: "e-mail", "self-service", "check-in".
_COMPOUND = re.compile(
    r"(\b(?:[a-z]|self|non|co|ex))-\n[ ]*(?=[a-z])|-\n[ ]*(?=(?:in|out|up|off|on)\b)"
)
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# Matches the end of a line in a table of contents: dots that lead to the page number.
_CONTENTS = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}+\s*+(?:(\d++)|[ivxlc]++)\s*+$")
# A line starts a new paragraph if it is further from the line above than this multiple of the usual
# distance.
_PARAGRAPH = 1.3
_PAGE_NUMBER = re.compile(r"(?<!\S)\d{1,4}$|^\d{1,4}(?!\S)")
# In a document of fewer pages, a line on all of them may be text.
_FEW_PAGES = 4
# Matches lines that a browser prints above and below a page, with # for each number: date and
# title, URL and page number.
_PRINTED = re.compile(r"(?:#/#/#|#\.#\.#|#-#-#),? #:#|(?:file|https?)://\S+(?: # ?/ ?#)?$|# ?/ ?#$")
# The maximum number of characters of a heading.
_MAX_HEADING = 120
# A page with a longer content stream, in bytes, is a plan or a map.
_MAX_CONTENT = 500_000
# If this many lines in a row, or more than this share of a page's lines, lack spaces, the page is
# skipped.
_GLUED_PARAGRAPH, _MAX_GLUED_SHARE = 3, 0.25
# The maximum number of pages, or ranges of pages, that a warning lists.
_MAX_NAMED = 12


def read_pdf(path: Path) -> Content:
    import pdf_oxide  # noqa: PLC0415  only the child process loads parsers
    import pypdf  # noqa: PLC0415
    from pypdf import errors  # noqa: PLC0415

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ExtractError("encrypted", "The PDF is password-protected.")
        if len(reader.pages) > MAX_PAGES:
            raise ExtractError("too_large", "The PDF has more pages than the limit", MAX_PAGES)
        title = str((reader.metadata and reader.metadata.title) or "")
        original = document = pdf_oxide.PdfDocument(str(path))
        data, damaged = _rewritten(reader, document)
    except errors.LimitReachedError as error:
        raise ExtractError("too_large", "The PDF is too large when unpacked.") from error
    except errors.FileNotDecryptedError as error:
        raise ExtractError("encrypted", "The PDF is password-protected.") from error
    if data:
        document = pdf_oxide.PdfDocument.from_bytes(data)
    if pdf_visibility.has_fields(reader):
        document.flatten_forms()
        document = pdf_oxide.PdfDocument.from_bytes(document.to_bytes())
    drawn = list(_pages(reader, document, damaged))
    pages = [lines for lines, _ in drawn]
    empty = [number for number, lines in enumerate(pages) if not lines and number not in damaged]
    scans = ocr.read(original, empty) if ocr.is_installed() else {}
    pages = [scans.get(number, lines) for number, lines in enumerate(pages)]
    pages, warning = _readable(pages, damaged, scans)
    pages = _without_running_lines(_without_contents(pages))
    ordered = [
        pdf_layout.in_reading_order(pdf_ruled_tables.with_rows(lines, rules), rules)
        for lines, (_, rules) in zip(pages, drawn, strict=True)
    ]
    sections = _sections(ordered)
    return Content(title, sections, warning)


def _readable(
    pages: list[list[Line]], damaged: Collection[int], scans: Collection[int]
) -> tuple[list[list[Line]], str]:
    """Empty the pages whose words are not separated by spaces, and drop other lines without spaces.

    Returns the pages, and a warning about what could not be read well, if anything. Raises
    ExtractError if spaces are missing on all pages that have text.
    """
    numbers = range(len(pages))
    empty = {n for n in numbers if not pages[n]}
    spaced = [_spaced_lines(lines) for lines in pages]
    unspaced = {n for n in numbers if not spaced[n]} - empty
    if unspaced and len(unspaced | empty) == len(pages):
        raise ExtractError(
            "unreadable",
            "The PDF's text has no spaces between words. Save it again, or save it as a Word file.",
        )
    partly_unspaced = {n for n in numbers if len(spaced[n]) < len(pages[n])} - unspaced

    def named(found: Collection[int]) -> str:
        return f"{_page_list(found)} ({len(found)}/{len(pages)})" if found else ""

    warnings = (
        warning_line("Pages that are damaged and couldn't be read in full", named(damaged)),
        warning_line(
            "Pages without text, which may be scanned or damaged", named(empty.difference(damaged))
        ),
        warning_line(
            "Scanned pages read with text recognition (OCR), which can make mistakes", named(scans)
        ),
        warning_line(
            "Pages skipped because their text has no spaces between words",
            named(unspaced.difference(damaged)),
        ),
        warning_line(
            "Pages with lines left out because they have no spaces between words",
            named(partly_unspaced),
        ),
    )
    return spaced, "\n".join(filter(None, warnings))


def _spaced_lines(lines: list[Line]) -> list[Line]:
    """The lines that have spaces; none if the page lacks spaces in a whole paragraph or more."""
    language = language_of(" ".join(line.text for line in lines))
    glued = [is_glued(line.text, language) for line in lines]
    longest = max((len([*run]) for is_run, run in groupby(glued) if is_run), default=0)
    if longest >= _GLUED_PARAGRAPH or sum(glued) > _MAX_GLUED_SHARE * len(lines):
        return []
    return [line for line, is_without in zip(lines, glued, strict=True) if not is_without]


def _page_list(found: Collection[int]) -> str:
    """The page numbers for a warning, such as "2, 5-9"."""
    runs: list[list[int]] = []
    for number in sorted(found):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = [str(run[0] + 1) + (f"-{run[-1] + 1}" if run[1:] else "") for run in runs]
    return ", ".join(named[:_MAX_NAMED] + ["…"] * (len(named) > _MAX_NAMED))


def _rewritten(reader: Any, document: Any) -> tuple[bytes | None, set[int]]:
    """Rewrite the file if pdf_oxide could not read it well, with empty pages for damaged ones.

    Returns the new file, None if the original can be used, and the indexes of the damaged pages.
    """
    import pypdf  # noqa: PLC0415  only the child process loads parsers

    damaged = {number for number, page in enumerate(reader.pages) if not _can_be_unpacked(page)}
    is_changed = pdf_visibility.prepare(reader, damaged)
    is_broken = bool(damaged) or not _finds_every_page(document)
    has_all = len(reader.pages) >= document.page_count()
    if not is_broken and not (is_changed and has_all):
        return None, damaged
    if not has_all:
        raise ExtractError("malformed", "The PDF is damaged. Its pages can't be read.")
    writer = pypdf.PdfWriter()
    for number, page in enumerate(reader.pages):
        if number in damaged:
            writer.add_blank_page(1, 1)
        else:
            writer.add_page(page)
    pdf_visibility.copy_layers(reader, writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue(), damaged


def _can_be_unpacked(page: Any) -> bool:
    from pypdf import errors  # noqa: PLC0415  only the child process loads parsers

    if "/Type" not in page:
        return False
    try:
        content = page.get_contents()
        if content is not None:
            content.get_data()
    except (errors.LimitReachedError, errors.FileNotDecryptedError):
        raise
    # pypdf raises NotImplementedError for an unknown filter.
    except (errors.PyPdfError, NotImplementedError):
        return False
    return True


def _is_drawing(reader: Any, number: int) -> bool:
    """Whether a page draws so much that it is a plan or a map, whose lines would take too much
    memory."""
    content = reader.pages[number].get_contents() if number < len(reader.pages) else None
    return content is not None and len(content.get_data()) > _MAX_CONTENT


def _finds_every_page(document: Any) -> bool:
    """Whether pdf_oxide finds the last page; if not, it would miss pages at the end."""
    try:
        document.page_media_box(document.page_count() - 1)
    except RuntimeError:
        return False
    return True


def _pages(
    reader: Any, document: Any, damaged: set[int]
) -> Iterator[tuple[list[Line], pdf_layout.Rules]]:
    """Yield the visible text of each page with its positions, and the page's drawn rules.

    Adds pages that cannot be decoded to `damaged`.
    """
    visible_text = pdf_visibility.VisibleText(reader, document)
    total = 0
    for number in range(document.page_count()):
        with _decoding_errors() as errors_logged:
            spans = document.extract_spans(number)
        if errors_logged:
            damaged.add(number)
        has_rules = bool(spans) and number not in damaged and not _is_drawing(reader, number)
        rules = pdf_layout.rules(document.extract_paths(number) if has_rules else ())
        spans, rules = visible_text.spans(number, spans, rules)
        spans = pdf_spaces.with_spaces(document, number, spans)
        lines = pdf_layout.pieces(spans, rules)
        lines = [
            line.with_text(_LIGATURE.sub(_decomposed, clean(remove_strikethrough(line.text))))
            for line in lines
        ]
        total += sum(len(line.text) for line in lines)
        check_length(total)
        yield [line for line in lines if line.text.strip()], rules


@contextmanager
def _decoding_errors() -> Iterator[list[str]]:
    """Collect decoding errors, which pdf_oxide only logs before it continues."""
    found: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("pdf_oxide.decoders")
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)


def _decomposed(ligature: re.Match[str]) -> str:
    return normalize("NFKC", ligature[0])


def _without_contents(pages: list[list[Line]]) -> list[list[Line]]:
    """Remove tables of contents, whose page numbers could be taken for prices."""
    listed = [match for page in pages for line in page if (match := _CONTENTS.search(line.text))]
    numbers = [int(match[1]) for match in listed if match[1]]
    if numbers != sorted(numbers) or (numbers and numbers[-1] > len(pages)):
        return pages
    return [[line for line in page if not _CONTENTS.search(line.text)] for page in pages]


def _without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """Drop running headers and footers, even if the numbers in them differ."""
    for edge in (max, min):
        rows = [_row_at_edge(lines, edge) for lines in pages]
        shapes = [re.sub(r"\d+", "#", _text_of(row)) for row in rows]
        counts = Counter(shapes)
        running = {shape for shape in counts if _is_running(shape, counts[shape], len(pages))}
        numbered = _numbered([_text_of(row) for row in rows])
        pages = [
            [line for line in lines if line not in row]
            if shape in running or number in numbered
            else lines
            for number, (lines, row, shape) in enumerate(zip(pages, rows, shapes, strict=True))
        ]
    return pages


def _numbered(texts: Sequence[str]) -> set[int]:
    """The indexes of the pages whose text begins or ends with the page number.

    None are returned if the document is short, or if this is true of at most half of the pages.
    """
    found = ((index, _PAGE_NUMBER.search(text)) for index, text in enumerate(texts))
    shifts = {index: int(match[0]) - index for index, match in found if match}
    usual, count = (Counter(shifts.values()).most_common(1) or [(0, 0)])[0]
    if len(texts) < _FEW_PAGES or 2 * count <= len(texts):
        return set()
    return {index for index, shift in shifts.items() if shift == usual}


def _row_at_edge(lines: Sequence[Line], edge: Callable[[Iterator[float]], float]) -> list[Line]:
    """The highest or lowest line of a page; it may consist of several pieces."""
    if not lines:
        return []
    y = edge(line.y for line in lines)
    return [line for line in lines if abs(line.y - y) < SAME_LINE * line.size]


def _text_of(row: Sequence[Line]) -> str:
    return " ".join(line.text.strip() for line in sorted(row, key=lambda line: line.x))


def _is_running(shape: str, count: int, pages: int) -> bool:
    """Whether top or bottom lines of the same shape are running headers or footers.

    A shape has `#` in place of each number. A shape on at most half of the pages, such as the
    header of a chapter, counts only if it ends in a number.
    """
    if shape == "#" or _PRINTED.match(shape):
        return True
    if pages < _FEW_PAGES:
        return count == pages > 1 and "#" in shape
    return count * 2 > pages or (count > 2 and shape.endswith("#"))


def _sections(pages: Sequence[Sequence[Line]]) -> list[Section]:
    """The text of each page under its headings, which are recognized by larger letters."""
    sizes: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        sizes[round(line.size, 1)] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    if not any(_is_heading(line, body) for lines in pages for line in lines):
        # Without larger letters, headings are recognized by words and position, as in plain text.
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
    """Join the lines of a heading; lines of another size are a heading below it."""
    sized = groupby(lines, key=lambda line: round(line.size, 1))
    parts = [" ".join(line.text.strip() for line in group) for _, group in sized]
    return clean(" > ".join(parts[-2:]))


def _is_heading(line: Line, body: float) -> bool:
    is_larger = line.size >= MIN_HEADING_RATIO * body and len(line.text) <= _MAX_HEADING
    return is_larger and any(map(str.isalpha, line.text))


def _paragraphs(lines: Sequence[Line]) -> str:
    """Join lines, with an empty line wherever their distance is larger than usual."""
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
