"""Lets platform staff see the site as one of a client's people."""

from django.conf import settings
from django.db import InternalError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from psycopg.errors import ReadOnlySqlTransaction

from chatplatform.admin_base import is_impersonated
from chatplatform.api import errors
from chatplatform.api.errors import Forbidden
from chatplatform.api.middleware import Middleware
from chatplatform.sql import execute
from identity.models import User
from identity.services import impersonation

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
# The views that are closed during an impersonation: those of a person's own account, and the one
# that gives the desk access to the API.
_CLOSED_VIEWS = {
    "profile",
    "password_change",
    "password_change_done",
    "second_factor",
    "sign_ins",
    "desk_token",
}


class ImpersonationMiddleware(Middleware):
    """During an impersonation, makes the impersonated person the user of each request.

    Nothing can be changed: unsafe methods are refused, and so are writes to the database. In
    requests to leave the impersonation or to sign out, the staff member stays the user.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        staff = request.user
        if not isinstance(staff, User) or not staff.is_superuser:
            return self.get_response(request)
        if request.path_info in {reverse("admin:leave_view"), reverse("admin:logout")}:
            return self.get_response(request)
        person = impersonation.impersonated_user(request.session.session_key)
        if person is None:
            return self.get_response(request)
        request.user = person
        request.viewed_by = staff  # type: ignore[attr-defined]
        if request.method not in _SAFE_METHODS:
            return errors.error_view(request, Forbidden(impersonation.REFUSED))
        with transaction.atomic():
            execute("SET TRANSACTION READ ONLY")
            response = self.get_response(request)
            transaction.set_rollback(True)
        return response


def is_closed(request: HttpRequest) -> bool:
    """Whether the requested view is closed because of an impersonation."""
    match = request.resolver_match
    return is_impersonated(request) and match is not None and match.url_name in _CLOSED_VIEWS


def is_write(exc: InternalError) -> bool:
    """Whether the database refused a write because the transaction is read-only."""
    return isinstance(exc.__cause__, ReadOnlySqlTransaction)


def leave(request: HttpRequest) -> HttpResponse:
    """End the impersonation, and redirect to the client's overview, or to the home page if nobody
    was impersonated."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    person = impersonation.leave(request.session.session_key)
    return redirect("client", person.client_id) if person else redirect(settings.LOGIN_REDIRECT_URL)
