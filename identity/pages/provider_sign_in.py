"""The site's views for sign-in at a company's own provider."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from unfold.sites import UnfoldAdminSite

from chatplatform.api import errors
from chatplatform.api.errors import ApiError
from chatplatform.api.request_context import current_address
from identity.services import attempts, provider_sign_in, sign_in_providers, site_sessions


def ask_page(site: UnfoldAdminSite, request: HttpRequest, form: forms.Form) -> HttpResponse:
    """Mails a person the sign-in link of their company; the answer reveals no account."""
    status, is_sent = 200, False
    if form.is_valid():
        email, address = form.cleaned_data["email"], current_address()
        try:
            sign_in_providers.ask_link(email=email, address=address)
            is_sent = True
        except attempts.TooManyAttempts as exc:
            form.add_error(None, gettext(str(exc)))
            status = 429
    context = {
        **site.each_context(request),
        "title": gettext("Log in with your company's account"),
        "form": form,
        "is_sent": is_sent,
    }
    return TemplateResponse(request, "admin/provider_link.html", context, status=status)


def leave(request: HttpRequest, code: str) -> HttpResponse:
    """A company's sign-in link, which redirects to its provider."""
    row = sign_in_providers.find(code)
    if row is None:
        raise Http404
    session: Any = request.session
    return _saying(
        request, lambda: redirect(provider_sign_in.start(session, row, address=current_address()))
    )


def come_back(request: HttpRequest) -> HttpResponse:
    """Signs in a person whom a provider has sent back."""

    def enter() -> HttpResponse:
        session: Any = request.session
        user = provider_sign_in.finish(session, request.GET.dict())
        site_sessions.begin(request, user)
        return redirect("admin:index")

    return _saying(request, enter)


def _saying(request: HttpRequest, act: Any) -> HttpResponse:
    try:
        page: HttpResponse = act()
    except ApiError as exc:
        page = errors.refused(request, exc)
    # The address holds a sign-in code, which must not leak to other sites.
    page["Referrer-Policy"] = "no-referrer"
    return page
