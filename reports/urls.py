"""Paths of the API's tag `report`, and of this app's pages on the site."""

from django.contrib import admin
from django.urls import path

from reports.views import (
    adhoc_page,
    client_page,
    command_palette,
    failures_page,
    home,
    overview_page,
    warnings_page,
)
from reports.views.report import AdhocReportViewSet, OverviewViewSet, WarningViewSet

adhoc = AdhocReportViewSet.as_view
overview = OverviewViewSet.as_view
warning = WarningViewSet.as_view
page = admin.site.admin_view

urlpatterns = [
    # report
    path("report/adhoc/filter-options", adhoc({"get": "filter_options"})),
    path("report/adhoc/search", adhoc({"post": "search"})),
    path("report/adhoc/export", adhoc({"post": "export"})),
    path("report/adhoc/export/<uuid:export_id>", adhoc({"get": "get_export"})),
    path("report/chat-overview", overview({"get": "of_client"})),
    path("report/chat-overview/<int:bot_id>", overview({"get": "of_bot"})),
    path("report/warning-dashboard", warning({"get": "dashboard"})),
    path("report/warning-dashboard/mute", warning({"put": "mute"})),
    # pages
    path("admin/failures/", page(failures_page.page), name="failures"),
    path("admin/steps/dismiss/", page(home.dismiss_steps), name="dismiss_steps"),
    path("admin/clients/<int:client_id>/", page(client_page.page), name="client"),
    # Replaces Unfold's search, so it must come before the paths of the admin site.
    path("admin/search/", page(command_palette.page)),
    path("admin/reports/", page(overview_page.page), name="reports_overview"),
    path("admin/reports/adhoc/", page(adhoc_page.page), name="reports_adhoc"),
    path("admin/reports/adhoc/export/", page(adhoc_page.export), name="reports_export"),
    path("admin/reports/adhoc/save/", page(adhoc_page.save), name="reports_save"),
    path("admin/reports/warnings/", page(warnings_page.page), name="reports_warnings"),
]
