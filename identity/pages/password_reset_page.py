"""The form that the mailed link of a password reset opens; it calls the API."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language_from_request
from django.views.decorators.http import require_safe


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
