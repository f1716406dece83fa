"""Errors in their documented shapes. Services raise an `ApiError`; this module renders it."""

import errno
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

import orjson
from django.conf import settings
from django.core import exceptions
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_noop
from psycopg.errors import QueryCanceled
from pydantic import BaseModel
from rest_framework.exceptions import APIException

from chatplatform import egress
from chatplatform.api import routing
from chatplatform.api.request_context import REQUEST_ID
from chatplatform.json_encoding import as_json
from chatplatform.live.pubsub import BrokerUnavailable

log = logging.getLogger(__name__)
MAX_HEADER_BYTES = 16_384

# The code of each status, for errors without a more specific one.
CODES = {
    400: "bad_request",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
    500: "internal_error",
    503: "unavailable",
}

Row = TypeVar("Row", bound=Model)
_KINDS = ["application/json", "text/html"]
_INTERNAL_ERROR = gettext_noop("Something went wrong on our side. We've logged the error.")


class ApiError(Exception):
    """An error response: a stable `code`, the HTTP `status`, and a `detail` in words.

    `more` describes additional fields for the OpenAPI document. `place` is the path of the invalid
    field, where the site's forms show the error.
    """

    code: ClassVar[str] = "bad_request"
    status: ClassVar[int] = 400
    detail: ClassVar[str | Promise] = "The request couldn't be completed."
    headers: ClassVar[dict[str, str]] = {}
    more: ClassVar[Mapping[str, tuple[Any, str]]] = {}
    place: ClassVar[tuple[str, ...]] = ()

    def __init__(self, detail: str | None = None, **fields: Any) -> None:
        super().__init__(detail or self.detail)
        self.fields = fields

    def response(self) -> HttpResponse:
        return error_response(self.status, str(self), self.code, self.fields, self.headers)


class NotFound(ApiError):
    code, status, detail = "not_found", 404, gettext_noop("Not found.")
    more: ClassVar = {"field": (str, "The field of the request whose value wasn't found.")}


def first_or_404(rows: QuerySet[Row]) -> Row:
    """The first row; raises NotFound if there is none."""
    row = rows.first()
    if row is None:
        raise NotFound
    return row


@contextmanager
def not_found_in(field: str) -> Iterator[None]:
    """If the block raises NotFound, name this field of the query or the body in the error."""
    try:
        yield
    except NotFound as exc:
        raise NotFound(str(exc), field=field) from exc


@contextmanager
def unique(constraint: str, error: type[ApiError]) -> Iterator[None]:
    """Run the block in a transaction; raise `error` if it violates this unique constraint."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as exc:
        if constraint not in str(exc):
            raise
        raise error from exc


class Forbidden(ApiError):
    code, status, detail = "forbidden", 403, gettext_noop("You don't have permission to do this.")


class TooManyRequests(ApiError):
    code, status = "too_many_requests", 429
    detail = gettext_noop("Too many requests. Wait a moment and try again.")

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__()
        self.retry_after_seconds = retry_after_seconds

    def response(self) -> HttpResponse:
        response = super().response()
        response["Retry-After"] = str(self.retry_after_seconds)
        return response


class StaleVersion(ApiError):
    """The row has changed since the caller read it."""

    code, status = "stale_version", 409
    more: ClassVar = {"version": (int, "The current version.")}
    detail = "Someone else has changed this. Reload it, then make your change again."


class NotAuthenticated(ApiError):
    code, status, detail = "not_authenticated", 401, "Not authenticated"
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": "Bearer"}


class NotConfigured(ApiError):
    """A server setting that the operation needs is missing."""

    status = 503
    more: ClassVar = {"setting": (str, "The server setting that is missing.")}


class TooLarge(ApiError):
    code, status, detail = "too_large", 413, gettext_noop("The request is too large.")


class TooManyFiles(ApiError):
    code, status = "too_many_files", 400

    def __init__(self) -> None:
        text = gettext("Send up to %(count)s files in a request.")
        super().__init__(text % {"count": settings.DATA_UPLOAD_MAX_NUMBER_FILES})


class HeadersTooLarge(ApiError):
    code, status = "headers_too_large", 431
    detail = f"The headers of a request have at most {MAX_HEADER_BYTES:,} bytes."


class BodyTimeout(ApiError):
    code, status = "too_slow", 408
    detail = "The request arrived too slowly. Try again."
    headers: ClassVar[dict[str, str]] = {"Connection": "close"}


class MalformedBody(ApiError):
    detail = "The body ended early, or its chunked encoding is malformed."
    headers: ClassVar[dict[str, str]] = {"Connection": "close"}


class UnsupportedMediaType(ApiError):
    code, status = "unsupported_media_type", 415
    detail = "Send this body as application/json."


class Invalid(ApiError):
    """422 in FastAPI's shape: a list of `{loc, msg, type}`."""

    code, status = "validation_error", 422

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__("Validation failed.")
        self.errors = errors

    @classmethod
    def field(cls, *loc: str | int, msg: str, type: str = "value_error") -> "Invalid":
        return cls([{"loc": list(loc), "msg": msg, "type": type}])

    def response(self) -> HttpResponse:
        return json_response({"detail": self.errors}, 422)


