"""The readers, one for each type of file, which return the file's title and sections."""

import csv
import io
import re
from collections.abc import Callable
from itertools import takewhile
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
    headed_row,
    labelled_row,
)

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
    lines = csv.reader(io.StringIO(text), dialect, delimiter=delimiter)
    rows = [row for row in lines if any(map(str.strip, row))]
    if len(rows) > MAX_ROWS:
        raise ExtractError("too_large", f"The table has more than {MAX_ROWS} rows.")
    if not rows:
        return Content("", [])
    # Lone cells above the names of the columns are text.
    titles = list(takewhile(lambda row: sum(map(bool, map(str.strip, row))) == 1, rows))
    titles = titles if len(titles) < len(rows) else []
    above = "\n".join("".join(row).strip() for row in titles)
    header = {column: name.strip() for column, name in enumerate(rows[len(titles)])}
    cells = (dict(enumerate(row)) for row in rows[len(titles) + 1 :])
    sections = [Section("", above)] if above else []
    sections += [Section(headed_row("", header, row), labelled_row(header, row)) for row in cells]
    return Content("", sections)


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
