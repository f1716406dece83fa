"""The audit log of a client, read and exported by its owners and admins."""

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from typing import IO

from django.db.models import QuerySet

from chatplatform.api.errors import ApiError
from chatplatform.formula_injection import escape_formula
from identity.models import ApiKey, AuditEvent, Client, User
from identity.services import audit
from identity.shapes import audit as audit_shapes

MAX_EXPORTED = 100_000
MIME_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv"}
_EQUAL = ("action", "subject", "user_id", "api_key_id")
_READ_AT_ONCE = 2_000


class TooManyEvents(ApiError):
    code, status = "too_many_events", 409
    detail = f"A file has at most {MAX_EXPORTED:,} rows: ask for a shorter period."


def find(client: Client, query: audit_shapes.AuditFilter) -> QuerySet[AuditEvent]:
    """The client's rows that match, unordered."""
    rows = AuditEvent.objects.for_client(client).select_related("link")
    rows = rows.filter(**{name: value for name in _EQUAL if (value := getattr(query, name))})
    if query.created_from:
        rows = rows.filter(created_at__gte=query.created_from)
    if query.created_to:
        rows = rows.filter(created_at__lt=query.created_to)
    return rows


def export(
    client: Client, query: audit_shapes.AuditExportQuery, *, by: User | ApiKey | None
) -> IO[bytes]:
    """The rows that match as a file, oldest first; 409 if they are too many."""
    rows = find(client, query)
    count = rows.order_by()[: MAX_EXPORTED + 1].count()
    if count > MAX_EXPORTED:
        raise TooManyEvents
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    text = io.TextIOWrapper(file, "utf-8", newline="")
    try:
        _write(text, query.format, rows)
        audit.record_export(client.pk, "audit_log", by=by, asked=query, rows=count)
    except BaseException:
        file.close()
        raise
    text.detach()
    file.seek(0)
    return file


def _write(text: IO[str], form: str, rows: QuerySet[AuditEvent]) -> None:
    if form == "jsonl":
        text.writelines(
            json.dumps(shape.model_dump(mode="json"), ensure_ascii=False) + "\n"
            for shape in _shapes(rows)
        )
        return
    names = list(audit_shapes.AuditEvent.model_fields)
    writer = csv.writer(text)
    writer.writerow(names)
    for shape in _shapes(rows):
        cells = shape.model_dump(mode="json") | {"changes": json.dumps(shape.changes)}
        writer.writerow([escape_formula(cells[name]) for name in names])


def _shapes(rows: QuerySet[AuditEvent]) -> Iterator[audit_shapes.AuditEvent]:
    for row in rows.order_by("id").iterator(_READ_AT_ONCE):
        yield audit_shapes.AuditEvent.from_row(row)
