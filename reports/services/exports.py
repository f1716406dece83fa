"""Reports as files. Small files are written at once. Large files are written by a worker, and
deleted a day after the request."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import IO, Any, ClassVar

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.signing import BadSignature, TimestampSigner
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone, translation
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from pydantic import ValidationError

from chatplatform import jobs, media
from chatplatform.api.errors import ApiError, Invalid, NotFound
from chatplatform.media_stores import FilesUnavailable
from chatplatform.models import Job, JobState
from chats.models import Conversation
from identity.models import Client, User
from identity.services import audit
from reports.models import Export, ExportStatus
from reports.schemas import adhoc as schemas
from reports.services import adhoc, chat_sql, formatting, periods, table_writer

# How long a large export is kept, and how long a link to it is valid.
LIFETIME = timedelta(days=1)
# The maximum number of large exports that a client may have at a time.
MAX_EXPORTS = 20
_PAGE_ROWS = 1_000
# If a worker does not know an export's parameters, the job is tried again after this time, perhaps
# by a worker of another release.
_OTHER_RELEASE_WAIT = timedelta(minutes=10)
_UNFINISHED = (ExportStatus.QUEUED, ExportStatus.RUNNING)
_LINK_SALT = "reports.export"


class TooManyExports(ApiError):
    code, status = "too_many_exports", 409
    detail = format_lazy(
        gettext_lazy("You already have {count} large exports. Each is deleted after a day."),
        count=MAX_EXPORTS,
    )


class ExportFailed(ApiError):
    code, status = "export_failed", 409
    detail = gettext_noop("This export failed. Request it again.")
    more: ClassVar = {"export_id": (uuid.UUID, "The id of the failed export.")}


def start(client: Client, param: schemas.ExportAdhocReportParam, *, by: User) -> IO[bytes] | Export:
    """The file of a report or, if it has many rows, the export whose file a worker will write.

    422 for unknown columns, or for more rows than a sheet can have. 409 `too_many_exports` if the
    client has too many large exports.
    """
    _columns(param)  # raises a 422 for unknown columns
    requested = param
    period = periods.resolve(client, param)
    fixed = {"date_from": period.first, "date_to": period.last, "timezone": period.zone}
    param = param.model_copy(update=fixed)
    chosen = adhoc.choose(client, param, period)
    if param.group_by:
        rows = chat_sql.count_groups(chosen, zone=period.zone, group_by=param.group_by)
    else:
        rows = chosen.count()
    if param.format == "xlsx" and rows > table_writer.XLSX_ROWS:
        text = gettext(
            "This report has %(rows)s rows, and a sheet can have %(limit)s. Export as CSV instead."
        )
        limit = formatting.number(table_writer.XLSX_ROWS)
        msg = text % {"rows": formatting.number(rows), "limit": limit}
        raise Invalid.field("body", "format", msg=msg)
    if rows <= settings.EXPORT_INLINE_LIMIT:
        file = _write(param, _pages(client, param))
        audit.record_export(client.pk, "report", by=by, asked=requested, rows=rows)
        return file
    if Export.objects.for_client(client).count() >= MAX_EXPORTS:
        raise TooManyExports
    with transaction.atomic():
        export = Export.objects.create(
            client=client, created_by=by, rows=rows,
            # Store only the fields that were sent, because a worker of the previous release may not
            # know the others.
            param=param.model_dump(mode="json", exclude_unset=True) | {"format": param.format},
            file_name=file_name(param), expires_at=timezone.now() + LIFETIME,
        )  # fmt: skip
        jobs.enqueue("reports.write_export", client_id=client.pk, export_id=str(export.pk))
        subject = f"export:{export.pk}"
        audit.record_export(client.pk, "report", by=by, asked=requested, rows=rows, subject=subject)
    return export


def file_name(param: schemas.ExportAdhocReportParam) -> str:
    """The name of the downloaded file."""
    return f"{param.file_name or 'report'}.{param.format}"


def get(client: Client, export_id: uuid.UUID) -> Export:
    """The client's export with this id; 404 if there is none, 409 `export_failed` if it failed."""
    rows = Export.objects.for_client(client).filter(expires_at__gt=timezone.now())
    export = rows.filter(pk=export_id).first()
    if export is None:
        raise NotFound
    if export.status == ExportStatus.FAILED:
        raise ExportFailed(_failure_reason(export), export_id=str(export.pk))
    return export


def _failure_reason(export: Export) -> str | None:
    """The reason in a sentence if the file store was unavailable; None for any other reason."""
    ended = Job.objects.filter(
        name="reports.write_export", state=JobState.DEAD, args__export_id=str(export.pk)
    )
    if ended.filter(last_error__startswith=FilesUnavailable.__name__).exists():
        return "File storage was unavailable for over an hour. Request this export again."
    return None


def open_file(export: Export, *, by: User) -> IO[bytes]:
    """Open the stored file of a large export, and record the download."""
    file = export.file.open("rb")
    changes = {"rows": export.rows}
    subject = f"export:{export.pk}"
    audit.record(export.client_id, "report.downloaded", by=by, subject=subject, changes=changes)
    return file


def link_to(export: Export, *, reader: User) -> str:
    """A signed URL that opens the export for a day, as long as the export exists and `reader` may
    sign in."""
    signed = TimestampSigner(salt=_LINK_SALT).sign(f"{export.pk}:{reader.pk}")
    url = f"{settings.PUBLIC_URL.rstrip('/')}/report/adhoc/export/{export.pk}"
    return f"{url}?signature={signed.partition(':')[2]}"


