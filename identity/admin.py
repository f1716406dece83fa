"""The admin pages of clients, API keys, plans, credits and chat settings. None of the pages shows a
stored secret."""

import functools
import json
from datetime import timedelta
from typing import Any, ClassVar

import pydantic
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from chatplatform.admin_base import (
    ADMINS,
    PLATFORM,
    TenantAdmin,
    button,
    column,
    confirm_action,
    in_use,
    run_each,
    viewer,
)
from chatplatform.forms import refusals
from chatplatform.templatetags.dates import short_day, when
from identity import forms, models
from identity.pages import audit_and_jobs, people, sign_in_providers
from identity.schemas.clients import ApiKeyDto, ClientChange, CompanyDto
from identity.services import (
    api_keys,
    clients,
    credit_orders,
    credits,
)

# Importing these modules registers their admin pages.
__all__ = ["audit_and_jobs", "people", "sign_in_providers"]

# Rights come from roles, so groups are not used.
admin.site.unregister(Group)


class ClientForm(ModelForm):  # type: ignore[type-arg]
    """Validates its values with `ClientChange`, the type that `clients.update` takes."""

    by: models.User

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                self.change = ClientChange(**data)
            except pydantic.ValidationError as exc:
                raise ValidationError({place[0]: text for place, text in refusals(exc)}) from exc
        return data


class ServiceAdmin(TenantAdmin):
    """A base class for admin pages that save their form through a service, on behalf of the user in
    the form's `by`."""

    actions_list: Any = ()
    actions_detail: Any = ()

    def get_form(
        self,
        request: HttpRequest,
        obj: Any = None,
        change: bool = False,  # noqa: FBT001 - Django's signature
        **kwargs: Any,
    ) -> Any:
        # Django creates a form class per request, so the class can carry the user.
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.by = request.user
        return form


