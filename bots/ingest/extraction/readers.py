"""The readers, one for each type of file, which return the file's title and sections."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bots.ingest.extraction import encodings, file_types, office, pages, pdf, text_headings, word
from bots.ingest.extraction.document import (
    MAX_ROWS,
    Content,
    ExtractError,
    Headings,
    Section,
    SectionBuilder,
    as_written,
    clean,
    headed_row,
    labelled_row,
)

_SEPARATOR = re.compile(r"\Asep=(.)\n", re.IGNORECASE)
# Comments and struck-out text, except in code.
_FENCED = r"^(?P<fence>[ \t]*(?:```|~~~))[^\n]*\n(?s:.*?)(?:^(?P=fence)|\Z)"
_HIDDEN = re.compile(
    rf"(?P<code>{_FENCED}|`[^`\n]+`)|<!--.*?(?:-->|\Z)|(?<!~)~~(?=\S)[^~\n]+~~|"
    r"<(?:del|s)>(?:[^<]++|<(?!/?(?:del|s)>))*+</(?:del|s)>|^\[//\]:[^\n]*$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
# A heading that is underlined with "=" or "-".
_UNDERLINED = re.compile(
    rf"(?P<code>{_FENCED})"
    r"|^(?![ ]{0,3}(?:[#>|`~*+-]|\d+[.)])|\s*$)[ ]{0,3}(?P<text>\S.*)\n"
    r"[ ]{0,3}(?P<line>=+|-{2,})[ \t]*$",
    re.MULTILINE,
)
# YAML between two rules; the lines are checked, since a text may also begin with a rule.
_FRONT_MATTER = re.compile(r"\A---\n(?:(?!---\n)(?:[\w-]+:|[ \t#-]).*+\n)++---\n")
# `[name]: https://…` defines a link (CommonMark 4.7); readers do not see it.
_LINK_TARGET = re.compile(r"^ {0,3}\[[^\]]+\]:\s*\S+\s*$")
# An entry of a table of contents, and a line of pictures, which are mostly badges.
_CONTENTS = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[[^\]]+\]\(#[^)]*\)\s*$")
_IMAGE = r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])"
_IMAGES = re.compile(rf"^\s*(?:(?:\[{_IMAGE}\](?:\([^)]*\)|\[[^\]]*\])|{_IMAGE})\s*)+$")
_UNSEEN = re.compile("|".join(part.pattern for part in (_LINK_TARGET, _CONTENTS, _IMAGES)))
_FENCES = ("```", "~~~")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_HEADING = re.compile(r"^#{1,6}\s++(\S.*)$")
_TITLE = re.compile(r"^#[^\S\n]++(\S.*)$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|(?=[\s:|-]*?---)[\s:|-]*+$")  # below the column names
_INLINE = (
    (re.compile(r"!\[([^\]]{0,1000})\]\([^)]{0,1000}\)"), r"\1"),
    (re.compile(r"\[([^\]]{1,1000})\](?:\([^)]{0,1000}\)|\[[^\]]{0,1000}\])"), r"\1"),
    (re.compile(r"(\*\*|__)(?=\S)(.{1,1000}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"^[^\S\n]*+>\s?", re.MULTILINE), ""),
    (re.compile(r"^(?=[ \t:|-]*?---)[ \t:|-]*+$", re.MULTILINE), ""),
    (re.compile(r"</?[a-zA-Z][^<>\n]*>"), ""),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|>-])"), r"\1"),
)


def read_csv(path: Path) -> Content:
    text = clean(encodings.decode(path.read_bytes()))
    # A line such as "sep=;" above the header tells Excel which character separates the columns.
    separator = _SEPARATOR.match(text)
    text = text[separator.end() :] if separator else text
    try:
        dialect: Any = csv.Sniffer().sniff(text[: file_types.SNIFF_BYTES], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    delimiter = separator[1] if separator else dialect.delimiter
    lines = csv.reader(io.StringIO(text), dialect, delimiter=delimiter)
    rows = [row for row in lines if any(map(str.strip, row))]
    if len(rows) > MAX_ROWS:
        raise ExtractError("too_large", f"The table has more than {MAX_ROWS} rows.")
    if not rows:
        return Content("", [])
    header = {column: name.strip() for column, name in enumerate(rows[0])}
    cells = (dict(enumerate(row)) for row in rows[1:])
    sections = [Section(headed_row("", header, row), labelled_row(header, row)) for row in cells]
    return Content("", sections)


def read_text(path: Path) -> Content:
    text = clean(encodings.decode(path.read_bytes()))
    return Content("", text_headings.sections(pdf.without_soft_hyphens(text)))


def read_markdown(path: Path) -> Content:
    text = _shown(clean(encodings.decode(path.read_bytes())))
    # A single level-1 heading is the title; if there are several, none names the whole document.
    titles = _TITLE.findall(text)
    title = _heading(titles[0]) if len(titles) == 1 else ""
    return Content(title, _markdown_sections(text))


def _shown(text: str) -> str:
    """Remove front matter, comments and struck-out text; mark underlined headings with "#"."""
    text = _FRONT_MATTER.sub("", text)
    text = _HIDDEN.sub(lambda match: match["code"] or "", text)
    return _UNDERLINED.sub(_with_mark, text)


def _with_mark(heading: re.Match[str]) -> str:
    if heading["code"]:
        return heading["code"]
    return f"{'#' if heading['line'][0] == '=' else '##'} {heading['text']}"


def _markdown_sections(text: str) -> list[Section]:
    """Make one section per heading, named with its nearest parent: "Returns > Damaged goods"."""
    sections, headings = SectionBuilder(), Headings()
    is_code = False
    lines: list[str] = []

    def flush() -> None:
        text = "\n".join(lines)
        sections.add(as_written(text) if is_code else _without_markup(text))
        lines.clear()

    for line in text.split("\n"):
        if line.lstrip().startswith(_FENCES):
            flush()
            is_code = not is_code
            continue
        match = None if is_code else _HEADING.match(line)
        if not match:
            if is_code or not _UNSEEN.match(line):
                lines.append(line)
            continue
        flush()
        level = len(line) - len(line.lstrip("#"))
        heading = _heading(match.group(1))
        sections.start_section(headings.below(level, heading))
    flush()
    return sections.build()


def _heading(text: str) -> str:
    return _without_markup(text.rstrip().rstrip("#"))


def _labelled_tables(text: str) -> str:
    """Write table rows as list items, with column names in place of bars."""
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
    code: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        code.append(match[2].strip())
        return f"\0{len(code) - 1}\0"

    text = _CODE.sub(put_aside, _labelled_tables(text))
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return clean(re.sub("\0(\\d+)\0", lambda match: code[int(match[1])], text))


READERS: dict[str, Callable[[Path], Content]] = {
    file_types.PDF: pdf.read_pdf,
    file_types.DOCX: word.read_docx,
    file_types.XLSX: office.read_xlsx,
    file_types.PPTX: office.read_pptx,
    file_types.HTML: pages.read_html,
    file_types.MARKDOWN: read_markdown,
    file_types.PLAIN: read_text,
    file_types.CSV: read_csv,
}
