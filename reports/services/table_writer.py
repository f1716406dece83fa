"""Writes tables as files, row by row: large ones take temporary disk space, not memory."""

from collections.abc import Iterable, Sequence
from typing import IO, Any

import xlsxwriter

from chatplatform import csv_files

MIME_TYPES = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
# The most rows of a sheet, below the row of column names.
XLSX_ROWS = 1_048_575


class SheetFull(Exception):
    """The table has more rows than a sheet of a workbook."""


def write(form: str, columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> IO[bytes]:
    """A file with the column names and the lines, positioned at its start."""
    flat = (map(_flat, line) for line in lines)
    with csv_files.temporary_file() as file:
        (csv_files.write if form == "csv" else _write_xlsx)(file, columns, flat)
    return file


def _write_xlsx(file: IO[bytes], columns: Sequence[str], lines: Iterable[Iterable[Any]]) -> None:
    # No text becomes a formula or a link.
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(file, options)
    sheet = book.add_worksheet("Report")
    sheet.write_row(0, 0, columns)
    try:
        for number, line in enumerate(lines, 1):
            if number > XLSX_ROWS:
                raise SheetFull
            sheet.write_row(number, 0, line)
    finally:
        book.close()  # also removes its temporary files


def _flat(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
