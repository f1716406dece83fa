"""Clients, people and keys in the admin site; it shows no secret."""

import json
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

from identity.models import ApiKey, Client, ClientConfig, CreditEntry, Subscription, User
from identity.services import api_keys, audit, credits


@admin.register(Client)
class ClientAdmin(ModelAdmin):
    list_display = ("name", "code", "default_language", "timezone", "is_disabled", "created_at")
    list_filter = ("is_disabled", "subscription__plan")
    search_fields = ("name", "code")
    readonly_fields = ("created_at",)

    def has_delete_permission(self, request: HttpRequest, obj: Client | None = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(ModelAdmin):
    list_display = ("email", "full_name", "client", "role", "is_disabled", "last_login")
    list_filter = ("role", "is_disabled", "is_superuser")
    list_select_related = ("client",)
    search_fields = ("email", "full_name", "client__name")
    fields = ("client", "email", "full_name", "role", "language", "is_disabled", "last_login")
    readonly_fields = ("client", "last_login")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    list_display = ("prefix", "name", "client", "scope", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("scope", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("client",)
    search_fields = ("prefix", "name", "client__name")
    exclude = ("secret_hash",)
    actions = ("revoke",)

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset.select_related("client"):
            api_keys.revoke(key.client, api_key_id=key.pk)
        self.message_user(request, "Revoked.", messages.SUCCESS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        # The action needs no more than the right to see the list.
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False


@admin.register(Subscription)
class SubscriptionAdmin(ModelAdmin):
    """Staff choose the plan; the balance moves by the ledger alone."""

    list_display = (
        "client", "plan", "credits_included", "credits_left", "credits_used", "period_end",
        "is_active",
    )  # fmt: skip
    list_filter = ("plan", "is_active")
    list_select_related = ("client",)
    search_fields = ("client__name", "client__code")
    ordering = ("client__name",)
    fields = (
        "client", "plan", "is_active", "credits_included", "period_start", "period_end",
        "credits_left", "credits_used",
    )  # fmt: skip
    readonly_fields = ("client", "credits_left", "credits_used")
    change_form_before_template: Any = "admin/identity/subscription/balance.html"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        shown: Subscription | None = self.get_object(request, object_id)
        days = credits.daily_balances(shown.client_id) if shown else {}
        line = {"label": "Credits left", "data": list(days.values()), "borderColor": "#2563eb"}
        chart = json.dumps({"labels": [f"{day:%d %b}" for day in days], "datasets": [line]})
        context = (extra_context or {}) | {"balance_chart": chart if days else ""}
        found: HttpResponse = super().change_view(request, object_id, form_url, context)
        return found

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        # Only what was edited: credits move while the form is open.
        with transaction.atomic():
            obj.save(update_fields=form.changed_data)
            if form.changed_data:
                audit.record(
                    obj.client_id,
                    "subscription.changed",
                    by=request.user,  # type: ignore[arg-type]
                    subject=f"subscription:{obj.pk}",
                    changes={"fields": sorted(form.changed_data)},
                )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class WrittenByServices(ModelAdmin):
    """Rows that are only looked at here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(CreditEntry)
class CreditEntryAdmin(WrittenByServices):
    list_display = (
        "created_at", "client", "kind", "amount", "balance_after", "reference", "is_open",
    )  # fmt: skip
    list_filter = ("kind", "is_open", "client")
    list_select_related = ("client",)
    search_fields = ("reference",)
    ordering = ("-id",)
    # Counting a ledger takes longer than showing a page of it.
    show_full_result_count = False


@admin.register(ClientConfig)
class ClientConfigAdmin(WrittenByServices):
    """Changed by the API, which checks hours, messages and limits."""

    list_display = (
        "client", "assign_strategy", "agent_capacity", "answer_threshold", "retention_days",
        "version",
    )  # fmt: skip
    list_filter = ("assign_strategy",)
    list_select_related = ("client",)
    search_fields = ("client__name", "client__code")
    ordering = ("client__name",)
