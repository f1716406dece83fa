"""The few steps that every request passes."""

import logging
import re
from collections.abc import Callable
from contextvars import ContextVar

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponseBase
from django.utils.module_loading import import_string

from chatplatform.ids import uuid7

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_request_id: ContextVar[str] = ContextVar("request_id", default="-")
_address: ContextVar[str] = ContextVar("address", default="")
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


def current_request_id() -> str:
    """The id of the request being served in this context; `-` outside of one."""
    return _request_id.get()


def current_address() -> str:
    """The network address of the caller being served in this context; empty outside of one."""
    return _address.get()


class RequestIdFilter(logging.Filter):
    """Puts the request's id on every log line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id()
        return True


class RequestId:
    """Takes a caller's X-Request-ID (<= 128 plain characters) or makes one, and answers with it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        token = _request_id.set(given if _ACCEPTED_ID.fullmatch(given) else str(uuid7()))
        address = _address.set(request.META.get("REMOTE_ADDR", ""))
        try:
            response = self.get_response(request)
            response["X-Request-ID"] = current_request_id()
            return response
        finally:
            _address.reset(address)
            _request_id.reset(token)


class KnownHost:
    """Refuses a request for a host that is not in ALLOWED_HOSTS: 400, with and without DEBUG."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        # Errors name the request, whose id is kept here: they import this module.
        self.refuse = import_string("chatplatform.api.errors.bad_request")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            request.get_host()
        except DisallowedHost as exc:
            refusal: HttpResponseBase = self.refuse(request, exc)
            return refusal
        return self.get_response(request)


class TrailingSlash:
    """Serves each API path with and without a trailing slash, without a redirect.

    A redirect would lose the body of a POST. The admin site keeps Django's own spelling.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        if path.endswith("/") and path != "/" and not path.startswith(("/admin/", "/static/")):
            request.path_info = path.rstrip("/") or "/"
        return self.get_response(request)


class AdminOnly:
    """Runs the session, CSRF and message middleware for the admin site and for nothing else."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        chain: GetResponse = get_response
        for name in reversed(settings.ADMIN_MIDDLEWARE):
            chain = import_string(name)(chain)
        self.admin_chain = chain

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith("/admin"):
            return self.get_response(request)
        return self.admin_chain(request)
