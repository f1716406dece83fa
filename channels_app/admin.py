"""Admin pages of connections, callbacks and sends. Changes go through services."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from channels_app.models import (
    ChannelConnection,
    ConnectionStatus,
    InboundCallback,
    InboundItem,
    OutboundSend,
    Outcome,
    SendState,
)
from channels_app.pages.channels import ChannelPages
from chatplatform.admin_base import ADMINS, PLATFORM, ReadOnlyInline, TenantAdmin, column
from chatplatform.templatetags.codes import stored_text, translated_label

CONNECTION_COLORS: dict[str, str] = {
    ConnectionStatus.PENDING: "info",
    ConnectionStatus.CONNECTED: "success",
    ConnectionStatus.DISCONNECTED: "info",
    ConnectionStatus.EXPIRED: "danger",
    ConnectionStatus.ERROR: "danger",
}
SEND_COLORS: dict[str, str] = {
    SendState.QUEUED: "info",
    SendState.SENDING: "info",
    SendState.SENT: "success",
    SendState.FAILED: "danger",
    SendState.UNCERTAIN: "warning",
}


@admin.register(ChannelConnection)
class ChannelConnectionAdmin(ChannelPages):
    """The list of connections, with their status and last error."""

    list_display = (
        "account_name", "channel", "client", "bot", "shown_status", "shown_error", "last_event_at",
        "token_expires_at", "paused_until", "connected_by", "connected_at",
    )  # fmt: skip
    list_filter = ("channel", "status")
    list_select_related = ("client", "bot", "connected_by")
    search_fields = ("account_id", "account_name", "client__name", "bot__bot_name")
    exclude = ("access_token", "refresh_token", "secret")

    @column(gettext_lazy("Status"), ordering="status", label=CONNECTION_COLORS)
    def shown_status(self, row: ChannelConnection) -> tuple[str, str]:
        return row.status, translated_label(row.get_status_display())

    @column(gettext_lazy("Error"), ordering="last_error")
    def shown_error(self, row: ChannelConnection) -> str:
        return stored_text(row.last_error)


def _counter(outcome: Outcome) -> Any:
    """A column with the number of a callback's items that have this outcome."""

    @admin.display(description=outcome.label)
    def count(self: Any, row: InboundCallback) -> int:
        number: int = getattr(row, f"count_{outcome.value}")
        return number

    return count


class Items(ReadOnlyInline):
    model = InboundItem
    fields = ("position", "account_id", "key", "outcome", "kind", "attempts", "error")
    readonly_fields = fields
    ordering = ("position",)


@admin.register(InboundCallback)
class InboundCallbackAdmin(TenantAdmin):
    """Callbacks from providers, with the outcomes of their items. A callback may concern several
    clients, so it belongs to no client."""

    client_path = None
    read_by = PLATFORM

    list_display = (
        "id", "channel", "received_at", "item_count", "waiting", "processed", "duplicate",
        "unsupported", "unknown_account", "error",
    )  # fmt: skip
    list_filter = ("channel", "received_at")
    exclude = ("body",)
    readonly_fields = ("text",)
    inlines = (Items,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[InboundCallback]:
        rows: QuerySet[InboundCallback] = super().get_queryset(request)
        return rows.annotate(
            **{
                f"count_{outcome.value}": Count("items", filter=Q(items__outcome=outcome))
                for outcome in Outcome
            }
        )

    waiting, processed, duplicate, unsupported, unknown_account = map(_counter, Outcome)

    @column(gettext_lazy("Raw content"))
    def text(self, row: InboundCallback) -> str:
        return bytes(row.body).decode(errors="replace")


@admin.register(OutboundSend)
class OutboundSendAdmin(TenantAdmin):
    """The calls that send messages, with their outcomes."""

    read_by = ADMINS

    list_display = (
        "of_chat", "part", "connection", "client", "shown_state", "provider_message_id",
        "shown_error", "sent_at",
    )  # fmt: skip
    list_filter = ("state", "connection__channel")
    list_select_related = ("client", "connection", "message__conversation")
    search_fields = ("=provider_message_id", "=recipient_id", "client__name")

    @column(gettext_lazy("Message"))
    def of_chat(self, row: OutboundSend) -> str:
        message = row.message
        return f"{message.conversation} · {message.seq}"

    @column(gettext_lazy("Status"), ordering="state", label=SEND_COLORS)
    def shown_state(self, row: OutboundSend) -> tuple[str, str]:
        return row.state, translated_label(row.get_state_display())

    @column(gettext_lazy("Error"), ordering="error")
    def shown_error(self, row: OutboundSend) -> str:
        return stored_text(row.error)
