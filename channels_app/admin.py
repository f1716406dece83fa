"""Admin pages of connections, callbacks and sends; services make the changes."""

import json
from datetime import date, timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
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
from channels_app.providers import PROVIDERS
from channels_app.services import connections
from chatplatform.admin_base import ADMINS, PLATFORM, ReadOnlyInline, TenantAdmin, button, viewer
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm

CONNECTION_COLORS: dict[str, str] = {
    ConnectionStatus.PENDING: "info",
    ConnectionStatus.CONNECTED: "success",
    ConnectionStatus.DISCONNECTED: "info",
    ConnectionStatus.EXPIRED: "danger",
    ConnectionStatus.ERROR: "danger",
}
# The days of an account's chart.
_DAYS = 14
# What is wrong with an account, and what that means for its chats.
TROUBLES: dict[str, str] = {
    ConnectionStatus.EXPIRED: "The provider no longer accepts our token: nothing is sent or"
    " received until somebody connects the account again.",
    ConnectionStatus.ERROR: "The provider refuses requests, and somebody must look into it. We"
    " still try to send messages.",
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
    """The accounts of each bot, and what is wrong with them."""

    list_display = (
        "account_name", "channel", "client", "bot", "shown_status", "last_error", "last_event_at",
        "token_expires_at", "paused_until", "connected_by", "connected_at",
    )  # fmt: skip
    list_filter = ("channel", "status")
    list_select_related = ("client", "bot", "connected_by")
    search_fields = ("account_id", "account_name", "client__name", "bot__bot_name")
    exclude = ("access_token", "refresh_token")

    actions_detail = ("connect_again",)
    change_form_outer_before_template: Any = "admin/channels_app/connection.html"

    def has_connect_permission(self, request: HttpRequest, row_id: Any = None) -> bool:
        """Owners and admins may reconnect an account that is expired or has an error."""
        if not self.has_create_permission(request):
            return False
        return row_id is None or self.row(request, row_id).status in TROUBLES

    @calls_out
    @button("Connect again", permissions=["connect"], icon="link")
    def connect_again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Connect the account with the stored consent; the provider may require a new one."""
        row: ChannelConnection = self.row(request, object_id)

        def act(data: dict[str, Any]) -> HttpResponse:
            provider = PROVIDERS[row.channel]
            connections.reconnect(row.bot, provider, row.account_id, by=viewer(request))
            messages.success(request, f"{row.account_name} is connected again.")
            return redirect("admin:channels_app_channelconnection_change", row.pk)

        form = ServiceForm(request.POST if request.method == "POST" else None)
        return self.form_page(
            request, form, act, title=f"Connect {row.account_name} again", button="Connect again",
            intro=TROUBLES.get(row.status, "It works."),
        )  # fmt: skip

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """The page of an account, with its trouble and the chart of its sends."""
        row: ChannelConnection = self.row(request, object_id)
        words = TROUBLES.get(row.status, "")
        context = (extra_context or {}) | {
            "trouble": f"{words} The provider said: {row.last_error}" if row.last_error else words,
            "may_connect": self.has_connect_permission(request),
            "sends_chart": _chart(_sends_by_day(row)),
        }
        return super().change_view(request, object_id, form_url, context)

    @display(description="Status", ordering="status", label=CONNECTION_COLORS)
    def shown_status(self, row: ChannelConnection) -> tuple[str, str]:
        return row.status, row.get_status_display()


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
    """Callbacks from providers, with their items' outcomes; one may concern several clients."""

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

    @admin.display(description="As it came")
    def text(self, row: InboundCallback) -> str:
        return bytes(row.body).decode(errors="replace")


@admin.register(OutboundSend)
class OutboundSendAdmin(TenantAdmin):
    """The calls that send messages, with their outcome."""

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


def _sends_by_day(row: ChannelConnection) -> dict[date, tuple[int, int]]:
    """For each of the last 14 days, how many messages were sent and refused; empty if none."""
    today = timezone.localdate()
    days = [today - timedelta(days=back) for back in reversed(range(_DAYS))]
    rows = OutboundSend.objects.filter(connection=row, created_at__date__gte=days[0])
    counted = rows.values(day=TruncDate("created_at")).annotate(
        sent=Count("pk", filter=Q(state=SendState.SENT)),
        refused=Count("pk", filter=Q(state=SendState.FAILED)),
    )
    found = {item["day"]: (item["sent"], item["refused"]) for item in counted}
    return {day: found.get(day, (0, 0)) for day in days} if found else {}


def _chart(days: dict[date, tuple[int, int]]) -> str:
    """The line chart of sent and refused messages; empty if there were none."""
    lines = [
        {"label": label, "data": [counts[place] for counts in days.values()], "borderColor": color}
        for place, (label, color) in enumerate((("Sent", "#2563eb"), ("Refused", "#dc2626")))
    ]
    chart = {"labels": [f"{day:%d %b}" for day in days], "datasets": lines}
    return json.dumps(chart) if days else ""
