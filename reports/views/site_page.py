"""What the pages of the reports in the site share: who may read them, and their policy."""

from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from identity.models import Client, User

# Plain pages: no script at all, and nothing is fetched from elsewhere.
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)
_TABS = (("overview", "Overview"), ("adhoc", "Ad-hoc"), ("warnings", "Warnings"))


def viewer_of(request: HttpRequest) -> tuple[User, Client]:
    """Who reads, and of which client: the platform's staff have none."""
    user = request.user
    if not isinstance(user, User) or user.client is None:
        raise PermissionDenied("Reports are a client's: sign in as one of its people.")
    return user, user.client


def show(
    request: HttpRequest, page: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """A page of the reports. `as_of`: the time whose state it shows."""
    user, client = viewer_of(request)
    tabs = [(path_to(name), label, name == page) for name, label in _TABS]
    shared = {"tabs": tabs, "client": client, "may_write": user.role != "viewer"}
    reply = render(request, f"admin/reports/{page}.html", shared | context, status=status)
    reply["Content-Security-Policy"] = _POLICY
    reply["Cache-Control"] = "no-store"
    return reply


def path_to(page: str, query: dict[str, Any] | None = None) -> str:
    """The path of a page, with what is asked of it."""
    asked = f"?{urlencode(query, doseq=True)}" if query else ""
    return reverse(f"reports_{page}") + asked
