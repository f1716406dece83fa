"""Connections and callbacks in the admin site: read-only; services change them."""

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from channels_app.models import (
    ChannelConnection,
    ConnectionStatus,
    InboundCallback,
    InboundItem,
    OutboundSend,
    Outcome,
    SendState,
)
from chatplatform.admin import ADMINS, PLATFORM, ReadOnlyInline, TenantAdmin

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
class ChannelConnectionAdmin(TenantAdmin):
    """Which bot has which account, and what is wrong with it."""

    list_display = (
        "account_name", "channel", "client", "bot", "shown_status", "last_error", "last_event_at",
        "token_expires_at", "paused_until", "connected_by", "connected_at",
    )  # fmt: skip
    list_filter = ("channel", "status")
    list_select_related = ("client", "bot", "connected_by")
    search_fields = ("account_id", "account_name", "client__name", "bot__bot_name")
    exclude = ("access_token", "refresh_token")

    @display(description="Status", ordering="status", label=CONNECTION_COLORS)
    def shown_status(self, row: ChannelConnection) -> tuple[str, str]:
        return row.status, row.get_status_display()


class Items(ReadOnlyInline):
    model = InboundItem
    fields = ("position", "account_id", "key", "outcome", "kind")
    readonly_fields = fields
    ordering = ("position",)


@admin.register(InboundCallback)
class InboundCallbackAdmin(TenantAdmin):
    """What providers sent, and what became of it; a callback may concern several clients."""

    client_path = None
    read_by = PLATFORM

    list_display = (
        "id", "channel", "received_at", "item_count", "processed", "duplicate", "unsupported",
        "unknown_account", "problem",
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

    @admin.display(description="Processed")
    def processed(self, row: InboundCallback) -> int:
        return _count(row, Outcome.PROCESSED)

    @admin.display(description="Duplicate")
    def duplicate(self, row: InboundCallback) -> int:
        return _count(row, Outcome.DUPLICATE)

    @admin.display(description="Unsupported")
    def unsupported(self, row: InboundCallback) -> int:
        return _count(row, Outcome.UNSUPPORTED)

    @admin.display(description="Unknown account")
    def unknown_account(self, row: InboundCallback) -> int:
        return _count(row, Outcome.UNKNOWN_ACCOUNT)

    @admin.display(description="As it came")
    def text(self, row: InboundCallback) -> str:
        return bytes(row.body).decode(errors="replace")


@admin.register(OutboundSend)
class OutboundSendAdmin(TenantAdmin):
    """The calls that sent messages, and those of which nobody knows."""

    read_by = ADMINS

    list_display = (
        "of_chat", "part", "connection", "client", "shown_state", "provider_message_id", "error",
        "sent_at",
    )  # fmt: skip
    list_filter = ("state", "connection__channel")
    list_select_related = ("client", "connection", "message__conversation")
    search_fields = ("=provider_message_id", "=recipient_id", "client__name")

    @display(description="Message")
    def of_chat(self, row: OutboundSend) -> str:
        return f"{row.message.seq} of chat {row.message.conversation}"

    @display(description="State", ordering="state", label=SEND_COLORS)
    def shown_state(self, row: OutboundSend) -> tuple[str, str]:
        return row.state, row.get_state_display()


def _count(row: InboundCallback, outcome: Outcome) -> int:
    number: int = getattr(row, f"count_{outcome.value}")
    return number