@admin.register(models.Client)
class ClientAdmin(ServiceAdmin):
    """Clients. A registration or platform staff create each client with an owner, chat settings and
    a plan."""

    client_path = "pk"
    changed_by = PLATFORM
    form = ClientForm
    list_display = ("name", "code", "default_language", "timezone", in_use, "created_at")
    list_filter = ("is_disabled", "subscription__plan")
    search_fields = ("name", "code")
    readonly_fields = ("languages", "created_at")
    actions_list = ("new_company",)
    actions_detail = ("overview",)

    @button(gettext_lazy("New company"), permissions=["platform"], icon="add")
    def new_company(self, request: HttpRequest) -> HttpResponse:
        """Add a company on trial; its owner is mailed a link to choose a password."""

        def act(data: dict[str, Any]) -> HttpResponse:
            client = clients.register(CompanyDto(**data), password=None, by=viewer(request))
            text = gettext("Invitation sent to %(email)s.") % {"email": data["email"]}
            messages.success(request, text)
            return redirect("client", client.pk)

        form = forms.CompanyForm(request.POST or None)
        return self.form_page(
            request, form, act, title=gettext("New company"), button=gettext("Add company")
        )

    @button(gettext_lazy("Overview"), permissions=["platform"], icon="home")
    def overview(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Redirect to the client's overview page."""
        return redirect("client", self.row(request, object_id).pk)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        clients.update(obj, form.change, by=form.by)


@admin.register(models.ApiKey)
class ApiKeyAdmin(TenantAdmin):
    read_by = ADMINS
    list_display = ("name", "prefix", "client", "scope", "last_used_at", "expires", "revoked_at")
    labels: ClassVar = {
        "prefix": gettext_lazy("Starts with"), "scope": gettext_lazy("Type"),
        "mcp_write": gettext_lazy("MCP clients can reply to customers"),
        "client": gettext_lazy("Company"),
    }  # fmt: skip
    list_filter = ("scope", ("revoked_at", admin.EmptyFieldListFilter))
    more_columns = ("created_at",)
    list_select_related = ("client",)
    search_fields = ("prefix", "name", "client__name")
    exclude = ("secret_hash",)
    actions = ("revoke",)
    actions_list = ("new_key",)
    actions_detail = ("change_key",)

    @column(gettext_lazy("Expires"), ordering="expires_at")
    def expires(self, row: models.ApiKey) -> str:
        return when(row.expires_at) if row.expires_at else gettext("Never")

    @button(gettext_lazy("Create key"), permissions=["create"], icon="add")
    def new_key(self, request: HttpRequest) -> HttpResponse:
        """Create a key, and show its secret once, in this response. It is not shown as a Django
        message, which may be stored in a cookie."""
        by = viewer(request)

        def act(data: dict[str, Any]) -> HttpResponse:
            days = data.pop("days")
            expires_at = timezone.now() + timedelta(days=days) if days else None
            hosts = data.pop("allowed_domain")
            key, secret = api_keys.create_with_hosts(
                by.client, hosts=hosts, expires_at=expires_at, created_by=by, **data
            )
            return self.page(
                request, "admin/identity/new_key.html",
                gettext("Your new key (shown only once)"),
                key=key, secret=secret, origin=request.build_absolute_uri("/").rstrip("/"),
            )  # fmt: skip

        form = forms.KeyForm(request.POST or None, client=by.client)
        return self.form_page(
            request, form, act, title=gettext("New API key"), button=gettext("Create key")
        )

    @button(gettext_lazy("Edit"), url_path="edit", permissions=["manage"], icon="edit")
    def change_key(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Change the key's name, and the daily cap (public key) or the right to write over MCP
        (secret key)."""
        key: models.ApiKey = self.row(request, object_id)
        form = forms.KeyChangeForm(request.POST or None, key=key)

        def act(data: dict[str, Any]) -> HttpResponse:
            change = ApiKeyDto(**form.only_changed(data))
            api_keys.change(key.client, api_key_id=key.pk, change=change, by=viewer(request))
            return redirect("admin:identity_apikey_change", key.pk)

        title, text = gettext("Edit API key"), gettext("Save")
        return self.form_page(request, form, act, title=title, button=text)

    @admin.action(description=gettext_lazy("Revoke"), permissions=["manage"])
    @confirm_action(
        gettext_lazy(
            "Revoke these keys? Anything that uses them will stop working right away. This can't"
            " be undone."
        )
    )
    def revoke(self, request: HttpRequest, rows: QuerySet[models.ApiKey]) -> None:
        by, keys = viewer(request), rows.select_related("client")
        revoke = functools.partial(api_keys.revoke, by=by)
        done = gettext_noop("revoked")
        run_each(request, keys, lambda key: revoke(key.client, api_key_id=key.pk), done=done)


@admin.register(models.Subscription)
class SubscriptionAdmin(ServiceAdmin):
    """Plans. Platform staff edit the plan and its period here, but not the balance, which changes
    only through ledger entries."""

    changed_by = PLATFORM

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
        account: models.Subscription | None = self.get_object(request, object_id)
        balances = credits.daily_balances(account.client_id) if account else {}
        line = {
            "label": gettext("Credits left"),
            "data": list(balances.values()),
            "borderColor": "#2563eb",
        }
        chart = json.dumps({"labels": [short_day(day) for day in balances], "datasets": [line]})
        context = (extra_context or {}) | {"balance_chart": chart if balances else ""}
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        # Save only edited fields. Saving the whole row would overwrite a balance that has changed
        # since the form was opened.
        if form.changed_data:
            changes = {name: form.cleaned_data[name] for name in form.changed_data}
            credits.change_plan(obj, changes, by=form.by)


@admin.register(models.CreditOrder)
class CreditOrderAdmin(TenantAdmin):
    """Orders for credits. Platform staff mark an order as paid, which adds its credits, or reject
    it."""

    read_by = PLATFORM

    list_display = ("created_at", "client", "amount", "reference", "status", "created_by")
    list_filter = ("status",)
    list_select_related = ("client", "created_by")
    search_fields = ("=id", "reference", "client__name")
    actions = ("mark_paid", "refuse")

    @admin.action(description=gettext_lazy("Mark as paid"), permissions=["platform"])
    @confirm_action(
        gettext_lazy(
            "Mark these orders as paid? Their credits will be added to the companies' balances."
        )
    )
    def mark_paid(self, request: HttpRequest, rows: QuerySet[models.CreditOrder]) -> None:
        pay = functools.partial(credit_orders.pay, by=viewer(request))
        run_each(request, rows.select_related("client"), pay, done=gettext_noop("paid"))

    @admin.action(description=gettext_lazy("Reject"), permissions=["platform"])
    @confirm_action(
        gettext_lazy("Reject these orders? Their credits won't be added. This can't be undone.")
    )
    def refuse(self, request: HttpRequest, rows: QuerySet[models.CreditOrder]) -> None:
        refuse = functools.partial(credit_orders.refuse, by=viewer(request))
        run_each(request, rows.select_related("client"), refuse, done=gettext_noop("rejected"))


@admin.register(models.CreditEntry)
class CreditEntryAdmin(TenantAdmin):
    read_by = ADMINS
    list_display = (
        "created_at", "client", "kind", "amount", "balance_after", "reference", "is_open",
    )  # fmt: skip
    list_filter = ("kind", "is_open")
    list_select_related = ("client",)
    search_fields = ("reference", "client__name")


@admin.register(models.ClientConfig)
class ClientConfigAdmin(TenantAdmin):
    """The stored chat settings. They are read-only here; the Settings pages and the API change
    them."""

    read_by = PLATFORM
    # The first column links to the row.
    list_display = (
        "__str__", "assign_strategy", "agent_capacity", "answer_threshold", "retention_days",
        "version",
    )  # fmt: skip
    audited_as = "client"
    list_filter = ("assign_strategy",)
    list_select_related = ("client",)
    search_fields = ("client__name", "client__code")
    ordering = ("client__name",)
