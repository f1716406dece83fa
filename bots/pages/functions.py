"""Read-only admin pages of the functions of bots and their calls."""

from django.contrib import admin
from unfold.decorators import display

from bots import models
from chatplatform.admin_base import TenantAdmin

_COLORS: dict[str, str] = {
    models.CallStatus.WAITING: "warning",
    models.CallStatus.RUNNING: "info",
    models.CallStatus.SUCCEEDED: "success",
    models.CallStatus.FAILED: "danger",
    models.CallStatus.REFUSED: "danger",
    models.CallStatus.REJECTED: "warning",
}


@admin.register(models.FunctionCalling)
class FunctionCallingAdmin(TenantAdmin):
    list_display = ("bot", "is_enabled", "max_calls_per_reply", "updated_at")
    list_filter = ("is_enabled",)
    search_fields = ("bot__bot_name", "client__name")
    list_select_related = ("bot",)

    def audit_subject(self, row: models.FunctionCalling) -> str:
        return f"bot:{row.bot_id}"


@admin.register(models.Function)
class FunctionAdmin(TenantAdmin):
    """Read-only here: the API checks addresses, schemas and templates."""

    list_display = ("name", "bot", "method", "url", "requires_approval")
    list_filter = ("method", "requires_approval")
    search_fields = ("name", "url", "bot__bot_name", "client__name")
    list_select_related = ("bot",)
    # Secrets are never shown.
    exclude = ("secret_headers",)

    def audit_subject(self, row: models.Function) -> str:
        return f"bot:{row.bot_id}"


@admin.register(models.FunctionCall)
class FunctionCallAdmin(TenantAdmin):
    """The log of the calls that bots requested."""

    list_display = (
        "function_name", "bot", "shown_status", "http_status", "duration_ms", "requires_approval",
        "decided_by", "error", "created_at",
    )  # fmt: skip
    list_filter = ("status", "requires_approval", "created_at")
    search_fields = ("function_name", "bot__bot_name", "=conversation_id", "=message_id")
    list_select_related = ("bot", "decided_by")
    exclude = ("fingerprint",)
    codes = frozenset({"error"})

    @display(description="Status", ordering="status", label=_COLORS)
    def shown_status(self, call: models.FunctionCall) -> tuple[str, str]:
        return call.status, call.get_status_display()
