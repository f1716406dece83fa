"""The readers of files, one for each type."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bots.ingest.extraction import (
    encodings,
    file_types,
    html,
    markdown,
    office,
    open_formats,
    pdf,
    text_headings,
    word,
)
from bots.ingest.extraction.document import (
    MAX_ROWS,
    Content,
    ExtractError,
    Section,
    clean,
)

_NUMBER = re.compile(r"[-+]?[\d.,\s]+[%€$£]?")
_SEPARATOR = re.compile(r"\Asep=(.)\n", re.IGNORECASE)


def read_csv(path: Path) -> Content:
    text = clean(encodings.decode(path.read_bytes()))
    # A line such as "sep=;" above the header tells Excel which character separates the columns.
    separator = _SEPARATOR.match(text)
    text = text[separator.end() :] if separator else text
    head, delimiters = text[: file_types.SNIFF_BYTES], ",;\t|"
    try:
        dialect: Any = csv.Sniffer().sniff(head, delimiters=delimiters)
        delimiter = dialect.delimiter
    except csv.Error:
        dialect, delimiter = csv.excel, max(delimiters, key=head.count)
    delimiter = separator[1] if separator else delimiter
    rows = []
    for line in csv.reader(io.StringIO(text), dialect, delimiter=delimiter):
        row = office.Row({})
        for column, cell in enumerate(map(str.strip, line)):
            if cell:
                row.add(column, cell, is_word=not _NUMBER.fullmatch(cell))
        rows += [row] if row.values else []
    if len(rows) > MAX_ROWS:
        raise ExtractError("too_large", "The table has more rows than the limit", MAX_ROWS)
    if any(len(row.values) > 1 for row in rows):
        return Content("", list(office.table("", iter(rows))))
    name, *items = [text for row in rows for text in row.values.values()] or [""]
    return Content("", [Section(name, "\n".join(f"- {item}" for item in items) or name)])


def read_text(path: Path) -> Content:
    text = clean(encodings.decode(path.read_bytes()))
    return Content("", text_headings.sections(pdf.without_soft_hyphens(text)))


READERS: dict[str, Callable[[Path], Content]] = {
    file_types.PDF: pdf.read_pdf,
    file_types.DOCX: word.read_docx,
    file_types.XLSX: office.read_xlsx,
    file_types.PPTX: office.read_pptx,
    file_types.ODT: open_formats.read_odt,
    file_types.EPUB: open_formats.read_epub,
    file_types.MAIL: open_formats.read_mail,
    file_types.HTML: html.read_html,
    file_types.MARKDOWN: markdown.read_markdown,
    file_types.PLAIN: read_text,
    file_types.CSV: read_csv,
}
