"""The pages that mail a link, and the form that the link of a password reset opens."""

from collections.abc import Callable

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.utils.translation import get_language_from_request, gettext, gettext_lazy
from django.views.decorators.http import require_safe
from unfold.sites import UnfoldAdminSite
from unfold.widgets import UnfoldAdminEmailInputWidget

from chatplatform.api.request_context import current_address
from identity.services import attempts, passwords, sign_in_providers


class AddressForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        max_length=254,
        widget=UnfoldAdminEmailInputWidget({"autocomplete": "email", "autofocus": ""}),
    )

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


def forgot_password(site: UnfoldAdminSite, request: HttpRequest) -> HttpResponse:
    """Mails the link of a password reset."""
    context = site.each_context(request) | {"title": gettext("Forgot your password?")}
    return _ask(request, passwords.request_reset, "admin/forgot_password.html", context)


def sign_in_link(site: UnfoldAdminSite, request: HttpRequest) -> HttpResponse:
    """Mails a person the sign-in link of their company."""
    context = site.each_context(request) | {"title": gettext("Log in with your company's account")}
    return _ask(request, sign_in_providers.ask_link, "admin/provider_link.html", context)


def _ask(
    request: HttpRequest, ask: Callable[..., None], template: str, context: dict[str, object]
) -> HttpResponse:
    """A page that asks for an address; its answer reveals no account."""
    form, status, is_sent = AddressForm(request.POST or None), 200, False
    if form.is_valid():
        try:
            ask(email=form.cleaned_data["email"], address=current_address())
            is_sent = True
        except attempts.TooManyAttempts as exc:
            form.add_error(None, gettext(str(exc)))
            status = 429
    context |= {"form": form, "is_sent": is_sent}
    return TemplateResponse(request, template, context, status=status)


@require_safe
def reset_password(request: HttpRequest) -> HttpResponse:
    """The form for a new password. The token is in the URL's fragment, which is not sent."""
    language = get_language_from_request(request)
    page = render(request, "identity/reset_password.html", {"is_vietnamese": language == "vi"})
    page["Content-Security-Policy"] = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    page["Referrer-Policy"] = "no-referrer"
    page["Cache-Control"] = "no-store"
    return page
