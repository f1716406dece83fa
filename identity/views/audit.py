"""The operations of the audit log."""

from typing import Any

from django.http import HttpResponseBase

from chatplatform import media
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import RawResponse, operation
from chatplatform.api.pagination import page
from identity.auth import ADMIN, TenantViewSet
from identity.schemas.audit import AuditEvent, AuditEventsResponse, AuditExportQuery, AuditQuery
from identity.services import audit_queries

FILE = RawResponse(tuple(audit_queries.MIME_TYPES.values()), "The rows as a file to download.")


class AuditViewSet(TenantViewSet):
    @operation("identity", "Get Audit Log", access=ADMIN, returns=AuditEventsResponse)
    def list(self, query: AuditQuery) -> dict[str, Any]:
        """List who changed what in your company, newest first: people, API keys, settings, bots,
        training and credits.

        Events in conversations are in `GET /webhook/events`. No operation changes or deletes rows
        of the audit log.
        """
        return page(
            audit_queries.find(self.client, query), query, by="-id", schema=AuditEvent.from_row
        )

    @operation(
        "identity", "Export Audit Log", access=ADMIN, returns=FILE, also={409: Error}, waits=True
    )
    def export(self, query: AuditExportQuery) -> HttpResponseBase:
        """Download the audit log as a file, oldest first, with the filters of *Get Audit Log*.

        A line of `jsonl` is an `AuditEvent`, as in *Get Audit Log*. `csv` has a header with the
        names of the same fields, in the same order: `id`, `action`, `subject`, `changes` (as JSON),
        `user_id`, `api_key_id`, `address`, `request_id`, `created_at`, `hash`; null is empty. The
        export itself is recorded. 409 `too_many_events` if there are more than 100,000 rows; choose
        a shorter period.
        """
        return media.file_response(
            audit_queries.export(self.client, query, by=self.user),
            mime_type=audit_queries.MIME_TYPES[query.format],
            cache_control="no-store",
            download_as=f"audit.{query.format}",
        )
