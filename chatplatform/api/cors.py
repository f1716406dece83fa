"""CORS (Fetch standard, 3.2): which pages may read what a public key is answered.

A preflight carries no key, so it is answered for the pages that any bot allows; the request itself
then for those that the key's own bot allows. Never `*`, and never credentials: a key travels in a
header of its own, and cookies mean nothing to the API.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils.cache import patch_vary_headers

from chatplatform.api.operation import operations_of

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_GRANTED = "chatplatform.granted_origin"
_HEADERS = (
    "API-KEY, Accept, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-ID"
)
_EXPOSED = "ETag, Retry-After, X-Request-ID"
# How long a browser remembers a preflight: two hours is the most that all of them accept.
_REMEMBERED_SECONDS = "7200"


def grant(request: HttpRequest, origin: str) -> None:
    """Let a page of `origin` read the answer to this request; the caller has checked it."""
    request.META[_GRANTED] = origin


class Cors:
    """Answers preflights, and writes what `grant` allowed on the answers."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(("/admin", "/static/", "/media/")):
            return self.get_response(request)
        response = _preflight(request) if _is_preflight(request) else self.get_response(request)
        # Also where nothing was granted: a cache must not give one page's answer to another.
        patch_vary_headers(response, ["Origin"])
        origin = request.META.get(_GRANTED)
        if origin:
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = _EXPOSED
        return response


def _is_preflight(request: HttpRequest) -> bool:
    asked = {"Origin", "Access-Control-Request-Method"}
    return request.method == "OPTIONS" and asked <= set(request.headers)


def _preflight(request: HttpRequest) -> HttpResponse:
    """204 in any case; what is not granted, the browser refuses by itself."""
    response = HttpResponse(status=204)
    patch_vary_headers(
        response, ["Access-Control-Request-Method", "Access-Control-Request-Headers"]
    )
    origin = request.headers["Origin"]
    method = request.headers["Access-Control-Request-Method"]
    if _admits(request.path_info, method, origin):
        grant(request, origin)
        response["Access-Control-Allow-Methods"] = method
        response["Access-Control-Allow-Headers"] = _HEADERS
        response["Access-Control-Max-Age"] = _REMEMBERED_SECONDS
    return response


def _admits(path: str, method: str, origin: str) -> bool:
    """Whether the path serves an operation that pages of this origin may call."""
    try:
        view = resolve(path).func
    except Resolver404:
        return False
    viewset, actions = getattr(view, "cls", None), getattr(view, "actions", None)
    if viewset is None or actions is None:
        return False
    declared = operations_of(viewset, actions).get(method.lower())
    admits = declared.access.admits_origin if declared else None
    return admits is not None and admits(origin)
