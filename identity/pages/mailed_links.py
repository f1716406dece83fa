"""The pages that mail a link, and the page that the link of an invitation or a password reset
opens."""

import functools
from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminEmailInputWidget

from chatplatform.api.request_context import current_address
from identity.forms import NewPasswordForm
from identity.services import (
    attempts,
    logins,
    passwords,
    second_factor,
    sign_in_providers,
    site_sessions,
)


class AddressForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("Email address"),
        max_length=254,
        widget=UnfoldAdminEmailInputWidget({"autocomplete": "email", "autofocus": ""}),
    )

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


def sign_out_first(site: Any, request: HttpRequest) -> HttpResponse | None:
    """The page that asks a signed-in person to sign out first; None if nobody is signed in.

    A mailed link must not replace an existing sign-in: a stranger may have sent the link.
    """
    if not request.user.is_authenticated:
        return None
    status = 409 if request.method == "POST" else 200
    title = gettext("You're already signed in")
    response: HttpResponse = site.page(request, "sign_out_first", title, status=status)
    return response


def forgot_password(site: Any, request: HttpRequest) -> HttpResponse:
    """The page on which a person requests a mail with a password reset link."""
    page = functools.partial(
        site.page, request, "forgot_password", gettext("Forgot your password?")
    )
    return _email_form_page(request, passwords.request_reset, page)


def sign_in_link(site: Any, request: HttpRequest) -> HttpResponse:
    """The page on which a person requests a mail with the sign-in link of their company."""
    title = gettext("Sign in with your company account")
    page = functools.partial(site.page, request, "provider_link", title)
    return _email_form_page(request, sign_in_providers.ask_link, page)


def _email_form_page(
    request: HttpRequest, send: Callable[..., None], page: Callable[..., Any]
) -> HttpResponse:
    """A page that asks for an email address and passes it to `send`. The response does not reveal
    whether the address has an account."""
    form, status, is_sent = AddressForm(request.POST or None), 200, False
    if form.is_valid():
        try:
            send(email=form.cleaned_data["email"], address=current_address())
            is_sent = True
        except attempts.TooManyAttempts as exc:
            form.add_error(None, gettext(str(exc)))
            status = 429
    response: HttpResponse = page(form=form, is_sent=is_sent, status=status)
    return response


def choose_password(site: Any, request: HttpRequest) -> HttpResponse:
    """The page on which a person who opened a mailed link chooses a password. It then signs them
    in, unless they need a code or must sign in at their company's provider. A script reads the
    token from the URL's fragment, which browsers do not send."""

    def act(data: dict[str, Any]) -> HttpResponse:
        person = passwords.use_reset(
            token=data["token"], password=data["new_password"], address=current_address()
        )
        home = reverse("admin:index")
        if not logins.can_use_password(person):
            return redirect("admin:login")
        if second_factor.is_set(person):
            site_sessions.await_code(request, person, then=home)
            return redirect("admin:login_code")
        site_sessions.begin(request, person)
        return redirect(home)

    form = NewPasswordForm(request.POST or None)
    title = gettext("Choose a password")
    page: HttpResponse = form.carry_out(act) or site.page(
        request, "choose_password", title, form=form
    )
    page["Referrer-Policy"] = "same-origin"
    return page
