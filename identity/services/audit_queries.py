"""Finds and exports the events in a client's audit log."""

import json
from collections.abc import Iterable
from typing import IO, Any

from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext

from chatplatform import csv_files
from chatplatform.api.errors import ApiError
from chatplatform.json_encoding import as_json
from identity.models import ApiKey, AuditEvent, Client, User
from identity.schemas import audit as audit_schemas
from identity.services import audit

MAX_EXPORTED = 100_000
MIME_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv"}
_EXACT_FILTERS = ("action", "subject", "user_id", "api_key_id")
_CHUNK_ROWS = 2_000


class TooManyEvents(ApiError):
    code, status = "too_many_events", 409

    def __init__(self) -> None:
        text = gettext("You can export up to %(count)s rows. Choose a shorter period.")
        super().__init__(text % {"count": number_format(MAX_EXPORTED, force_grouping=True)})


def find(client: Client, query: audit_schemas.AuditFilter) -> QuerySet[AuditEvent]:
    """The client's events that match the filters, unordered."""
    rows = AuditEvent.objects.for_client(client).select_related("link")
    rows = rows.filter(
        **{name: value for name in _EXACT_FILTERS if (value := getattr(query, name))}
    )
    if query.created_from:
        rows = rows.filter(created_at__gte=query.created_from)
    if query.created_to:
        rows = rows.filter(created_at__lt=query.created_to)
    return rows


def export(
    client: Client, query: audit_schemas.AuditExportQuery, *, by: User | ApiKey | None
) -> IO[bytes]:
    """A file with the events that match the filters, oldest first; 409 if there are too many. The
    export is recorded in the audit log."""
    rows = find(client, query)
    count = rows.order_by()[: MAX_EXPORTED + 1].count()
    if count > MAX_EXPORTED:
        raise TooManyEvents
    events = map(audit_schemas.AuditEvent.from_row, rows.order_by("id").iterator(_CHUNK_ROWS))
    with csv_files.temporary_file() as file:
        if query.format == "csv":
            columns = list(audit_schemas.AuditEvent.model_fields)
            csv_files.write(file, columns, map(_cells, events), encoding="utf-8")
        else:
            file.writelines(as_json(event) + b"\n" for event in events)
        audit.record_export(client.pk, "audit_log", by=by, asked=query, rows=count)
    return file


def _cells(event: audit_schemas.AuditEvent) -> Iterable[Any]:
    return (event.model_dump(mode="json") | {"changes": json.dumps(event.changes)}).values()
