"""CORS (Fetch standard, 3.2): which web pages may read responses to requests with a public API key.

A preflight carries no key, so it is granted if any bot allows the origin. The request itself is
granted only if the bot of its key allows the origin. `*` and credentials are never granted: the
key is sent in the header API-KEY, and the API ignores cookies.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import ResolverMatch
from django.utils.cache import patch_vary_headers

from chatplatform.api.operation import operations_of

_GRANTED = "chatplatform.granted_origin"
_HEADERS = (
    "API-KEY, Accept, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Visitor-Token,"
    " X-Request-ID"
)
_EXPOSED = "ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-ID"
# How long a browser may cache a preflight: two hours, the limit of Chrome. Safari's is ten minutes.
_MAX_AGE_SECONDS = "7200"


def grant(request: HttpRequest, origin: str) -> None:
    """Allow pages of `origin` to read the response to this request. The caller has checked that
    the origin is allowed."""
    request.META[_GRANTED] = origin


def mark(request: HttpRequest, response: HttpResponseBase) -> None:
    """Set `Vary`, and if `grant` was called, the headers that allow the origin."""
    # `Vary` is needed even without a grant: a cache must not serve one origin's response to
    # another origin.
    if "Vary" in response.headers:
        patch_vary_headers(response, ["Origin"])
    else:
        response.headers["Vary"] = "Origin"
    origin = request.META.get(_GRANTED)
    if origin:
        response["Access-Control-Allow-Origin"] = origin
        response["Access-Control-Expose-Headers"] = _EXPOSED


def is_preflight(request: HttpRequest) -> bool:
    headers = {"HTTP_ORIGIN", "HTTP_ACCESS_CONTROL_REQUEST_METHOD"}
    return request.method == "OPTIONS" and headers <= set(request.META)


def preflight(request: HttpRequest, match: ResolverMatch | None) -> HttpResponse:
    """The response to a preflight: always 204. If it grants nothing, the browser blocks the
    request."""
    response = HttpResponse(status=204)
    request_headers = ["Access-Control-Request-Method", "Access-Control-Request-Headers"]
    patch_vary_headers(response, request_headers)
    origin, method = request.headers["Origin"], request.headers["Access-Control-Request-Method"]
    if match and _admits(match, method, origin):
        grant(request, origin)
        response["Access-Control-Allow-Methods"] = method
        response["Access-Control-Allow-Headers"] = _HEADERS
        response["Access-Control-Max-Age"] = _MAX_AGE_SECONDS
    return response


def _admits(match: ResolverMatch, method: str, origin: str) -> bool:
    """Whether web pages of this origin may call this method of the path."""
    view: Any = match.func
    declared = operations_of(view.cls, view.actions).get(method.lower())
    admits = declared.access.admits_origin if declared else None
    return admits is not None and admits(origin)
