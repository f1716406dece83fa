"""Paths of reports."""

from django.contrib import admin
from django.urls import path

from reports.views import failures_page
from reports.views.report import AdhocReportViewSet, OverviewViewSet, WarningViewSet

adhoc = AdhocReportViewSet.as_view
overview = OverviewViewSet.as_view

urlpatterns = [
    # report
    path("report/adhoc/filter-options", adhoc({"get": "filter_options"})),
    path("report/adhoc/search", adhoc({"post": "search"})),
    path("report/adhoc/export", adhoc({"post": "export"})),
    path("report/chat-overview", overview({"get": "of_client"})),
    path("report/chat-overview/<int:bot_id>", overview({"get": "of_bot"})),
    path("admin/failures/", admin.site.admin_view(failures_page.page), name="failures"),
    path("report/warning-dashboard", WarningViewSet.as_view({"get": "dashboard"})),
]
