"""The site's read-only pages for large exports."""

from typing import ClassVar

from django.contrib import admin
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import TenantAdmin, column
from reports.models import Export, ExportStatus

COLORS: dict[str, str] = {
    ExportStatus.QUEUED: "info",
    ExportStatus.RUNNING: "info",
    ExportStatus.DONE: "success",
    ExportStatus.FAILED: "danger",
}


@admin.register(Export)
class ExportAdmin(TenantAdmin):
    """Large exports, written by a worker."""

    list_display = ("file_name", "client", "shown_status", "progress", "rows", "created_by",
                    "created_at", "expires_at")  # fmt: skip
    list_filter = ("status",)
    list_select_related = ("client", "created_by")
    exclude = ("file", "param")
    search_fields: ClassVar = ("file_name",)

    @column(gettext_lazy("Status"), ordering="status", label=COLORS)
    def shown_status(self, row: Export) -> tuple[str, str]:
        return row.status, gettext(row.get_status_display())
