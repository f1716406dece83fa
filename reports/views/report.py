"""Operations of the tag `report`: ad-hoc reports, the overview and the warnings of a client."""

import uuid
from typing import IO

from django.http import HttpRequest, HttpResponseBase

from bots.services import bots
from chatplatform import media
from chatplatform.api.error_schemas import Error
from chatplatform.api.errors import NotAuthenticated, json_response
from chatplatform.api.operation import Access, Caller, RawResponse, operation
from identity.auth import ADMIN, BEARER, BEARER_ANY_ROLE, Principal, TenantViewSet
from identity.models import User
from reports.models import Export, ExportStatus
from reports.schemas import adhoc as schemas
from reports.schemas.overview import ChatOverview
from reports.schemas.warnings import MuteWarningDto, WarningDashboard
from reports.services import adhoc, exports, mutes, overview, table_writer, warnings

TAG = "report"
FILE = RawResponse(tuple(table_writer.MIME_TYPES.values()), "The report as a file to download.")


def _person_or_link(request: HttpRequest) -> Caller | None:
    signature = request.GET.get("signature")
    if signature is None:
        return BEARER_ANY_ROLE.authenticate(request)
    assert request.resolver_match
    export_id = request.resolver_match.kwargs["export_id"]
    reader = exports.reader_by_link(export_id, signature=signature)
    if reader is None or reader.client is None:
        raise NotAuthenticated("This link is invalid or has expired. Request the export again.")
    return Principal(reader.client, user=reader)


# A link's signature replaces the token, so that a browser can open the link of an export.
BEARER_OR_LINK = Access(("bearer",), _person_or_link, BEARER_ANY_ROLE.rights)


def download(file: IO[bytes], form: str, name: str) -> HttpResponseBase:
    """The file of a report, as a download."""
    kind = table_writer.MIME_TYPES[form]
    return media.file_response(file, mime_type=kind, cache_control="no-store", download_as=name)


def _response(export: Export, reader: User) -> HttpResponseBase:
    """The response for a large export: the stored file, or a 202 with the worker's progress."""
    if export.status == ExportStatus.DONE:
        file = exports.open_file(export, by=reader)
        return download(file, export.param["format"], export.file_name)
    shown = schemas.AdhocExport(
        id=export.pk, status=export.status, progress=export.progress, rows=export.rows,
        url=exports.link_to(export, reader=reader), expires_at=export.expires_at,
    )  # fmt: skip
    return json_response(shown, 202)


class AdhocReportViewSet(TenantViewSet):
    @operation(TAG, "Getadhocreportfilteroptionsrouter", access=BEARER)
    def filter_options(self, query: schemas.PeriodQuery) -> schemas.AdhocFilterOptions:
        """List the values by which `POST /report/adhoc/search` and `POST /report/adhoc/export` can
        filter a period's conversations, and how often each occurs.

        A conversation belongs to the period in which it was created; test conversations (previews)
        are not counted.
        """
        return adhoc.options(self.client, query)

    @operation(TAG, "Searchadhocreportrouter", access=BEARER_ANY_ROLE)
    def search(
        self, body: schemas.SearchAdhocReportParam, query: schemas.NoQuery
    ) -> schemas.AdhocReport:
        """Get a report on a period's conversations: a row of figures for each group or, without
        `group_by`, a row for each conversation; and the totals of all these conversations.

        The request's field `metrics` chooses the figures, and its description explains each of
        them. An unknown group, metric or `sort` is a 422 that lists the known ones. A conversation
        belongs to the period in which it was created.
        """
        return adhoc.search(self.client, body)

    @operation(
        TAG, "Exportadhocreportrouter", access=BEARER_ANY_ROLE, returns=FILE, waits=True,
        also={202: schemas.AdhocExport, 409: Error},
    )  # fmt: skip
    def export(
        self, body: schemas.ExportAdhocReportParam, query: schemas.NoQuery
    ) -> HttpResponseBase:
        """Export the table of `POST /report/adhoc/search` as a file: a row of column names, then
        the conversations or groups.

        Cells are never formulas. With up to 10,000 rows, the response is a 200 with the file. With
        more, a worker writes the file and the response is a 202: repeat *Get Export* with its `id`
        until it returns the file, which is kept for a day. 422 for an unknown column, or for more
        rows than an XLSX sheet can have (1,048,575); 409 `too_many_exports` while your company has
        20 exports of that size.
        """
        exported = exports.start(self.client, body, by=self.user)
        if isinstance(exported, Export):
            return _response(exported, self.user)
        return download(exported, body.format, exports.file_name(body))

    @operation(
        TAG, "Get Export", access=BEARER_OR_LINK, returns=FILE,
        also={202: schemas.AdhocExport, 409: Error},
    )  # fmt: skip
    def get_export(self, export_id: uuid.UUID, query: schemas.ExportLinkQuery) -> HttpResponseBase:
        """Get a large export of a report: a 202 with the progress until the file is written, then a
        200 with the file.

        Everybody in your company may get the file. With the `signature` in the export's `url`, no
        access token is needed: the link acts for the person who got it, until the export expires or
        that person may no longer sign in (then 401). 409 `export_failed` if the file could not be
        written; 404 once the export has expired.
        """
        return _response(exports.get(self.client, export_id), self.user)


class OverviewViewSet(TenantViewSet):
    @operation(TAG, "Getchatoverviewrouter", access=BEARER)
    def of_client(self, query: schemas.PeriodQuery) -> ChatOverview:
        """Get your company's figures for a period of at most 366 days, and for the period before.

        A conversation belongs to the period in which it was created; test conversations (previews)
        are not counted. Durations include time outside business hours. A duration that no
        conversation has is null.
        """
        return overview.compute(self.client, query)

    @operation(TAG, "Getchatoverviewrouter", access=BEARER)
    def of_bot(self, bot_id: int, query: schemas.PeriodQuery) -> ChatOverview:
        """Get the figures of a bot for a period of at most 366 days, and for the period before.

        The figures are the same as in `GET /report/chat-overview`, but only for the bot's
        conversations.
        """
        return overview.compute(self.client, query, bot=bots.get(self.client, bot_id))


class WarningViewSet(TenantViewSet):
    @operation(TAG, "Getwarningdashboardrouter", access=BEARER)
    def dashboard(self, query: schemas.NoQuery) -> WarningDashboard:
        """List the warnings about your company: what needs attention now or soon, and what to do
        about it.

        Only owners and admins see warnings about webhook endpoints. `due_at` is an expected time,
        such as when credits run out if they are used as fast as in the last seven days.
        """
        return warnings.dashboard(self.client, self.user)

    @operation(TAG, "Mute Warning", access=ADMIN)
    def mute(self, body: MuteWarningDto) -> WarningDashboard:
        """Mute or unmute a warning for your company.

        A muted warning is still listed, but is not shown on the site's home page.
        """
        mutes.mute(self.client, body.code, until=body.until, by=self.user)
        return warnings.dashboard(self.client, self.user)
