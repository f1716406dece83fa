"""The site's views for sign-in at a company's own provider."""

import functools
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from chatplatform.api import errors
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import always_calls_out
from chatplatform.api.request_context import current_address
from identity.services import provider_sign_in, sign_in_providers, site_sessions


@always_calls_out
@never_cache
def leave(request: HttpRequest, code: str) -> HttpResponse:
    """A company's sign-in link, which redirects to its provider."""
    row = sign_in_providers.find(code)
    if row is None:
        raise Http404
    session: Any = request.session
    start = functools.partial(provider_sign_in.start, session, row, address=current_address())
    return _shown(request, lambda: redirect(start()))


@always_calls_out
@never_cache
def come_back(request: HttpRequest) -> HttpResponse:
    """Signs in a person whom a provider has sent back."""

    def enter() -> HttpResponse:
        session: Any = request.session
        user = provider_sign_in.finish(session, request.GET.dict())
        site_sessions.begin(request, user)
        return redirect("admin:index")

    return _shown(request, enter)


def _shown(request: HttpRequest, act: Any) -> HttpResponse:
    try:
        page: HttpResponse = act()
    except ApiError as exc:
        page = errors.refused(request, exc)
    # The address holds a sign-in code, which must not leak to other sites.
    page["Referrer-Policy"] = "no-referrer"
    return page
