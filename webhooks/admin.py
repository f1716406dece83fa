"""Events, endpoints and deliveries in the admin site: read, and sent again."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from unfold.decorators import display

from chatplatform.admin import ADMINS, ReadOnlyInline, TenantAdmin, asks_first
from chatplatform.api.errors import ApiError
from identity.models import User
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, Event, WebhookConfig
from webhooks.services import configs, deliveries

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
class EventAdmin(TenantAdmin):
    read_by = ADMINS
    list_display = ("id", "shown_type", "client", "conversation_id", "sequence", "created_at")
    search_fields = ("client__name",)
    list_select_related = ("client",)
    inlines = (Deliveries,)
    exclude = ("type",)
    readonly_fields = ("shown_type",)

    @display(description="Type", ordering="type")
    def shown_type(self, row: Event) -> str:
        return format_html("<code>{}</code>", row.type)


@admin.register(WebhookConfig)
class WebhookConfigAdmin(TenantAdmin):
    read_by = ADMINS
    list_display = (
        "url", "client", "is_active", "disabled_reason", "failures_in_row", "failing_since",
        "paused_until", "created_at",
    )  # fmt: skip
    list_filter = ("is_active", "disabled_reason")
    list_select_related = ("client",)
    search_fields = ("url", "client__name")
    exclude = ("secret", "previous_secret", "deleted_at")
    actions = ("switch_on", "send_test", "roll_secret")

    def audit_subject(self, row: WebhookConfig) -> str:
        return f"webhook:{row.pk}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookConfig]:
        rows: QuerySet[WebhookConfig] = super().get_queryset(request)
        return rows.filter(deleted_at=None)

    @admin.action(description="Switch on", permissions=["manage"])
    def switch_on(self, request: HttpRequest, rows: QuerySet[WebhookConfig]) -> None:
        assert isinstance(request.user, User), "the site admits people alone"
        for row in rows:
            try:
                was_off = configs.switch_on(row, by=request.user)
            except ApiError as exc:
                messages.error(request, f"{row}: {exc}")
            else:
                messages.success(request, f"{row} is on{'' if was_off else ' already'}.")

    @admin.action(description="Send a test", permissions=["manage"])
    def send_test(self, request: HttpRequest, rows: QuerySet[WebhookConfig]) -> None:
        for row in rows:
            try:
                deliveries.queue_test(row)
            except ApiError as exc:
                messages.error(request, f"{row}: {exc}")
            else:
                messages.success(
                    request, f"A test goes to {row} now; its result is among the deliveries."
                )

    @admin.action(description="Roll the secret", permissions=["manage"])
    @asks_first("Make new secrets for these endpoints? The old ones also sign for 24 hours.")
    def roll_secret(self, request: HttpRequest, rows: QuerySet[WebhookConfig]) -> HttpResponse:
        """Shows the new secrets once: a message would store them in a cookie."""
        assert isinstance(request.user, User), "the site admits people alone"
        context = self.admin_site.each_context(request) | {
            "opts": self.model._meta,
            "title": "The new secrets, shown once",
            "endpoints": [configs.rotate_secret(row, by=request.user) for row in rows],
        }
        return TemplateResponse(request, "admin/webhooks/new_secrets.html", context)


@admin.register(Delivery)
class DeliveryAdmin(TenantAdmin):
    read_by = ADMINS
    list_display = ("event_type", "config", "client", "shown_state", "attempts", "due_at")
    list_filter = ("state", "is_test")
    list_select_related = ("event", "config", "client")
    search_fields = ("=event__id", "config__url", "client__name")
    inlines = (Attempts,)
    actions = ("send_again",)

    @display(description="Event", ordering="event__type")
    def event_type(self, row: Delivery) -> str:
        return format_html("<code>{}</code>", row.event.type)

    @display(description="State", ordering="state", label=COLORS)
    def shown_state(self, row: Delivery) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @admin.action(description="Send again now", permissions=["manage"])
    def send_again(self, request: HttpRequest, rows: QuerySet[Delivery]) -> None:
        sent = [deliveries.retry(row) for row in rows.select_related("event", "config")]
        messages.success(
            request, f"{sum(sent)} queued; {len(sent) - sum(sent)} skipped: the endpoint is off."
        )
