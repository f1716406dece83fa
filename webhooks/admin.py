"""Events, endpoints and deliveries in the admin site: read, and sent again."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from chatplatform.admin import ReadOnlyAdmin, ReadOnlyInline
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, Event, WebhookConfig
from webhooks.services import deliveries

COLORS: dict[str, str] = {
    DeliveryState.PENDING: "info",
    DeliveryState.FAILED: "warning",
    DeliveryState.SUCCEEDED: "success",
    DeliveryState.GAVE_UP: "danger",
}


class Deliveries(ReadOnlyInline):
    model = Delivery
    fields = ("config", "state", "attempts", "due_at", "attempt_log")
    readonly_fields = fields
    ordering = ("id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        rows: QuerySet[Delivery] = super().get_queryset(request)
        return rows.select_related("config").prefetch_related("log")

    @admin.display(description="Attempts")
    def attempt_log(self, row: Delivery) -> str:
        log = sorted(row.log.all(), key=lambda entry: entry.number)
        return " · ".join(
            f"{entry.number}: {entry.error or entry.http_status} ({entry.duration_ms or 0} ms)"
            for entry in log
        )


class Attempts(ReadOnlyInline):
    model = DeliveryAttempt
    fields = ("number", "http_status", "duration_ms", "error", "response_excerpt", "created_at")
    readonly_fields = fields
    ordering = ("number",)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("id", "type", "client", "conversation_id", "sequence", "created_at")
    list_filter = ("type", "client")
    list_select_related = ("client",)
    show_full_result_count = False
    inlines = (Deliveries,)


@admin.register(WebhookConfig)
class WebhookConfigAdmin(ReadOnlyAdmin):
    list_display = (
        "url", "client", "is_active", "disabled_reason", "failures_in_row", "failing_since",
        "paused_until", "created_at",
    )  # fmt: skip
    list_filter = ("is_active", "disabled_reason")
    list_select_related = ("client",)
    search_fields = ("url", "client__name")
    exclude = ("secret", "previous_secret")


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("event_type", "config", "client", "shown_state", "attempts", "due_at")
    list_filter = ("state", "is_test")
    list_select_related = ("event", "config", "client")
    search_fields = ("=event__id", "config__url", "client__name")
    show_full_result_count = False
    inlines = (Attempts,)
    actions = ("send_again",)

    @display(description="Event", ordering="event__type")
    def event_type(self, row: Delivery) -> str:
        return row.event.type

    @display(description="State", ordering="state", label=COLORS)
    def shown_state(self, row: Delivery) -> str:
        return row.state

    @admin.action(description="Send again now")
    def send_again(self, request: HttpRequest, rows: QuerySet[Delivery]) -> None:
        sent = [deliveries.retry(row) for row in rows.select_related("event", "config")]
        messages.success(
            request, f"{sum(sent)} queued; {len(sent) - sum(sent)} skipped: the endpoint is off."
        )
