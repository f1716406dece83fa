"""Writes tables as files, row by row: large ones take temporary disk space, not memory."""

import csv
import io
import tempfile
from collections.abc import Iterable, Sequence
from typing import IO, Any

import xlsxwriter

from chatplatform.formula_injection import escape_formula

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
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked for it closes it
    try:
        (_write_csv if form == "csv" else _write_xlsx)(file, columns, lines)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _write_csv(file: IO[bytes], columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    # With a byte order mark, which spreadsheets look for.
    text = io.TextIOWrapper(file, "utf-8-sig", newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    for line in lines:
        writer.writerow([escape_formula(_flat(value)) for value in line])
    text.detach()


def _write_xlsx(file: IO[bytes], columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    # No text becomes a formula or a link.
    told = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(file, told)
    sheet = book.add_worksheet("Report")
    sheet.write_row(0, 0, columns)
    try:
        for number, line in enumerate(lines, 1):
            if number > XLSX_ROWS:
                raise SheetFull
            sheet.write_row(number, 0, [_flat(value) for value in line])
    finally:
        book.close()  # also removes its temporary files


def _flat(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
