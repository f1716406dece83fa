"""Refuses, in the event loop and without a thread, callers that have used up a rate limit.

All visitors of a website send the same public key, so a flood of their requests leads to many
refusals. In Django, each refusal would take two milliseconds of CPU time, and a thread for which
other requests would wait. So a caller that exceeded a limit of its key gets the same refusal again,
until the limit allows more or a few seconds have passed. Then Django checks again, since the limit
may have been raised or the key revoked.
"""

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse, HttpResponseBase

from chatplatform.api.middleware import early_response
from chatplatform.api.operation import RATE_LIMIT_RESULT
from chatplatform.api.rate_limits import KEY_QUOTAS, RateLimitResult
from chatplatform.api.routing import find_operation
from chatplatform.web.request_metrics import ROUTE

CACHE_SECONDS = 5.0
_MAX_CALLERS = 10_000
# The request headers on which a refusal depends.
_CALLER_HEADERS = {
    b"api-key", b"visitor-token", b"origin", b"host",
    b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto",
}  # fmt: skip
Scope = dict[str, Any]


@dataclass(frozen=True)
class _Refusal:
    """A refusal by Django: the response's headers and the state of the caller's quotas."""

    headers: dict[str, str]
    allowance: RateLimitResult
    made_at: float

    def repeat(self, sent_id: str) -> HttpResponse | None:
        """The same refusal for another request; None if Django must check again."""
        passed = time.monotonic() - self.made_at
        allowance = self.allowance.later(passed) if passed < CACHE_SECONDS else None
        if allowance is None or allowance.refusal is None:
            return None
        response = early_response(sent_id, allowance.refusal.response)
        allowance.write_to(response)
        for name, value in self.headers.items():
            response.headers.setdefault(name, value)
        return response


class Refusals:
    """The latest refusals of this process by caller, method and route."""

    def __init__(self) -> None:
        self._of_callers = OrderedDict[bytes, dict[tuple[str, str], _Refusal]]()

    def remember(self, scope: Scope, response: HttpResponseBase) -> None:
        """Remember Django's response if a limit of the key is used up."""
        allowance = scope.get(RATE_LIMIT_RESULT)
        if allowance is None or allowance.refusal is None:
            return
        caller = _caller(scope)
        # A refusal that also depends on a person's quota is not remembered.
        if caller is None or not {status.quota.name for status in allowance.statuses} <= KEY_QUOTAS:
            return
        refusal = _Refusal(dict(response.items()), allowance, time.monotonic())
        self._of_callers.setdefault(caller, {})[scope["method"], scope[ROUTE]] = refusal
        self._of_callers.move_to_end(caller)
        if len(self._of_callers) > _MAX_CALLERS:
            self._of_callers.popitem(last=False)

    def find(self, scope: Scope) -> HttpResponse | None:
        """The refusal of a request, if it is known; None if Django must decide."""
        caller = _caller(scope) if self._of_callers else None
        known = self._of_callers.get(caller) if caller else None
        if not known:
            return None
        operation = find_operation(scope["path"].rstrip("/"))
        if operation is None:
            return None
        scope[ROUTE] = operation.route
        refusal = known.get((scope["method"], scope[ROUTE]))
        if refusal is None:
            return None
        return refusal.repeat(sent_id(scope))


def _caller(scope: Scope) -> bytes | None:
    """A hash of the caller; None if the request has no API key, or has a person's token as well."""
    headers = [pair for pair in scope["headers"] if pair[0] in _CALLER_HEADERS]
    names = {name for name, _ in scope["headers"]}
    if b"api-key" not in names or b"authorization" in names:
        return None
    address = (scope.get("client") or ("", 0))[0]
    return hashlib.blake2b(repr((address, scope.get("scheme"), headers)).encode()).digest()


def sent_id(scope: Scope) -> str:
    """The `X-Request-ID` that the caller sent; empty if it sent none."""
    ids = (value for name, value in scope["headers"] if name == b"x-request-id")
    return next(ids, b"").decode("latin-1")
