"""report: ad-hoc reports over a client's chats, the overview, and the warnings."""

import uuid

from django.http import HttpRequest, HttpResponseBase

from bots.services import bots
from chatplatform import media
from chatplatform.api.error_shapes import Error
from chatplatform.api.errors import NotAuthenticated, json_response
from chatplatform.api.operation import Access, Caller, RawResponse, operation
from identity.auth import ADMIN, BEARER, BEARER_ANY_ROLE, Principal, TenantViewSet
from identity.models import User
from reports.models import Export, ExportStatus
from reports.services import adhoc, exports, mutes, overview, table_writer, warnings
from reports.shapes import adhoc as shapes
from reports.shapes.overview import ChatOverview
from reports.shapes.warnings import MuteWarningDto, WarningDashboard

TAG = "report"
FILE = RawResponse(tuple(table_writer.MIME_TYPES.values()), "The report as a file, as a download.")


def _person_or_link(request: HttpRequest) -> Caller | None:
    signature = request.GET.get("signature")
    if signature is None:
        return BEARER_ANY_ROLE.authenticate(request)
    assert request.resolver_match
    export_id = request.resolver_match.kwargs["export_id"]
    reader = exports.reader_by_link(export_id, signature=signature)
    if reader is None or reader.client is None:
        raise NotAuthenticated("This link is not valid (any more); ask for the export again.")
    return Principal(reader.client, user=reader)


# For links that a browser opens.
BEARER_OR_LINK = Access(("bearer",), _person_or_link, BEARER_ANY_ROLE.rights)


def _shown(export: Export, reader: User) -> HttpResponseBase:
    """A stored file, or how far its worker is."""
    if export.status == ExportStatus.DONE:
        return media.file_response(
            exports.open_file(export, by=reader),
            mime_type=table_writer.MIME_TYPES[export.param["format"]],
            cache_control="no-store",
            download_as=export.file_name,
        )
    shape = shapes.AdhocExport(
        id=export.pk, status=export.status, progress=export.progress, rows=export.rows,
        url=exports.link_to(export, reader=reader), expires_at=export.expires_at,
    )  # fmt: skip
    return json_response(shape, 202)


class AdhocReportViewSet(TenantViewSet):
    @operation(TAG, "Getadhocreportfilteroptionsrouter", access=BEARER)
    def filter_options(self, query: shapes.PeriodQuery) -> shapes.AdhocFilterOptions:
        """By what the chats of a period can be filtered, and how many chats have each value.

        A chat counts for the period in which it was created; previews count nowhere.
        """
        return adhoc.options(self.client, query)

    @operation(TAG, "Searchadhocreportrouter", access=BEARER_ANY_ROLE)
    def search(
        self, body: shapes.SearchAdhocReportParam, query: shapes.NoQuery
    ) -> shapes.AdhocReport:
        """Figures of chats by groups, or a row for each chat; and the totals over all of them.

        An unknown name of a group, metric or order is a 422 that lists the known. `messages` counts
        what customers, bots and agents said; `handed_off` chats that ever were; `bot_resolved`
        ended chats that no person answered and nobody handed over; a first response is of whoever
        answered first.
        """
        return adhoc.search(self.client, body)

    @operation(
        TAG,
        "Exportadhocreportrouter",
        access=BEARER_ANY_ROLE,
        returns=FILE,
        waits=True,
        also={202: shapes.AdhocExport, 409: Error},
    )
    def export(
        self, body: shapes.ExportAdhocReportParam, query: shapes.NoQuery
    ) -> HttpResponseBase:
        """The same table as a file: a row of column names, then a row for each chat or group.

        No cell becomes a formula. One of more than 10,000 rows is written by a worker: the answer
        is a 202 with the path to ask at, and the file is there for a day. 422 for a column that the
        report does not have; 409 `too_many_exports` while your client has 20 of that size.
        """
        made = exports.start(self.client, body, by=self.user)
        if isinstance(made, Export):
            return _shown(made, self.user)
        return media.file_response(
            made,
            mime_type=table_writer.MIME_TYPES[body.format],
            cache_control="no-store",
            download_as=exports.file_name(body),
        )

    @operation(
        TAG,
        "Get Export",
        access=BEARER_OR_LINK,
        returns=FILE,
        also={202: shapes.AdhocExport, 409: Error},
    )
    def get_export(self, export_id: uuid.UUID, query: shapes.ExportLinkQuery) -> HttpResponseBase:
        """A large export: 202 with its progress until it is written, then the file.

        The signature of its `url` admits in place of a token. 409 `export_failed` if it could not
        be made; 404 once its day is over.
        """
        return _shown(exports.get(self.client, export_id), self.user)


class OverviewViewSet(TenantViewSet):
    @operation(TAG, "Getchatoverviewrouter", access=BEARER)
    def of_client(self, query: shapes.PeriodQuery) -> ChatOverview:
        """How your client's chats went in a period of at most 366 days, and in the one before.

        A chat counts for the period in which it was created; previews count nowhere.
        """
        return overview.of(self.client, query)

    @operation(TAG, "Getchatoverviewrouter", access=BEARER)
    def of_bot(self, bot_id: int, query: shapes.PeriodQuery) -> ChatOverview:
        """How the chats of one bot went in a period of at most 366 days, and in the one before."""
        return overview.of(self.client, query, bot=bots.get(self.client, bot_id))


class WarningViewSet(TenantViewSet):
    @operation(TAG, "Getwarningdashboardrouter", access=BEARER)
    def dashboard(self, query: shapes.NoQuery) -> WarningDashboard:
        """What needs somebody now, and what soon will, with what to do about it.

        Endpoints of webhooks are shown to owners and admins alone. `due_at` is when something is
        foreseen to happen, such as the end of the credits at the pace of the last 24 hours.
        """
        return warnings.dashboard(self.client, self.user)

    @operation(TAG, "Mute Warning", access=ADMIN)
    def mute(self, body: MuteWarningDto) -> WarningDashboard:
        """Mute a warning for your client, or end that.

        A muted warning is still listed, as muted, and is not shown on the site's home.
        """
        mutes.mute(self.client, body.code, until=body.until, by=self.user)
        return warnings.dashboard(self.client, self.user)
