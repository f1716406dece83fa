"""Translate the Graph API's errors into our kinds: by code and subcode, else by HTTP status."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from channels_app.providers.errors import Kind, ProviderError, kind_by_status
from channels_app.providers.json_values import as_dict

_RATE_WAIT = timedelta(seconds=60)
_KINDS = {
    0: Kind.TOKEN, 1: Kind.TEMPORARY, 2: Kind.TEMPORARY, 3: Kind.PERMISSION, 10: Kind.PERMISSION,
    100: Kind.REQUEST, 102: Kind.TOKEN, 190: Kind.TOKEN, 230: Kind.PERMISSION,
    368: Kind.BLOCKED, 551: Kind.RECIPIENT, 2500: Kind.REQUEST,
    **dict.fromkeys((4, 17, 32, 341, 613, 80001, 80002, 80006, 80007, 80008), Kind.RATE),
    **dict.fromkeys(range(200, 230), Kind.PERMISSION),
    **dict.fromkeys(range(231, 300), Kind.PERMISSION),
}  # fmt: skip
# By code and subcode, where the subcode matters.
_SUBKINDS = {
    # Returned although the message was sent.
    (1, 1357046): Kind.UNCERTAIN,
    (10, 2018278): Kind.WINDOW,
    (10, 2534022): Kind.WINDOW,
    (10, 1893063): Kind.BLOCKED,
    (100, 2018001): Kind.RECIPIENT,
    (100, 2534014): Kind.RECIPIENT,
}
# With any code: the customer cannot receive messages from the page.
_UNREACHABLE = 2018108


def error_from(
    body: Any,
    status: int,
    *,
    is_send: bool,
    wait: timedelta | None,
    more: Mapping[int, Kind],
    retries: Mapping[int, int],
) -> ProviderError:
    """The error in a response. `more` and `retries` are for codes that only this provider has."""
    error = as_dict(body).get("error")
    if not isinstance(error, dict):
        # Token endpoints have a different error format.
        text = as_dict(body).get("error_message")
        return _without_code(status, text, is_send=is_send, wait=wait)
    code, subcode = _number(error.get("code")), _number(error.get("error_subcode"))
    kind = _SUBKINDS.get((code, subcode)) or more.get(code) or _KINDS.get(code)
    if subcode == _UNREACHABLE:
        kind = Kind.RECIPIENT
    if kind is None:
        kind = (
            Kind.TEMPORARY if error.get("is_transient") else kind_by_status(status, is_send=is_send)
        )
    if kind == Kind.RATE:
        wait = wait or _RATE_WAIT
    message = str(error.get("message") or "no reason given")[:300]
    shown = f"{code}/{subcode}" if subcode > 0 else str(code)
    return ProviderError(kind, message, code=shown, wait=wait, retries=retries.get(code))


def kind_of(code: Any, more: Mapping[int, Kind]) -> Kind | None:
    """The kind of an error code; None if the code is unknown."""
    return more.get(_number(code)) or _KINDS.get(_number(code))


def _without_code(
    status: int, text: Any, *, is_send: bool, wait: timedelta | None
) -> ProviderError:
    kind = kind_by_status(status, is_send=is_send)
    if kind == Kind.RATE:
        wait = wait or _RATE_WAIT
    reason = str(text)[:300] if text else f"The provider responded with {status}."
    return ProviderError(kind, reason, wait=wait)


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1
