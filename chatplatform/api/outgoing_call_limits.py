"""Limits how many requests of one client call other people's servers at once.

A stalled server blocks a waiting thread until the call times out. A client gets at most a quarter
of these threads, and only one while half of them are busy; one thread stays free to return 429.
"""

import functools
from contextlib import nullcontext
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve

from chatplatform.api.bulkhead import Bulkhead

# The number of waiting threads per process. Each costs memory and a connection, but no CPU time.
WAITING_THREADS = 32
# The maximum number of threads for the requests of one client: a quarter.
CLIENT_THREADS = 8
# Once this many threads are busy, each client may occupy only one.
SHARED = 16
# One thread stays free to return 429.
OUTGOING_CALLS = Bulkhead(retry_after=5, total=WAITING_THREADS - 1, shared=SHARED)
# Values of a view's attribute `waits`: all its requests call other servers, or only POSTs do.
_EVERY, _POST = "every", "post"


def caps_of_client(client_id: int | None) -> dict[str, int]:
    """The cap of a client for `OUTGOING_CALLS`; None stands for all of the platform's staff."""
    return {f"client:{client_id}": CLIENT_THREADS}


def always_calls_out(view: Any) -> Any:
    """Mark a view of the site: all its requests run in waiting threads."""
    view.waits = _EVERY
    return view


def posts_call_out(view: Any) -> Any:
    """Mark a view of the site: its POSTs run in waiting threads."""
    view.waits = _POST
    return view


def calls_out(view: Any) -> Any:
    """Mark a view of the site: its POSTs run in waiting threads; 429 if a client has too many."""

    @functools.wraps(view)
    def serve(page: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user: Any = request.user
        caps = caps_of_client(user.client_id)
        with OUTGOING_CALLS.admit(caps) if request.method == "POST" else nullcontext():
            response: HttpResponseBase = view(page, request, *args, **kwargs)
            return response

    serve.waits = _POST  # type: ignore[attr-defined]
    return serve


def will_wait(request: HttpRequest) -> bool:
    """Whether this request needs a waiting thread, according to its view's mark."""
    try:
        request.resolver_match = resolve(request.path_info)
    except Resolver404:
        return False
    mark = getattr(request.resolver_match.func, "waits", None)
    return mark == _EVERY or (mark == _POST and request.method == "POST")
