"""Text out of tables: one section per row."""

import csv
import io
from pathlib import Path
from typing import Any

from bots.knowledge.extract.detection import SNIFF_BYTES, decode
from bots.knowledge.extract.document import ExtractError, Section, TitleAndSections, clean

MAX_ROWS = 20_000


def read(path: Path) -> TitleAndSections:
    text = clean(decode(path.read_bytes()))
    try:
        dialect: Any = csv.Sniffer().sniff(text[:SNIFF_BYTES], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = [row for row in csv.reader(io.StringIO(text), dialect) if any(map(str.strip, row))]
    if len(rows) > MAX_ROWS:
        raise ExtractError("too_large", f"The table has more than {MAX_ROWS} rows.")
    if not rows:
        return "", []
    header = [name.strip() for name in rows[0]]
    return "", [Section("", _csv_row(header, row)) for row in rows[1:]]


def _csv_row(header: list[str], row: list[str]) -> str:
    lines: list[str] = []
    for position, value in enumerate(row):
        name = header[position] if position < len(header) else ""
        value = clean(value.strip())
        if value:
            lines.append(f"{name}: {value}" if name else value)
    return "\n".join(lines)
