"""Text out of Word files."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots.knowledge.extract.document import ExtractError, SectionBuilder, TitleAndSections

# A DOCX is judged by its zip directory: loading it takes up to 100 times its unpacked size.
MAX_ZIP_ENTRIES = 2_000
MAX_ZIP_BYTES = 100 * 2**20
MAX_XML_BYTES = 8 * 2**20


def read(path: Path) -> TitleAndSections:
    _check_zip(path)
    import docx  # noqa: PLC0415  parsers are loaded in the child only

    document = docx.Document(str(path))
    sections = SectionBuilder()
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            sections.add("\n".join(_table_lines(block)))
            continue
        text = block.text.strip()
        if not text:
            continue
        style = (block.style.name or "").lower() if block.style is not None else ""
        if style.startswith("heading") or style == "title":
            sections.start_section(text)
        else:
            is_item = style.startswith("list")
            sections.add(f"- {text}" if is_item else text, glue="\n" if is_item else "\n\n")
    return document.core_properties.title or "", sections.build()


def _table_lines(table: Any) -> Iterator[str]:
    for row in table.rows:
        cells: list[str] = []
        for cell in row.cells:
            text = " ".join(cell.text.split())
            # A merged cell is listed once per column.
            if text and (not cells or cells[-1] != text):
                cells.append(text)
        if cells:
            yield " | ".join(cells)


def _check_zip(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    if "word/document.xml" not in {entry.filename for entry in entries}:
        raise ExtractError("unsupported_type", "The archive holds no Word document.")
    if any(entry.flag_bits & 1 for entry in entries):
        raise ExtractError("encrypted", "The document is protected by a password.")
    parts = [entry.file_size for entry in entries if entry.filename.endswith((".xml", ".rels"))]
    if (
        len(entries) > MAX_ZIP_ENTRIES
        or sum(entry.file_size for entry in entries) > MAX_ZIP_BYTES
        or max(parts) > MAX_XML_BYTES
    ):
        raise ExtractError("too_large", "The document unpacks to too much data.")
