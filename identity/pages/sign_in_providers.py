"""Sets and removes a client's own OpenID provider on the site."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import display
from unfold.widgets import UnfoldAdminPasswordWidget

from chatplatform.admin_base import ADMINS, TenantAdmin, button, confirm_action, each, viewer
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm
from identity.models import Client, SignInProvider
from identity.services import sign_in_providers
from identity.shapes.providers import SignInProviderDto


class ProviderForm(ServiceForm):
    issuer = forms.CharField(
        label="Issuer",
        max_length=500,
        widget=forms.TextInput(attrs={"placeholder": "https://login.acme.example"}),
        help_text="The issuer of your OpenID Connect provider, exactly as in its tokens.",
    )
    application_id = forms.CharField(
        label="Application", max_length=255, help_text="The client ID from the provider."
    )
    application_secret = forms.CharField(
        label="Secret",
        max_length=500,
        required=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text="The client secret from the provider. Stored encrypted and never shown. Leave"
        " empty to keep the stored one.",
    )
    email_domains = forms.CharField(
        label="E-mail domains",
        max_length=2000,
        help_text="Separated by spaces, such as acme.example. Nobody else gets in.",
    )
    is_required = forms.BooleanField(
        label="Require this log-in (owners can still use passwords)", required=False
    )
    creates_agents = forms.BooleanField(label="Add new people as agents", required=False)


@admin.register(SignInProvider)
class SignInProviderAdmin(TenantAdmin):
    """Shows a client's provider, but never its secret."""

    read_by = ADMINS
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
    actions_list = ("set_provider",)
    actions_detail = ("edit",)

    @display(description="Domains")
    def domains(self, row: SignInProvider) -> str:
        return ", ".join(row.email_domains)

    @display(description="Log-in link for your team")
    def sign_in_link(self, row: SignInProvider) -> str:
        return sign_in_providers.sign_in_url(row.client)

    @display(description="Redirect address to enter at the provider")
    def redirect_link(self, row: SignInProvider) -> str:
        return sign_in_providers.redirect_url()

    @display(description="Passwords")
    def required(self, row: SignInProvider) -> str:
        return "Only for owners" if row.is_required else "Allowed too"

    @display(description="New people")
    def adds_agents(self, row: SignInProvider) -> str:
        return "Added as agents" if row.creates_agents else "Refused"

    @display(description="Owners")
    def signs_owners_in(self, row: SignInProvider) -> str:
        return "Admitted" if row.admits_owners else "Not admitted: an owner must save this page"

    @calls_out
    @button("Set the provider", permissions=["create"], icon="add")
    def set_provider(self, request: HttpRequest) -> HttpResponse:
        """Set the provider at which the client's people sign in."""
        return self._page(request, viewer(request).client, None)

    @calls_out
    @button("Change", url_path="edit", permissions=["manage"], icon="edit")
    def edit(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Change the issuer, application, secret or rules."""
        row: SignInProvider = self.row(request, object_id)
        return self._page(request, row.client, row)

    @admin.action(description="Remove", permissions=["manage"])
    @confirm_action(
        "Remove the provider? People then log in with a password; who has none asks for a link."
    )
    def remove(self, request: HttpRequest, rows: QuerySet[SignInProvider]) -> None:
        by = viewer(request)
        each(request, rows, lambda row: sign_in_providers.remove(row.client, by=by))

    def _page(
        self, request: HttpRequest, client: Client, row: SignInProvider | None
    ) -> HttpResponse:
        shown = ("issuer", "application_id", "is_required", "creates_agents")
        initial = {name: getattr(row, name) for name in shown} if row else {}
        if row:
            initial["email_domains"] = " ".join(row.email_domains)

        def act(data: dict[str, Any]) -> HttpResponse:
            data["application_secret"] = data["application_secret"] or None
            data["email_domains"] = data["email_domains"].replace(",", " ").split()
            body = SignInProviderDto(**data)
            stored = sign_in_providers.store(client, body=body, by=viewer(request))
            messages.success(request, "Saved. Try the log-in link in another browser.")
            return cast("HttpResponse", redirect("admin:identity_signinprovider_change", stored.pk))

        return self.form_page(
            request, ProviderForm(request.POST or None, initial=initial), act,
            title="Log in with your company's account",
            button="Store",
            intro="Your team logs in at your own OpenID provider. Enter this redirect address"
            f" there: {sign_in_providers.redirect_url()}",
        )  # fmt: skip
