"""Clients, users and keys in the admin site; no secrets are shown."""

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from chatplatform.admin import EditOnlyAdmin, ReadOnlyAdmin, asks_first
from identity import models
from identity.services import api_keys, audit, credit_orders, credits, users


@admin.register(models.Client)
class ClientAdmin(EditOnlyAdmin):
    """Added by registration only, which creates the owner, the config and the plan as well."""

    list_display = ("name", "code", "default_language", "timezone", "is_disabled", "created_at")
    list_filter = ("is_disabled", "subscription__plan")
    search_fields = ("name", "code")
    readonly_fields = ("languages", "created_at")


class UserForm(forms.ModelForm):  # type: ignore[type-arg]
    """Staff change a user by the rules and services of the API."""

    by: models.User

    def clean_email(self) -> str:
        """Kept in lower case, so that one address is one account."""
        return str(self.cleaned_data["email"]).lower()

    def clean(self) -> dict[str, Any]:
        """Shows refusals of the service in the form. The rows stay locked until it is saved, since
        the admin site uses one transaction."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        person = models.User.objects.get(pk=self.instance.pk)
        if not person.client:
            return data
        stays_owner = data.get("role") == models.Role.OWNER and not data.get("is_disabled")
        try:
            users.lock_for_change(
                person.client, user_id=person.pk, by=self.by, stays_owner=stays_owner
            )
        except users.LastOwner as exc:
            raise ValidationError(str(exc)) from exc
        return data


@admin.register(models.User)
class UserAdmin(EditOnlyAdmin):
    """Users are disabled instead of deleted, so that their actions stay visible."""

    form = UserForm
    list_display = ("email", "full_name", "client", "role", "is_disabled", "last_login")
    list_filter = ("role", "is_disabled", "is_superuser")
    list_select_related = ("client",)
    search_fields = ("email", "full_name", "client__name")
    fields = (
        "client", "email", "full_name", "role", "can_train", "language", "is_disabled",
        "last_login",
    )  # fmt: skip
    readonly_fields = ("client", "last_login")

    def get_form(
        self,
        request: HttpRequest,
        obj: models.User | None = None,
        change: bool = False,  # noqa: FBT001 - Django's signature
        **kwargs: Any,
    ) -> Any:
        # Django creates the class for each request.
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.by = request.user
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        """Role and disabling by the services, which end tokens and audit; other fields directly."""
        if not obj.client:
            obj.save(update_fields=form.changed_data)
            return
        by, data = form.by, form.cleaned_data
        fields = [name for name in form.changed_data if name not in {"role", "is_disabled"}]
        if fields:
            obj.save(update_fields=fields)
            audit.record(obj.client.pk, "user.updated", by=by, subject=f"user:{obj.pk}",
                         changes={"fields": fields})  # fmt: skip
        users.set_role(obj.client, user_id=obj.pk, role=data["role"], by=by)
        users.set_disabled(obj.client, user_id=obj.pk, is_disabled=data["is_disabled"], by=by)


@admin.register(models.ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ("prefix", "name", "client", "scope", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("scope", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("client",)
    search_fields = ("prefix", "name", "client__name")
    exclude = ("secret_hash",)
    actions = ("revoke",)

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, queryset: QuerySet[models.ApiKey]) -> None:
        assert isinstance(request.user, models.User), "the admin site admits staff alone"
        for key in queryset.select_related("client"):
            api_keys.revoke(key.client, api_key_id=key.pk, by=request.user)
        self.message_user(request, "Revoked.", messages.SUCCESS)


@admin.register(models.Subscription)
class SubscriptionAdmin(EditOnlyAdmin):
    """Staff choose the plan; only the ledger changes the balance."""

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
        shown: models.Subscription | None = self.get_object(request, object_id)
        days = credits.daily_balances(shown.client_id) if shown else {}
        line = {"label": "Credits left", "data": list(days.values()), "borderColor": "#2563eb"}
        chart = json.dumps({"labels": [f"{day:%d %b}" for day in days], "datasets": [line]})
        context = (extra_context or {}) | {"balance_chart": chart if days else ""}
        found: HttpResponse = super().change_view(request, object_id, form_url, context)
        return found

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        # Only edited fields: the balance may change while the form is open.
        with transaction.atomic():
            obj.save(update_fields=form.changed_data)
            if form.changed_data:
                audit.record(
                    obj.client_id,
                    "subscription.updated",
                    by=request.user,  # type: ignore[arg-type]
                    subject=f"subscription:{obj.pk}",
                    changes={"fields": sorted(form.changed_data)},
                )


@admin.register(models.CreditOrder)
class CreditOrderAdmin(ReadOnlyAdmin):
    """Orders of credits: staff mark those that were paid, which adds the credits."""

    list_display = ("created_at", "client", "amount", "reference", "status", "created_by")
    list_filter = ("status",)
    list_select_related = ("client", "created_by")
    search_fields = ("=id", "reference", "client__name")
    actions = ("mark_paid", "refuse")

    @admin.action(description="Mark as paid")
    @asks_first("Were these orders paid? Their credits are added to the clients' balances.")
    def mark_paid(self, request: HttpRequest, rows: QuerySet[models.CreditOrder]) -> None:
        self._close(request, rows, credit_orders.pay)

    @admin.action(description="Refuse")
    @asks_first("Refuse these orders? No credits are added for them, now or later.")
    def refuse(self, request: HttpRequest, rows: QuerySet[models.CreditOrder]) -> None:
        self._close(request, rows, credit_orders.refuse)

    def _close(
        self, request: HttpRequest, rows: QuerySet[models.CreditOrder], close: Callable[..., None]
    ) -> None:
        for order in rows.select_related("client"):
            try:
                close(order, by=request.user)
            except credit_orders.OrderClosed as exc:
                self.message_user(request, f"{order}: {exc}", messages.ERROR)
            else:
                self.message_user(request, f"{order} is {order.status}.", messages.SUCCESS)


@admin.register(models.CreditEntry)
class CreditEntryAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at", "client", "kind", "amount", "balance_after", "reference", "is_open",
    )  # fmt: skip
    list_filter = ("kind", "is_open", "client")
    list_select_related = ("client",)
    search_fields = ("reference",)
    # Counting the ledger takes longer than showing a page of it.
    show_full_result_count = False


@admin.register(models.ClientConfig)
class ClientConfigAdmin(ReadOnlyAdmin):
    """Changed only by the API, which checks hours, messages and limits."""

    list_display = (
        "client", "assign_strategy", "agent_capacity", "answer_threshold", "retention_days",
        "version",
    )  # fmt: skip
    list_filter = ("assign_strategy",)
    list_select_related = ("client",)
    search_fields = ("client__name", "client__code")
    ordering = ("client__name",)


@admin.register(models.AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """Read-only, which the database enforces too."""

    list_display = ("created_at", "client", "action", "subject", "user", "api_key", "address")
    list_filter = ("action", ("created_at", admin.DateFieldListFilter))
    list_select_related = ("client", "user", "api_key")
    search_fields = ("subject", "action", "user__email", "address", "request_id", "client__name")
    date_hierarchy = "created_at"
    show_full_result_count = False
