"""Translate the provider's error numbers into our kinds.

An error may have the HTTP status 200. The response's field `error` is 0 if the call succeeded.
"""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from django.utils import timezone as clock

from channels_app.providers.errors import Kind, ProviderError, kind_by_status

# Each of these numbers means a refused token; some occur with either sign.
_TOKEN = (-216, 216, -220, -401, 401, -242)
KINDS: dict[int, Kind] = {
    -32: Kind.RATE,
    -200: Kind.TEMPORARY,
    # Refused because it is night in the customers' time zone; retried in the morning.
    -234: Kind.TEMPORARY,
    **dict.fromkeys(_TOKEN, Kind.TOKEN),
    **dict.fromkeys((-100, -201, -210, -233, -240), Kind.REQUEST),
    **dict.fromkeys((-204, -205, -248), Kind.BLOCKED),
    **dict.fromkeys((-209, -212, -219, -221, -223, -224, -235, -320, -321), Kind.PERMISSION),
    **dict.fromkeys((-211, -218), Kind.QUOTA),
    **dict.fromkeys((-213, -227, -244), Kind.RECIPIENT),
    **dict.fromkeys((-230, -232), Kind.WINDOW),
}
# "Send failed" is retried once.
_RETRIES = {-200: 1}
UPLOAD_EXPIRED, KIND_NOT_SUPPORTED = "-100", "-233"
_NIGHT_CODE, _MORNING_HOUR = -234, 6
# The provider's customers all live in one time zone.
_ZONE = timezone(timedelta(hours=7))
_MINUTE = timedelta(minutes=1)


def error_from(body: Any, status: int, *, is_send: bool, wait: timedelta | None) -> ProviderError:
    """The error in a response: by its number, or by the HTTP status if it has no number."""
    code = _code(body)
    if code is None:
        kind = kind_by_status(status, is_send=is_send)
        reason = f"The provider responded with {status}."
        return ProviderError(kind, reason, wait=_wait(kind, wait))
    kind = KINDS.get(code, Kind.REQUEST)
    text = body.get("message") or body.get("error_description") or "no reason given"
    message = str(text)[:300]
    if code == _NIGHT_CODE:
        wait = _until_morning()
    return ProviderError(
        kind, message, code=str(code), wait=_wait(kind, wait), retries=_RETRIES.get(code)
    )


def _code(body: Any) -> int | None:
    """The error number in a response; None if there is none, or if it means success."""
    try:
        return int(body["error"]) or None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _wait(kind: Kind, wait: timedelta | None) -> timedelta | None:
    return wait or _MINUTE if kind == Kind.RATE else wait


def _until_morning() -> timedelta:
    now = clock.now().astimezone(_ZONE)
    morning = datetime(now.year, now.month, now.day, _MORNING_HOUR, tzinfo=_ZONE)
    if morning <= now:
        morning += timedelta(days=1)
    return morning.astimezone(UTC) - now
