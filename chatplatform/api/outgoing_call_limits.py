"""Limits how many requests of one client call other people's servers at once.

A server that stalls holds a waiting thread for as long as a call may take. A client gets at most a
quarter of these threads, and only one once half of them are taken; the last one says 429.
"""

import functools
from contextlib import nullcontext
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve

from chatplatform.api.bulkhead import Bulkhead

# Threads of each process. A waiting thread costs memory and a connection, but no CPU time.
WAITING_THREADS = 32
# Maximum threads that requests of one client take: a quarter.
OF_CLIENT = 8
# Once this many threads are taken, a client that has one gets no further one.
SHARED = 16
# The last thread is free to say 429.
OUTGOING_CALLS = Bulkhead(retry_after=5, total=WAITING_THREADS - 1, shared=SHARED)
# The marks of views: all their requests call out, or only POSTs.
_EVERY, _POST = "every", "post"


def caps_of_client(client_id: int | None) -> dict[str, int]:
    """The cap of a client for `OUTGOING_CALLS`; None: of the platform's staff, taken together."""
    return {f"client:{client_id}": OF_CLIENT}


def always_calls_out(view: Any) -> Any:
    """Mark a view of the site: all its requests run in the threads for waiting."""
    view.waits = _EVERY
    return view


def posts_call_out(view: Any) -> Any:
    """Mark a view of the site: its POSTs run in the threads for waiting."""
    view.waits = _POST
    return view


def calls_out(view: Any) -> Any:
    """Mark a view of the site whose POST calls out; 429 if too many of one client run at once."""

    @functools.wraps(view)
    def serve(page: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user: Any = request.user
        caps = caps_of_client(user.client_id)
        with OUTGOING_CALLS.admit(caps) if request.method == "POST" else nullcontext():
            reply: HttpResponseBase = view(page, request, *args, **kwargs)
            return reply

    serve.waits = _POST  # type: ignore[attr-defined]
    return serve


def will_wait(request: HttpRequest) -> bool:
    """Whether this request calls out, by the mark of its view."""
    try:
        request.resolver_match = resolve(request.path_info)
    except Resolver404:
        return False
    mark = getattr(request.resolver_match.func, "waits", None)
    return mark == _EVERY or (mark == _POST and request.method == "POST")