def reader_by_link(export_id: uuid.UUID, *, signature: str) -> User | None:
    """The person for whom a link was created. None if the link is invalid or has expired, or if the
    person may no longer sign in."""
    signer = TimestampSigner(salt=_LINK_SALT)
    try:
        signed = signer.unsign(f"{export_id}:{signature}", max_age=LIFETIME)
    except BadSignature:
        return None
    rows = User.objects.select_related("client").filter(pk=int(signed.rpartition(":")[2]))
    reader = rows.first()
    return reader if reader and reader.is_active and reader.client else None


def write_file(export_id: str) -> None:
    """Write an export's file. If a worker crashes, the next attempt starts over."""
    rows = Export.objects.select_related("client", "created_by")
    export = rows.filter(pk=export_id).first()
    if export is None or export.status not in _UNFINISHED:
        return
    media.check_store()  # first, so that no long report is written for nothing
    try:
        param = schemas.PageReport.model_validate(export.param)
    except ValidationError as exc:
        message = "This needs a worker of another release."
        raise jobs.TryLater(message, wait=_OTHER_RELEASE_WAIT) from exc
    try:
        with translation.override(export.created_by.language):
            file = _write(param, _with_progress(export, _pages(export.client, param)))
    except table_writer.SheetFull as exc:
        raise jobs.GiveUp("The report now has more rows than a sheet can have.") from exc
    with file:
        name = media.store("reports", File(file), suffix=f".{param.format}")
    is_done = False
    try:
        with jobs.commit():
            is_done = bool(_unfinished(export_id).update(
                file=name, status=ExportStatus.DONE, progress=100
            ))  # fmt: skip
    finally:
        if not is_done:
            default_storage.delete(name)


def mark_failed(export_id: str) -> None:
    """Mark an export as failed, after its last attempt."""
    _unfinished(export_id).update(status=ExportStatus.FAILED)


def purge_expired() -> None:
    """Delete expired exports with their files."""
    with transaction.atomic():
        rows = Export.objects.select_for_update(skip_locked=True)
        for export in rows.filter(expires_at__lte=timezone.now()):
            media.remove_later(export.client_id, [export.file.name])
            export.delete()


def delete_all(client_id: int) -> None:
    """Delete a client's exports with their files. If the file of an export is being written, it is
    discarded at the end."""
    with transaction.atomic():
        for export in Export.objects.select_for_update().filter(client_id=client_id):
            media.remove_later(client_id, [export.file.name])
            export.delete()


def _unfinished(export_id: str) -> QuerySet[Export]:
    return Export.objects.filter(pk=export_id, status__in=_UNFINISHED)


# --- the rows -----------------------------------------------------------------------------------


def _columns(param: schemas.ExportAdhocReportParam) -> Sequence[schemas.ReportColumn]:
    known = {column.name: column for column in adhoc.columns_of(param)}
    if not set(param.columns) <= set(known):
        names = ", ".join(known)
        raise Invalid.field("body", "columns", msg=f"This report has these columns: {names}.")
    return [known[name] for name in param.columns or known]


def _write(
    param: schemas.ExportAdhocReportParam, pages: Iterator[list[dict[str, Any]]]
) -> IO[bytes]:
    columns = _columns(param)
    lines = ([row[column.name] for column in columns] for page in pages for row in page)
    return table_writer.write(param.format, columns, lines, zone=param.timezone or "UTC")


def _with_progress(
    export: Export, pages: Iterator[list[dict[str, Any]]]
) -> Iterator[list[dict[str, Any]]]:
    written = 0
    for page in pages:
        yield page
        written += len(page)
        # At most 99, because the file is not stored yet.
        percent = min(99, 100 * written // max(export.rows, 1))
        _unfinished(str(export.pk)).update(status=ExportStatus.RUNNING, progress=percent)


def _pages(client: Client, param: schemas.ExportAdhocReportParam) -> Iterator[list[dict[str, Any]]]:
    """The rows of a report in pages, so that only one page is in memory at a time."""
    period = periods.resolve(client, param)
    chosen = adhoc.choose(client, param, period)
    pages = _groups if param.group_by else _chats
    for page in pages(chosen, param, period.zone):
        yield adhoc.readable(client, param, page)


def _groups(
    chosen: QuerySet[Conversation], param: schemas.ExportAdhocReportParam, zone: str
) -> Iterator[list[chat_sql.Row]]:
    table = chat_sql.Table(param.metrics, param.group_by, param.sort)
    rows = chat_sql.stream_rows(chosen, table, zone=zone)
    while page := list(islice(rows, _PAGE_ROWS)):
        yield page


def _chats(
    chosen: QuerySet[Conversation], param: schemas.ExportAdhocReportParam, zone: str
) -> Iterator[list[chat_sql.Row]]:
    newest_first, after = param.sort != "created_at", None
    while True:
        page = adhoc.page_of_chats(chosen, newest_first=newest_first, after=after, limit=_PAGE_ROWS)
        rows = chat_sql.chats(page, zone=zone, newest_first=newest_first)
        yield rows
        if len(rows) < _PAGE_ROWS:
            return
        after = [rows[-1]["created_at"], rows[-1]["chat_id"]]
