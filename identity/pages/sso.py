"""The site's views for signing in at a company's own provider."""

import functools
from typing import Any, cast
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from chatplatform.api import errors
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import always_calls_out, posts_call_out
from chatplatform.api.request_context import current_address
from identity.pages.mailed_links import sign_out_first
from identity.services import sign_in_providers, site_sessions, sso


@posts_call_out
def start_page(site: Any, request: HttpRequest, code: str) -> HttpResponse:
    """The page that a company's sign-in link opens. It shows the names of the company and of the
    provider, and a button. The button's POST redirects the person to the provider."""
    row = sign_in_providers.find(code)
    if row is None:
        raise Http404
    if refusal := sign_out_first(site, request):
        return refusal
    if request.method != "POST":
        title = gettext("Sign in to {company}").format(company=row.client.name)
        page: Any = site.page(
            request, "provider_start", title, company=row.client.name, issuer=row.issuer
        )
        # Browsers also apply a page's form-action policy to the redirect after its form is
        # submitted.
        page.form_targets = f" https: {_origin(row.issuer)}"
        return cast(HttpResponse, page)
    session: Any = request.session
    start = functools.partial(sso.start, session, row, address=current_address())
    return _response(request, lambda: redirect(start()))


@always_calls_out
def callback(site: Any, request: HttpRequest) -> HttpResponse:
    """Signs in a person whom the provider has redirected back."""
    session: Any = request.session
    refusal = sign_out_first(site, request) if sso.is_pending(session) else None
    if refusal:
        return refusal

    def enter() -> HttpResponse:
        user = sso.finish(session, request.GET.dict())
        site_sessions.begin(request, user)
        return redirect("admin:index")

    return _response(request, enter)


def _origin(issuer: str) -> str:
    parts = urlsplit(issuer)
    return f"{parts.scheme}://{parts.netloc}"


def _response(request: HttpRequest, act: Any) -> HttpResponse:
    """The response of `act`, or the page of the error that it raises."""
    try:
        response: HttpResponse = act()
    except ApiError as exc:
        response = errors.error_view(request, exc)
    # The URL of `callback` contains a sign-in code, which must not leak to other sites.
    response["Referrer-Policy"] = "same-origin"
    return response
