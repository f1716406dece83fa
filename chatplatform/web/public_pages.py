"""The start page and other pages of the whole platform."""

import functools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from chatplatform.api.errors import page_not_found
from chatplatform.api.proxies import is_local_request
from chatplatform.web.reader_locale import in_reader_language


@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """The start page. In development, readers on this machine also see the demo's logins."""
    stored = settings.DATA_DIR / "keys" / "demo_logins"
    has_demo = settings.DEVELOPMENT and stored.exists() and is_local_request(request)
    has_shop = settings.DEVELOPMENT and (settings.DATA_DIR / "keys" / "demo_page_key").exists()
    logins = json.loads(stored.read_text()) if has_demo else []
    context = {"logins": logins, "has_shop": has_shop, "has_docs": settings.API_DOCS}
    context["may_register"] = settings.REGISTRATION_OPEN
    # The simulator listens only on this machine.
    context["simulator"] = settings.SIMULATOR_URL.rstrip("/") if has_demo else ""
    with in_reader_language(request):
        page = render(request, "start.html", context)
    page["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    )
    page["Cache-Control"] = "no-store"
    return page


def of_docs(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Wrap a page of the API's documentation: 404 if API_DOCS is off."""

    @functools.wraps(view)
    def serve(request: HttpRequest) -> HttpResponseBase:
        return view(request) if settings.API_DOCS else page_not_found(request)

    return serve


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Where to report vulnerabilities (RFC 9116); 404 if SECURITY_CONTACT is not set."""
    contact = settings.SECURITY_CONTACT
    if not contact:
        return page_not_found(request)
    lines = [
        f"Contact: {contact if contact.startswith('https:') else f'mailto:{contact}'}",
        f"Expires: {datetime.now(UTC) + timedelta(days=180):%Y-%m-%dT00:00:00Z}",
        f"Canonical: {settings.PUBLIC_URL}/.well-known/security.txt",
        "Preferred-Languages: en",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """The icon for pages that do not link to an icon."""
    return redirect(static("chatplatform/icon.svg"))


def site_without_slash(request: HttpRequest) -> HttpResponse:
    """Redirect `/admin`, without the slash, to the site."""
    return redirect("admin:index")