# The error that replaces each of these Django exceptions.
_REPLACEMENTS: dict[type[Exception], Callable[[], ApiError]] = {
    Http404: NotFound,
    exceptions.PermissionDenied: Forbidden,
    exceptions.RequestDataTooBig: TooLarge,
    exceptions.TooManyFilesSent: TooManyFiles,
}


def require_fields(body: BaseModel, *names: str) -> None:
    """Raise a 422 if the body lacks one of these fields, which are optional only in an update."""
    missing = [name for name in names if name not in body.model_fields_set]
    if missing:
        error = {"msg": "Field required", "type": "missing"}
        raise Invalid([{"loc": ["body", name]} | error for name in missing])


def require_address(url: str, field: str, *, purpose: str) -> None:
    """Raise a 422 for this field of the body if the platform may not call the URL in it."""
    try:
        egress.check_url(url, purpose=purpose)
    except egress.Blocked as exc:
        raise Invalid.field("body", field, msg=str(exc), type=exc.code) from exc


def json_response(
    data: Any, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    """A response with `data` as JSON. No cache may store it: it may contain personal data."""
    response = HttpResponse(as_json(data), content_type="application/json", status=status)
    response["Cache-Control"] = "no-store"
    for name, value in (headers or {}).items():
        response[name] = value
    return response


def error_response(
    status: int,
    detail: str,
    code: str | None = None,
    fields: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> HttpResponse:
    code = code or CODES.get(status, "error")
    body = {"detail": detail, "code": code, "request_id": REQUEST_ID.get()}
    return json_response(body | (fields or {}), status, headers)


def exception_handler(exc: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """DRF's hook: renders every exception that a view raises in the documented shape."""
    return render(exc)


def render(exc: BaseException) -> HttpResponse:
    """The response to an exception; an unknown exception is logged and becomes a 500."""
    if isinstance(exc, ApiError):
        return exc.response()
    for kind, replacement in _REPLACEMENTS.items():
        if isinstance(exc, kind):
            return replacement().response()
    malformed = (exceptions.BadRequest, exceptions.SuspiciousOperation, MultiPartParserError)
    if isinstance(exc, malformed):
        return error_response(400, gettext_noop("The request is malformed."))
    if isinstance(exc, APIException):
        wait = getattr(exc, "wait", None)
        headers = {"Retry-After": str(int(wait))} if wait else {}
        return error_response(exc.status_code, str(exc.detail), headers=headers)
    if isinstance(exc, OperationalError) and isinstance(exc.__cause__, QueryCanceled):
        detail = gettext_noop("This took too long. Try a shorter date range or fewer keywords.")
        return _unavailable(exc, detail, seconds=30)
    if isinstance(exc, OperationalError):
        return _unavailable(
            exc, gettext_noop("The database can't be reached. Try again."), seconds=2
        )
    if isinstance(exc, BrokerUnavailable):
        detail = "The message broker can't be reached. Try again."
        return error_response(503, detail, headers={"Retry-After": "2"})
    if isinstance(exc, OSError) and exc.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _unavailable(
            exc, "There isn't enough space to store this. Try again later.", seconds=60
        )
    log.error("unhandled error", exc_info=exc)
    return error_response(500, _INTERNAL_ERROR)


def _unavailable(exc: Exception, detail: str, *, seconds: int) -> HttpResponse:
    log.error("unavailable: %r", exc)
    return error_response(503, detail, headers={"Retry-After": str(seconds)})


# Django's error handlers, for failures outside of operations and for the site's pages.
def error_view(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _json_or_page(request, lambda: render(exception))


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    def render_404() -> HttpResponse:
        detail = gettext("Nothing found at this address.")
        if parameter := routing.malformed_parameter(request.path_info):
            malformed = gettext("The path's %(parameter)s is malformed.")
            detail = f"{detail} {malformed % {'parameter': parameter}}"
        return error_response(404, detail)

    return _json_or_page(request, render_404)


def server_error(request: HttpRequest) -> HttpResponse:
    return _json_or_page(request, lambda: error_response(500, _INTERNAL_ERROR))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    detail = gettext_noop("This page has expired. Go back, reload it, and submit the form again.")
    return _json_or_page(request, lambda: error_response(403, detail, "csrf_failed"))


def _json_or_page(request: HttpRequest, render_json: Callable[[], HttpResponse]) -> HttpResponse:
    """The error as JSON, or as an HTML page if a browser requested something other than an
    operation."""
    is_operation = hasattr(getattr(request.resolver_match, "func", None), "actions")
    if is_operation or request.get_preferred_type(_KINDS) != "text/html":
        return render_json()
    # The site's middleware has set the reader's language. Elsewhere the browser's header decides:
    # the database, which stores the language, may be down.
    known = getattr(request, "LANGUAGE_CODE", "")
    with translation.override(known or translation.get_language_from_request(request)):
        response = render_json()
        body = orjson.loads(response.content)
        context = {**body, "detail": gettext(body["detail"])}
        # The error page needs the request to offer to end an impersonation.
        for_page = request if hasattr(request, "viewed_by") else None
        text = render_to_string("error.html", {**context, "status": response.status_code}, for_page)
    page = HttpResponse(text, status=response.status_code)
    if wait := response.headers.get("Retry-After"):
        page["Retry-After"] = wait
    page["Cache-Control"] = "no-store"
    patch_vary_headers(page, ["Accept", "Accept-Language"])
    return page
