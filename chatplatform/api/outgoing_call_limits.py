"""Requests that call other people's servers: which pages do, and how many at once for one client.

They run in the threads for waiting, and a server that stalls holds them for as long as a call may
take. Whoever chose that server must not hold them all, and a few clients together neither:

- one client takes a quarter of the threads, and no more than one when half of all are taken;
- so as long as the servers of no more than 16 clients stall, another client gets a thread;
- beyond that nobody hangs: the last thread is free to say 429.

A client's sign-ins at its provider are counted as if they were one more client's.
"""

import functools
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve

from chatplatform.api import errors
from chatplatform.api.bulkhead import Bulkhead
from chatplatform.api.errors import TooManyRequests

# In each process. They cost memory and a connection, but no work.
WAITING_THREADS = 32
# Of these, those that requests of one client take: a quarter.
OF_CLIENT = 8
# When so many are taken, a client that has one gets no other.
SHARED = 16
# The last thread is free to say 429.
OUTGOING_CALLS = Bulkhead(retry_after=5, total=WAITING_THREADS - 1, shared=SHARED)
# The marks of views: which of their requests call out.
_EVERY, _POST = "every", "post"


def caps_of_client(client_id: int | None) -> dict[str, int]:
    """For `OUTGOING_CALLS`: everything of a client together, and of the platform's staff."""
    return {f"client:{client_id}": OF_CLIENT}


def always_calls_out(view: Any) -> Any:
    """Marks a view of the site: every request for it runs in the threads for waiting."""
    view.waits = _EVERY
    return view


def calls_out(view: Any) -> Any:
    """Marks a page of the site that calls out when a form is sent, few at once for one client."""

    @functools.wraps(view)
    def serve(page: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST":
            shown: HttpResponseBase = view(page, request, *args, **kwargs)
            return shown
        user: Any = request.user
        try:
            with OUTGOING_CALLS.admit(caps_of_client(user.client_id)):
                done: HttpResponseBase = view(page, request, *args, **kwargs)
                return done
        except TooManyRequests as exc:
            return errors.refused(request, exc)

    serve.waits = _POST  # type: ignore[attr-defined]
    return serve


def will_wait(request: HttpRequest) -> bool:
    """Whether the view of this request is marked."""
    try:
        request.resolver_match = resolve(request.path_info)
    except Resolver404:
        return False
    mark = getattr(request.resolver_match.func, "waits", None)
    return mark == _EVERY or (mark == _POST and request.method == "POST")
