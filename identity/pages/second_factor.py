"""The site's views that set up, remove and ask for the second factor."""

import uuid
from typing import Any

import segno
from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from chatplatform.admin_base import viewer
from chatplatform.api.request_context import current_address
from identity.forms import check_own_password
from identity.models import User
from identity.services import attempts, logins, second_factor, site_sessions, tokens


class CodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=40,
        widget=UnfoldAdminTextInputWidget({"autocomplete": "one-time-code", "autofocus": ""}),
        help_text=gettext_lazy("The six-digit code from your app, or a recovery code."),
    )


class OwnForm(CodeForm):
    """A form that also asks for the password, so that an open session alone cannot change the
    second factor."""

    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=128,
        strip=False,
        widget=UnfoldAdminPasswordWidget({"autocomplete": "current-password"}),
    )
    field_order = ("password", "code")

    def __init__(self, user: User, *args: Any) -> None:
        super().__init__(*args)
        self.user = user
        del self.fields["code"].widget.attrs["autofocus"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        check_own_password(self.user, password)
        return password

    @property
    def has_right_password(self) -> bool:
        """Whether the password was correct. Only then is the code checked."""
        return "password" in self.cleaned_data


class SetUpForm(OwnForm):
    """Asks for a first code, which proves that the person's app has the secret."""

    def __init__(self, user: User, sign_in: uuid.UUID | None, *args: Any) -> None:
        super().__init__(user, *args)
        self.sign_in = sign_in
        self.recovery_codes: list[str] = []
        self.fields["code"].help_text = gettext("The six-digit code from your app.")

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        if self.has_right_password:
            signed = self.data.get("signed", "")
            try:
                self.recovery_codes = second_factor.set_up(
                    self.user, signed=signed, code=code, sign_in=self.sign_in
                )
            except ValidationError as exc:
                raise ValidationError(gettext(str(exc.message))) from exc
        return code


class RemovalForm(OwnForm):
    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        if self.has_right_password:
            try:
                logins.check_code(self.user, code, address=current_address())
            except (attempts.TooManyAttempts, tokens.InvalidGrant) as exc:
                raise ValidationError(gettext(str(exc))) from exc
        return code


def own_page(site: Any, request: HttpRequest) -> Any:
    """Sets up or removes a person's own second factor."""
    user = viewer(request)
    if second_factor.is_set(user):
        return _removal(site, request, user)
    return _set_up(site, request, user)


def _set_up(site: Any, request: HttpRequest, user: User) -> Any:
    if not logins.can_use_password(user):
        return site.page(request, "second_factor_set_up", gettext("Two-factor authentication"))
    form = SetUpForm(user, site_sessions.family_of(request), request.POST or None)
    if form.is_valid():
        codes = form.recovery_codes
        return site.page(
            request, "recovery_codes", gettext("Two-factor authentication"), codes=codes
        )
    offer = second_factor.offer(user, signed=request.POST.get("signed", ""))
    code = segno.make(offer.uri, micro=False).svg_inline(scale=5, light="white")
    return site.page(
        request, "second_factor_set_up", gettext("Two-factor authentication"),
        form=form, offer=offer,
        qr_code=mark_safe(code),  # the SVG contains only shapes
        is_required=second_factor.is_missing(user),
    )  # fmt: skip


def _removal(site: Any, request: HttpRequest, user: User) -> Any:
    form = RemovalForm(user, request.POST or None)
    if form.is_valid():
        second_factor.remove(user, by=user)
        return redirect("admin:second_factor")
    left = second_factor.recovery_codes_left(user)
    return site.page(
        request, "second_factor", gettext("Two-factor authentication"), form=form, left=left
    )


def sign_in_page(site: Any, request: HttpRequest) -> HttpResponse:
    """Asks a person who has entered the right password for a code, and signs them in."""
    awaited = site_sessions.awaited(request)
    if awaited is None:
        return redirect("admin:login")
    user, then = awaited
    form, wait_seconds = CodeForm(request.POST or None), 0
    if form.is_valid():
        try:
            logins.check_code(user, form.cleaned_data["code"], address=current_address())
            site_sessions.begin(request, user)
            return redirect(then)
        except attempts.TooManyAttempts as exc:
            form.add_error("code", gettext(str(exc)))
            wait_seconds = exc.retry_after_seconds
        except tokens.InvalidGrant as exc:
            form.add_error("code", gettext(str(exc)))
    page: HttpResponse = site.page(
        request, "login_code", gettext("Two-factor authentication"), form=form
    )
    if wait_seconds:
        page.status_code = 429
        page["Retry-After"] = str(wait_seconds)
    return page
