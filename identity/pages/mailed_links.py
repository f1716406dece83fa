"""The pages that mail a link, and the form that the link of a password reset opens."""

import functools
from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language_from_request, gettext, gettext_lazy
from django.views.decorators.http import require_safe
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


def forgot_password(site: Any, request: HttpRequest) -> HttpResponse:
    """Mails the link of a password reset."""
    page = functools.partial(
        site.page, request, "forgot_password", gettext("Forgot your password?")
    )
    return _ask(request, passwords.request_reset, page)


def sign_in_link(site: Any, request: HttpRequest) -> HttpResponse:
    """Mails a person the sign-in link of their company."""
    title = gettext("Log in with your company's account")
    page = functools.partial(site.page, request, "provider_link", title)
    return _ask(request, sign_in_providers.ask_link, page)


def _ask(request: HttpRequest, ask: Callable[..., None], page: Callable[..., Any]) -> HttpResponse:
    """A page that asks for an address; its answer reveals no account."""
    form, status, is_sent = AddressForm(request.POST or None), 200, False
    if form.is_valid():
        try:
            ask(email=form.cleaned_data["email"], address=current_address())
            is_sent = True
        except attempts.TooManyAttempts as exc:
            form.add_error(None, gettext(str(exc)))
            status = 429
    shown: HttpResponse = page(form=form, is_sent=is_sent, status=status)
    return shown


@require_safe
def reset_password(request: HttpRequest) -> HttpResponse:
    """The form for a new password. The token is in the URL's fragment, which is not sent."""
    language = get_language_from_request(request)
    page = render(request, "identity/reset_password.html", {"is_vietnamese": language == "vi"})
    page["Content-Security-Policy"] = (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self';"
        " connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    page["Referrer-Policy"] = "no-referrer"
    page["Cache-Control"] = "no-store"
    return page
