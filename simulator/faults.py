"""Faults on demand: their kinds, and the calls that they affect."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from simulator.call_subject import Subject
from simulator.http import (
    Response,
    graph_error,
    localapp_error,
    telegram_error,
)
from simulator.world import Json

_WINDOW = {
    "socialnet": (10, 2018278),
    "photoapp": (10, 2534022),
    "chatapp": (131047, None),
    "localapp": (-230, None),
    "telegram": (403, None),
}
_GONE = {
    "socialnet": (551, 1545041),
    "photoapp": (551, 1545041),
    "chatapp": (131026, None),
    "localapp": (-213, None),
    "telegram": (403, None),
}
# Faults before a call is executed: nothing changes at the provider.
REFUSALS = (
    "http_500", "http_502", "http_503", "http_429", "http_429_retry_after", "code", "window_closed",
    "recipient_gone", "error_in_200", "reset_before", "hang",
)  # fmt: skip
# Faults after a call was executed: the provider accepted it, but the caller may not know.
AFTERWARDS = ("slow", "reset_after", "cut", "truncated", "sent_but_error", "fails_later")
KINDS = REFUSALS + AFTERWARDS


@dataclass
class Fault:
    """A fault: the first `after` matching calls succeed, then `times` calls fail (all if 0)."""

    id: int
    kind: str
    channel: str = ""
    account: str = ""
    # The kind of call, such as `sends`, `media`, `lists` or `tokens`; empty for any call.
    what: str = ""
    after: int = 0
    times: int = 1
    code: int = 0
    subcode: int | None = None
    status: int | None = None
    message: str = ""
    secs: float = 30.0
    met: int = 0
    used: int = 0

    def as_json(self) -> Json:
        return asdict(self)

    def matches(self, channel: str, account: str, what: str) -> bool:
        """Whether the fault affects this call. Counts the call, so use it once per call."""
        if self.channel not in ("", channel) or self.account not in ("", account):
            return False
        if self.what not in ("", what) or (self.times and self.used >= self.times):
            return False
        self.met += 1
        if self.met <= self.after:
            return False
        self.used += 1
        return True


class BadFault(ValueError):
    """An unknown or invalid fault."""


def make(number: int, values: Json) -> Fault:
    try:
        fault = Fault(number, **values)
    except TypeError as error:
        raise BadFault(str(error)) from None
    if fault.kind not in KINDS:
        raise BadFault(f"kind must be one of {', '.join(KINDS)}")
    if fault.kind in {"code", "fails_later"} and not fault.code:
        raise BadFault(f"{fault.kind} needs a code")
    return fault


def first_met(faults: list[Fault], subject: Subject) -> Fault | None:
    """The first fault that affects this call; faults after it do not count the call."""
    return next(
        (
            fault
            for fault in faults
            if fault.matches(subject.channel, subject.account, subject.what)
        ),
        None,
    )


def answer(fault: Fault, channel: str, handle: Callable[[], Response]) -> Response:
    """The response to a call that `fault` affects; `handle` executes the call."""
    if fault.kind in REFUSALS:
        return _refusal(fault, channel)
    response = handle()
    if fault.kind == "slow":
        response.delay = fault.secs
    elif fault.kind == "reset_after":
        response.sending = "reset"
    elif fault.kind == "cut":
        response.sending = "cut"
    elif fault.kind == "truncated":
        response.body = response.body[: len(response.body) // 2]
    elif fault.kind == "sent_but_error":
        response = _error(channel, 1, 1357046, "An unknown error occurred", None)
    return response


def _refusal(fault: Fault, channel: str) -> Response:
    if fault.kind.startswith("http_"):
        return _http(fault)
    if fault.kind in {"reset_before", "hang"}:
        delay = fault.secs if fault.kind == "hang" else 0
        return Response(sending="reset", delay=delay)
    if fault.kind == "window_closed":
        code, subcode = _WINDOW[channel]
        return _error(channel, code, subcode, "Sent outside of the allowed window", fault.status)
    if fault.kind == "recipient_gone":
        code, subcode = _GONE[channel]
        return _error(channel, code, subcode, "This person is not available", fault.status)
    code = fault.code or (-200 if channel == "localapp" else 1)
    response = _error(channel, code, fault.subcode, fault.message or "A fault", fault.status)
    if fault.kind == "error_in_200":
        response.status = 200
    return response


def _http(fault: Fault) -> Response:
    status = int(fault.kind[5:8])
    if status == 429:
        body = {"error": {"message": "Too many requests", "type": "OAuthException", "code": 4}}
        headers = {"Retry-After": f"{fault.secs:g}"} if fault.kind.endswith("after") else {}
        return Response(json.dumps(body).encode(), 429, headers)
    page = f"<html><head><title>{status}</title></head><body><h1>{status} Error</h1></body></html>"
    return Response(page.encode(), status, content_type="text/html")


def _error(
    channel: str, code: int, subcode: int | None, message: str, status: int | None
) -> Response:
    if channel == "localapp":
        return localapp_error(code, message).response
    if channel == "telegram":
        return telegram_error(code, message).response
    return graph_error(code, message, subcode, status=status).response
