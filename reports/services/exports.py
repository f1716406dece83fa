"""Reports as files, written row by row: their size costs disk for a moment, and no memory."""

import csv
import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, ClassVar

import xlsxwriter
from django.db.models import QuerySet

from chatplatform.api.errors import ApiError, Invalid
from chats.models import Conversation
from identity.models import Client
from reports.services import adhoc, facts, periods
from reports.shapes import adhoc as shapes

MAX_ROWS = 50_000
MIME_TYPES = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_AT_ONCE = 1_000
# What spreadsheets take for a formula at the beginning of a cell.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


class ReportTooLarge(ApiError):
    code, status = "report_too_large", 409
    detail = f"An export has at most {MAX_ROWS:,} rows: choose a shorter period or filters."
    more: ClassVar = {"rows": (int, "How many rows it would have.")}


def write(client: Client, param: shapes.ExportAdhocReportParam) -> IO[bytes]:
    """The file of a report, ready to be read; 409 `report_too_large`, 422 for unknown columns."""
    columns = _columns(param)
    period = periods.of(client, param)
    chosen = adhoc.choose(client, param, period)
    rows = _groups(chosen, param, period.zone) if param.group_by else _chats(
        chosen, param, period.zone
    )  # fmt: skip
    shown = (adhoc.readable(client, param, page) for page in rows)
    lines = ([row[name] for name in columns] for page in shown for row in page)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    (_write_csv if param.format == "csv" else _write_xlsx)(file, columns, lines)
    file.seek(0)
    return file


def _columns(param: shapes.ExportAdhocReportParam) -> Sequence[str]:
    known = [column.name for column in adhoc.columns_of(param)]
    if not set(param.columns) <= set(known):
        names = ", ".join(known)
        raise Invalid.field("body", "columns", msg=f"This report has these columns: {names}.")
    return param.columns or known


def _groups(
    chosen: QuerySet[Conversation], param: shapes.ExportAdhocReportParam, zone: str
) -> Iterator[list[facts.Row]]:
    rows = facts.groups(
        chosen, zone=zone, group_by=param.group_by, metrics=param.metrics, sort=param.sort,
        limit=MAX_ROWS + 1,
    )  # fmt: skip
    if len(rows) > MAX_ROWS:
        raise ReportTooLarge(rows=len(rows))
    return iter([rows])


def _chats(
    chosen: QuerySet[Conversation], param: shapes.ExportAdhocReportParam, zone: str
) -> Iterator[list[facts.Row]]:
    count = chosen.count()
    if count > MAX_ROWS:
        raise ReportTooLarge(rows=count)
    return _pages(chosen, zone, newest_first=param.sort != "created_at")


def _pages(
    chosen: QuerySet[Conversation], zone: str, *, newest_first: bool
) -> Iterator[list[facts.Row]]:
    after = None
    while True:
        page = adhoc.page_of_chats(chosen, newest_first=newest_first, after=after, limit=_AT_ONCE)
        rows = facts.chats(page, zone=zone, newest_first=newest_first)
        yield rows
        if len(rows) < _AT_ONCE:
            return
        after = [rows[-1]["created_at"], rows[-1]["chat_id"]]


def _write_csv(file: IO[bytes], columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    # With a mark of its encoding, which spreadsheets look for.
    text = io.TextIOWrapper(file, "utf-8-sig", newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    for line in lines:
        writer.writerow([_safe(_flat(value)) for value in line])
    text.detach()


def _write_xlsx(file: IO[bytes], columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    # No text becomes a formula or a link.
    told = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(file, told)
    sheet = book.add_worksheet("Report")
    sheet.write_row(0, 0, columns)
    for number, line in enumerate(lines, 1):
        sheet.write_row(number, 0, [_flat(value) for value in line])
    book.close()


def _flat(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value


def _safe(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
