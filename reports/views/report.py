"""report: ad-hoc reports over a client's chats, the overview, and the warnings."""

from django.http import HttpResponseBase

from bots.services import bots
from chatplatform import media
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import Bare, operation
from identity.auth import BEARER, BEARER_ANY_ROLE, TenantViewSet
from reports.services import adhoc, exports, overview, warnings
from reports.shapes import adhoc as shapes
from reports.shapes.overview import ChatOverview
from reports.shapes.warnings import WarningDashboard

TAG = "report"
FILE = Bare(tuple(exports.MIME_TYPES.values()), "The report as a file, as a download.")


class AdhocReportViewSet(TenantViewSet):
    @operation(TAG, "Getadhocreportfilteroptionsrouter", access=BEARER)
    def filter_options(self, query: shapes.PeriodQuery) -> shapes.AdhocFilterOptions:
        """By what the chats of a period can be filtered, and how many chats have each value.

        A chat counts for the period in which it was created; previews count nowhere.
        """
        return adhoc.options(self.client, query)

    @operation(TAG, "Searchadhocreportrouter", access=BEARER_ANY_ROLE)
    def search(self, body: shapes.SearchAdhocReportParam) -> shapes.AdhocReport:
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
        also={409: Error},
    )
    def export(self, body: shapes.ExportAdhocReportParam) -> HttpResponseBase:
        """The same table as a file: a row of column names, then a row for each chat or group.

        No cell becomes a formula. 409 `report_too_large` for more than 50,000 rows; 422 for a
        column that the report does not have.
        """
        return media.file_response(
            exports.write(self.client, body),
            mime_type=exports.MIME_TYPES[body.format],
            cache_control="no-store",
            download_as=f"{body.file_name or 'report'}.{body.format}",
        )


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
    def dashboard(self) -> WarningDashboard:
        """What needs somebody now, and what soon will, with what to do about it.

        Endpoints of webhooks are shown to owners and admins alone. `due_at` is when something is
        foreseen to happen, such as the end of the credits at the pace of the last 24 hours.
        """
        return warnings.dashboard(self.client, self.user)
