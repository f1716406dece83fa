"""The readers: one for each type of file. Each returns the file's title and its sections."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bots.knowledge.extract import detection, office, pages, plain
from bots.knowledge.extract.document import (
    MAX_ROWS,
    ExtractError,
    Headings,
    Section,
    SectionBuilder,
    TitleAndSections,
    check_length,
    clean,
    labelled_row,
)

MAX_PAGES = 2_000
# At the end of a line these two only break a word; a plain "-" may belong to it.
_LINE_BREAK_HYPHEN = re.compile(r"(?<=\w)[\u00ad\u2010]\n[ \t]*(?=\w)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# `[name]: https://…` defines a link (CommonMark 4.7); readers do not see it.
_LINK_TARGET = re.compile(r"^ {0,3}\[[^\]]+\]:\s*\S+\s*$")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_TITLE = re.compile(r"^#\s+(.+?)\s*#*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|[\s:|-]*-{3,}[\s:|-]*\|\s*$")
_INLINE = (
    (re.compile(r"!\[([^\]]*)\]\([^)\s]*[^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    (re.compile(r"^\s*>\s?", re.MULTILINE), ""),
    (re.compile(r"^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$", re.MULTILINE), ""),
    (re.compile(r"</?[a-zA-Z][^<>\n]*>"), ""),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|>-])"), r"\1"),
)


def read_pdf(path: Path) -> TitleAndSections:
    import pypdf  # noqa: PLC0415  parsers are loaded in the child only
    from pypdf import errors  # noqa: PLC0415

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ExtractError("encrypted", "The PDF is protected by a password.")
        if len(reader.pages) > MAX_PAGES:
            raise ExtractError("too_large", f"The PDF has more than {MAX_PAGES} pages.")
        pages = _pdf_pages(reader)
        title = str((reader.metadata and reader.metadata.title) or "")
    except errors.LimitReachedError as error:
        raise ExtractError("too_large", "The PDF unpacks to too much data.") from error
    except errors.FileNotDecryptedError as error:
        raise ExtractError("encrypted", "The PDF is protected by a password.") from error
    pages = _without_running_lines(pages)
    return title, [
        Section("", _join_hyphenated(text), number) for number, text in enumerate(pages, 1)
    ]


def _pdf_pages(reader: Any) -> list[str]:
    pages: list[str] = []
    total = 0
    for page in reader.pages:
        pages.append(clean(page.extract_text() or ""))
        total += len(pages[-1])
        check_length(total)
    return pages


def _without_running_lines(pages: list[str]) -> list[str]:
    """Drop first and last lines that most pages share, whatever numbers they contain."""
    if len(pages) < 4:
        return pages
    split = [page.split("\n") for page in pages]
    for edge in (0, -1):
        shapes = [re.sub(r"\d+", "#", lines[edge].strip()) if lines else "" for lines in split]
        common = {shape for shape in set(shapes) if shapes.count(shape) * 2 > len(pages)}
        for lines, shape in zip(split, shapes, strict=True):
            if lines and shape in common:
                del lines[edge]
    return ["\n".join(lines).strip("\n") for lines in split]


def _join_broken_words(text: str) -> str:
    """Rejoin words that a soft or typographic hyphen breaks at the end of a line."""
    return _LINE_BREAK_HYPHEN.sub("", text)


def _join_hyphenated(text: str) -> str:
    return re.sub(r"([a-zà-ỹ]{2})-\n[ ]*([a-zà-ỹ]{2})", r"\1\2", _join_broken_words(text))


def read_csv(path: Path) -> TitleAndSections:
    text = clean(detection.decode(path.read_bytes()))
    try:
        dialect: Any = csv.Sniffer().sniff(text[: detection.SNIFF_BYTES], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = [row for row in csv.reader(io.StringIO(text), dialect) if any(map(str.strip, row))]
    if len(rows) > MAX_ROWS:
        raise ExtractError("too_large", f"The table has more than {MAX_ROWS} rows.")
    if not rows:
        return "", []
    header = {column: name.strip() for column, name in enumerate(rows[0])}
    return "", [Section("", labelled_row(header, dict(enumerate(row)))) for row in rows[1:]]


def read_text(path: Path) -> TitleAndSections:
    text = clean(detection.decode(path.read_bytes()))
    return "", plain.sections(_join_broken_words(text))


def read_markdown(path: Path) -> TitleAndSections:
    text = clean(detection.decode(path.read_bytes()))
    # A single level-1 heading is the title; of several, none names the whole page.
    titles = _TITLE.findall(text)
    return (_without_markup(titles[0]) if len(titles) == 1 else ""), _markdown_sections(text)


def _markdown_sections(text: str) -> list[Section]:
    """One section per heading, with its nearest parent: "Returns > Damaged goods"."""
    sections, headings = SectionBuilder(), Headings()
    is_code = False
    lines: list[str] = []

    def flush() -> None:
        sections.add(_without_markup("\n".join(lines)))
        lines.clear()

    for line in _FRONT_MATTER.sub("", text).split("\n"):
        is_code ^= line.lstrip().startswith(("```", "~~~"))
        match = None if is_code else _HEADING.match(line)
        if not match:
            if not line.lstrip().startswith(("```", "~~~")) and not _LINK_TARGET.match(line):
                lines.append(line)
            continue
        flush()
        level = len(line) - len(line.lstrip("#"))
        heading = _without_markup(match.group(1))
        sections.start_section(headings.below(level, heading))
    flush()
    return sections.build()


def _labelled_tables(text: str) -> str:
    """Rows of tables with the names of their columns in place of bars."""
    lines: list[str] = []
    header: dict[int, str] = {}
    for line in text.split("\n"):
        row = _TABLE_ROW.match(line)
        cells = dict(enumerate(cell.strip() for cell in row[1].split("|"))) if row else {}
        if row and _TABLE_RULE.match(line):
            header = (
                dict(enumerate(cell.strip() for cell in lines.pop()[2:].split(", ")))
                if lines
                else {}
            )
        elif row:
            lines.append("- " + labelled_row(header, cells).replace("\n", ", "))
        else:
            header = {}
            lines.append(line)
    return "\n".join(lines)


def _without_markup(text: str) -> str:
    text = _labelled_tables(text)
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return clean(text)


READERS: dict[str, Callable[[Path], TitleAndSections]] = {
    detection.PDF: read_pdf,
    detection.DOCX: office.read_docx,
    detection.XLSX: office.read_xlsx,
    detection.PPTX: office.read_pptx,
    detection.HTML: pages.read_html,
    detection.MARKDOWN: read_markdown,
    detection.PLAIN: read_text,
    detection.CSV: read_csv,
}
