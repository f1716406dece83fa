"""The middleware of the API and of the site's pages."""

import re
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import DisallowedHost, SuspiciousOperation
from django.core.handlers.exception import convert_exception_to_response
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.security import SecurityMiddleware
from django.utils.log import log_response
from django.utils.module_loading import import_string

from chatplatform import sql
from chatplatform.api import cors, outgoing_call_limits, proxies, rate_limits
from chatplatform.api.errors import ApiError, error_view, render
from chatplatform.api.operation import CAN_WAIT, HOLDERS
from chatplatform.api.request_context import serving
from chatplatform.api.routing import find_operation
from chatplatform.ids import uuid7
from chatplatform.live.streaming import WaitingResponse

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# The maximum duration of one SQL statement while a page of the site is read.
SITE_READ_MILLISECONDS = 5_000
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


class Middleware:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response


def request_id_of(sent: str) -> str:
    """The id that the caller sent if it is acceptable, else a new one."""
    return sent if _ACCEPTED_ID.fullmatch(sent) else str(uuid7())


def early_response(sent_id: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    """The response that `make` creates before any middleware runs, with the request's id."""
    request_id = request_id_of(sent_id)
    with serving(request_id=request_id, address=""):
        response = make()
    response["X-Request-ID"] = request_id
    return response


class ApiEntryMiddleware(Middleware):
    """The first middleware for every request, and the only one for an API request.

    Other requests continue through Django's middleware and URL resolver.
    """

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)
        self.security = SecurityMiddleware(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request under the caller's X-Request-ID or a new id, and set the id in the
        response."""
        proxies.apply_forwarded_headers(request.META)
        request_id = request_id_of(request.META.get("HTTP_X_REQUEST_ID", ""))
        with serving(request_id=request_id, address=request.META.get("REMOTE_ADDR", "")):
            response = self._answer(request)
            response["X-Request-ID"] = request_id
            if response.status_code >= 400:
                # Django would log it outside of the block, where log lines have no request id.
                refusal = cast(HttpResponse, response)
                reason = refusal.reason_phrase
                log_response("%s: %s", reason, request.path, response=refusal, request=request)
            return response

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        try:
            _check_host(request)
        except DisallowedHost as exc:
            return render(exc)
        _drop_slash(request)
        path = request.path_info
        if path.startswith(("/admin", "/static/", "/media/")):
            return self.get_response(request)
        operation = find_operation(path)
        response: HttpResponseBase
        if cors.is_preflight(request):
            response = cors.preflight(request, operation)
        elif operation:
            request.resolver_match = operation
            response = operation.func(request, **operation.kwargs)
            # The cast is safe: this only sets headers, which a streaming response has too.
            self.security.process_response(request, cast(HttpResponse, response))
        else:
            response = self.get_response(request)
        cors.mark(request, response)
        return response


def _check_host(request: HttpRequest) -> None:
    """Raise DisallowedHost (400) if the host is not in ALLOWED_HOSTS.

    Health checks are exempt: containers and load balancers call them by IP address, and their
    responses contain no host name.
    """
    if request.path_info.rstrip("/") not in {"/health", "/health/live"}:
        request.get_host()


def _drop_slash(request: HttpRequest) -> None:
    """Remove a trailing slash from an API path, so that both forms work without a redirect.

    A redirect would lose the body of a POST. The admin site keeps Django's trailing slashes.
    """
    path = request.path_info
    if path.endswith("/") and path != "/" and not path.startswith(("/admin/", "/static/")):
        request.path_info = path.rstrip("/") or "/"


class AdminMiddleware(Middleware):
    """Runs `ADMIN_MIDDLEWARE`, such as sessions and CSRF protection, for the admin site only."""

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)
        self.admin_chain: GetResponse = get_response
        for name in reversed(settings.ADMIN_MIDDLEWARE):
            self.admin_chain = import_string(name)(self.admin_chain)
        self.admin_chain = cast("GetResponse", convert_exception_to_response(self.admin_chain))

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith("/admin"):
            return self.get_response(request)
        if CAN_WAIT in request.META and outgoing_call_limits.will_wait(request):
            # The whole chain runs in the waiting thread, since it stores the session and messages
            # after the view.
            return WaitingResponse(lambda: self.admin_chain(request))
        return self.admin_chain(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Render malformed requests and errors from services and the database with their own status
        and text."""
        if isinstance(exception, ApiError | OperationalError | SuspiciousOperation):
            return error_view(request, exception)
        return None


class ReadStatementTimeout(Middleware):
    """Cancels slow SQL statements while a page is read, since they would block a thread."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method not in {"GET", "HEAD"}:
            return self.get_response(request)
        with sql.statements_within(SITE_READ_MILLISECONDS):
            return self.get_response(request)


class PageRateLimit(Middleware):
    """Counts the requests for pages of the site; a reader over the limit gets a 429 page.

    It comes last: by then the person is known, and static files have been served.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith("/media/"):
            return self.get_response(request)  # public pictures are not counted, like static files
        reader: Any = getattr(request, "user", None)
        if reader is not None and reader.is_authenticated:
            request.META[HOLDERS] = (f"user:{reader.pk}", f"client:{reader.client_id}")
        allowance = rate_limits.count(rate_limits.of_page(request))
        response: HttpResponseBase
        if allowance.refusal:
            # A refused request stores nothing and does not extend the session.
            session: Any = getattr(request, "session", None)
            if session is not None:
                session.is_unattended = True
            response = error_view(request, allowance.refusal)
        else:
            response = self.get_response(request)
        allowance.write_to(response)
        return response
