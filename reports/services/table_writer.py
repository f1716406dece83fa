"""Writes tables to files row by row, so that large tables need disk space instead of memory."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import IO, Any
from zoneinfo import ZoneInfo

import xlsxwriter
from django.utils.translation import gettext

from chatplatform import csv_files
from reports.schemas.adhoc import ReportColumn
from reports.services import formatting

MIME_TYPES = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
# The maximum number of rows in a sheet, without the row of headings.
XLSX_ROWS = 1_048_575
# The number formats in a sheet, by the type or the unit of a column.
_FORMATS = {"date": "yyyy-mm-dd", "moment": "yyyy-mm-dd hh:mm", "share": "0%", "stars": "0.0"}
# The maximum width of a column, in characters.
_MAX_WIDTH = 60


class SheetFull(Exception):
    """The table has more rows than a sheet can have."""


def write(
    form: str, columns: Sequence[ReportColumn], lines: Iterable[Sequence[Any]], *, zone: str
) -> IO[bytes]:
    """Write a row of headings and the lines to a temporary file, and return the file, positioned at
    its start. `form` is `csv` or `xlsx`.

    CSV is for programs: it has the column names and the values of the API. A sheet is for people:
    it has readable headings and values, and times in `zone`.
    """
    with csv_files.temporary_file() as file:
        if form == "csv":
            flat = (map(_flat, line) for line in lines)
            csv_files.write(file, [column.name for column in columns], flat)
        else:
            _write_xlsx(file, columns, lines, ZoneInfo(zone))
    return file


def _write_xlsx(
    file: IO[bytes], columns: Sequence[ReportColumn], lines: Iterable[Sequence[Any]], zone: ZoneInfo
) -> None:
    # Texts must not become formulas or links.
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(file, options)
    sheet = book.add_worksheet("Report")
    sheet.freeze_panes(1, 0)
    headings = [_heading(column, zone) for column in columns]
    sheet.write_row(0, 0, headings, book.add_format({"bold": True}))
    named = {name: book.add_format({"num_format": form}) for name, form in _FORMATS.items()}
    formats = [
        named.get(formatting.unit_of(column.name)) or named.get(column.type) for column in columns
    ]
    widths = [len(heading) for heading in headings]
    try:
        for number, line in enumerate(lines, 1):
            if number > XLSX_ROWS:
                raise SheetFull
            for index, value in enumerate(line):
                cell = _cell(columns[index], value, zone)
                if cell is not None:
                    sheet.write(number, index, cell, formats[index])
                    widths[index] = max(widths[index], len(str(cell)))
    finally:
        for index, width in enumerate(widths):
            sheet.set_column(index, index, min(width, _MAX_WIDTH) + 2)
        book.close()  # also removes its temporary files


def _heading(column: ReportColumn, zone: ZoneInfo) -> str:
    unit = {"seconds": gettext("minutes")}.get(column.unit or "", "")
    unit = str(zone) if column.type == "moment" else unit
    return gettext(column.label) + (f", {unit}" if unit else "")


def _cell(column: ReportColumn, value: Any, zone: ZoneInfo) -> Any:
    """The value for a spreadsheet: dates as dates, numbers as numbers, durations in minutes, and
    codes in words. None for an empty cell."""
    if value is None or value == []:
        return formatting.format_value(column.name, value) if column.name == "agent_name" else None
    if column.unit == "seconds":
        return round(value / 60, 1)
    if column.type == "date":
        return date.fromisoformat(value)
    if column.type == "moment":
        return datetime.fromisoformat(value).astimezone(zone).replace(tzinfo=None)
    is_number = column.type == "number" and column.name not in {"weekday", "hour"}
    return value if is_number else formatting.format_value(column.name, value)


def _flat(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
