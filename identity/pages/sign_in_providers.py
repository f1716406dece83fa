"""Clients' own OpenID providers: the settings form for clients, and the list for platform staff."""

from collections.abc import Collection
from typing import Self

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from unfold.widgets import UnfoldAdminPasswordWidget

from chatplatform.admin_base import PLATFORM, TenantAdmin, column, confirm_action, run_each, viewer
from chatplatform.forms import Setting, SettingsForm
from identity.models import SignInProvider
from identity.schemas.sign_in_providers import SignInProviderDto
from identity.services import sign_in_providers


class ProviderForm(SettingsForm):
    schemas = (SignInProviderDto,)
    settings = (
        Setting(
            "issuer", gettext_lazy("Issuer"),
            gettext_lazy(
                "The issuer of your OpenID Connect provider, exactly as it appears in its tokens."
            ),
            attrs={"placeholder": "https://login.acme.example"},
        ),
        Setting(
            "application_id", gettext_lazy("Client ID"),
            gettext_lazy("From your provider."),
        ),
        Setting(
            "application_secret", gettext_lazy("Client secret"),
            gettext_lazy(
                "From your provider. Stored encrypted and never shown. Leave empty to keep the"
                " current one."
            ),
            widget=UnfoldAdminPasswordWidget, attrs={"autocomplete": "new-password"},
        ),
        Setting("is_required", gettext_lazy("Require SSO (owners can still use passwords)")),
        Setting("creates_agents", gettext_lazy("Add new people as agents")),
    )  # fmt: skip
    email_domains = forms.CharField(
        label=gettext_lazy("Email domains"),
        max_length=2000,
        help_text=gettext_lazy(
            "Separated by spaces, such as acme.example. Only these domains can sign in."
        ),
    )
    field_order = ("issuer", "application_id", "application_secret", "email_domains")

    @classmethod
    def of(cls, data: QueryDict | None, row: SignInProvider | None) -> Self:
        """The form with the values of a stored provider, except its secret."""
        names = ("issuer", "application_id", "is_required", "creates_agents")
        initial = {name: getattr(row, name) for name in names} if row else {}
        if row:
            initial["email_domains"] = " ".join(row.email_domains)
        return cls(data, initial=initial)

    def changed_together(self, name: str) -> Collection[str]:
        """Issuer, client ID and client secret change together, since a secret is valid only for one
        application at one issuer. Any other field changes alone."""
        provider = ("issuer", "application_id", "application_secret")
        return provider if name in provider else (name,)

    def clean_application_secret(self) -> str | None:
        return self.cleaned_data["application_secret"] or None

    def clean_email_domains(self) -> list[str]:
        given: str = self.cleaned_data["email_domains"]
        return given.replace(",", " ").split()


@admin.register(SignInProvider)
class SignInProviderAdmin(TenantAdmin):
    """Shows clients' providers, but never their secrets."""

    read_by = PLATFORM
    list_display = ("issuer", "client", "domains", "required", "updated_at")
    search_fields = ("issuer", "client__name")
    list_select_related = ("client",)
    fields = (
        "client", "issuer", "application_id", "domains", "sign_in_link", "redirect_link",
        "required", "adds_agents", "signs_owners_in", "updated_at",
    )  # fmt: skip
    readonly_fields = (
        "domains", "sign_in_link", "redirect_link", "required", "adds_agents", "signs_owners_in",
    )  # fmt: skip
    actions = ("remove",)

    @column(gettext_lazy("Domains"))
    def domains(self, row: SignInProvider) -> str:
        return ", ".join(row.email_domains)

    @column(gettext_lazy("Sign-in link for your team"))
    def sign_in_link(self, row: SignInProvider) -> str:
        return sign_in_providers.sign_in_url(row.client)

    @column(gettext_lazy("Redirect URL for your provider"))
    def redirect_link(self, row: SignInProvider) -> str:
        return sign_in_providers.redirect_url()

    @column(gettext_lazy("Passwords"))
    def required(self, row: SignInProvider) -> str:
        return gettext("Owners only") if row.is_required else gettext("Allowed")

    @column(gettext_lazy("New people"))
    def adds_agents(self, row: SignInProvider) -> str:
        return gettext("Added as agents") if row.creates_agents else gettext("Rejected")

    @column(gettext_lazy("Owners"))
    def signs_owners_in(self, row: SignInProvider) -> str:
        if row.admits_owners:
            return gettext("Approved")
        return gettext("Not approved yet. An owner must save this page.")

    @admin.action(description=gettext_lazy("Remove"), permissions=["manage"])
    @confirm_action(
        gettext_lazy(
            "Remove this provider? People will sign in with a password. Those without one can"
            " request a link."
        )
    )
    def remove(self, request: HttpRequest, rows: QuerySet[SignInProvider]) -> None:
        by = viewer(request)
        run_each(
            request,
            rows,
            lambda row: sign_in_providers.remove(row.client, by=by),
            done=gettext_noop("removed"),
        )
