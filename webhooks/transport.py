"""One attempt of a delivery, without the database: sign, send, classify, plan the retry. A request
has a signature for each currently valid secret of the endpoint."""

import random
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from django.conf import settings

from chatplatform import egress
from chatplatform.signatures import SECRET_PREFIX, sign

# The seconds before each attempt, from the end of the previous one: 75.6 hours in total.
RETRY_DELAYS = (0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
_JITTER = 0.2
_MAX_RETRY_AFTER = 86_400  # seconds; a longer Retry-After is reduced to this
_EXCERPT_BYTES = 1_000
_READ_BYTES = 65_536  # of a response; a longer one closes the connection

_CREDENTIALS = re.compile(
    r"(?i)(whsec_|bearer\s+|basic\s+"
    r"|(?:authorization|api[-_]?key|[\w-]*token|[\w-]*secret|password|cookie)"
    r"[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?)"
    r"[^\s\"'&,;<>{}]+"
)


class Fault(StrEnum):
    """Why an attempt failed, or why a delivery was given up without one."""

    TIMEOUT = "timeout"
    NAME_NOT_FOUND = "name_not_found"
    CONNECTION_REFUSED = "connection_refused"
    CONNECTION_FAILED = "connection_failed"  # for any other reason
    BLOCKED_DESTINATION = "blocked_destination"
    REDIRECT = "redirect"  # the status is 300..399; redirects are never followed
    BAD_STATUS = "bad_status"  # any other status outside 200..299
    INVALID_ANSWER = "invalid_answer"  # the response's headers are too large
    GONE = "gone"  # the status is 410, so the endpoint is switched off
    INTERRUPTED = "interrupted"  # a failure on our side; the response is unknown
    ENDPOINT_DISABLED = "endpoint_disabled"  # the delivery was given up without an attempt


@dataclass(frozen=True, slots=True)
class DeliveryRequest:
    """The data of one attempt."""

    delivery_id: int
    config_id: "uuid.UUID"
    lease_token: "uuid.UUID"
    number: int
    tries: int  # attempts since the event was announced or replayed, including this one
    is_test: bool
    endpoint_was_failing: bool  # when this attempt was leased
    url: str
    secrets: Sequence[str]
    event_id: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an attempt; `error` is None if the event was delivered."""

    error: Fault | None
    http_status: int | None = None
    duration_ms: int | None = None
    excerpt: str = ""
    retry_after: float | None = None  # seconds that the receiver asked to wait


def build_headers(request: DeliveryRequest, *, timestamp: int) -> dict[str, str]:
    """The headers of one attempt; `webhook-id` is the same in every attempt."""
    signatures = [
        sign(secret, event_id=request.event_id, timestamp=timestamp, body=request.body)
        for secret in request.secrets
    ]
    return {
        "Content-Type": "application/json",
        "webhook-id": request.event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def send(request: DeliveryRequest, client: egress.KeepAliveClient) -> Outcome:
    """Make one attempt. Network failures are returned, not raised."""
    if not request.secrets:
        # The secrets could not be decrypted: retry later instead of sending unsigned.
        return Outcome(Fault.INTERRUPTED)
    started_at = time.monotonic()
    fault, response = None, None
    try:
        headers = build_headers(request, timestamp=int(time.time()))
        response = egress.post(
            client, request.url, headers=headers, content=request.body, read_bytes=_READ_BYTES
        )
    except egress.Blocked:
        fault = Fault.BLOCKED_DESTINATION
    except egress.Timeout:
        fault = Fault.TIMEOUT
    except egress.TooLarge:
        fault = Fault.INVALID_ANSWER
    except egress.NameNotFound:
        fault = Fault.NAME_NOT_FOUND
    except egress.ConnectionRefused:
        fault = Fault.CONNECTION_REFUSED
    except egress.EgressError:
        fault = Fault.CONNECTION_FAILED
    duration_ms = round((time.monotonic() - started_at) * 1000)
    if response is None:
        return Outcome(fault, duration_ms=duration_ms)
    return Outcome(
        classify_status(response.status),
        response.status,
        duration_ms,
        make_excerpt(response.body, request.secrets),
        parse_retry_after(response.headers) if response.status in {429, 502, 503, 504} else None,
    )


def classify_status(status: int) -> Fault | None:
    """The fault for a response's status; None for 2xx, the only success."""
    if 200 <= status < 300:
        return None
    if status == 410:
        return Fault.GONE
    return Fault.REDIRECT if 300 <= status < 400 else Fault.BAD_STATUS


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds to wait that `Retry-After` (RFC 9110 10.2.3) gives as a number or a date, at most
    a day; None if the header is missing or invalid."""
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}", text):
        return float(min(int(text), _MAX_RETRY_AFTER))
    try:
        moment = parsedate_to_datetime(text)
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER)


def seconds_until_retry(tries: int, outcome: Outcome) -> float | None:
    """The seconds before the next attempt; None after the last attempt."""
    if tries >= len(RETRY_DELAYS):
        return None
    spread = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - not a secret
    return max(
        RETRY_DELAYS[tries] * spread / settings.WEBHOOK_RETRY_SCALE, outcome.retry_after or 0.0
    )


def make_excerpt(body: bytes, secrets_to_hide: Sequence[str] = ()) -> str:
    """The beginning of a response, with credentials redacted and NUL characters replaced."""
    text = body[:_EXCERPT_BYTES].decode("utf-8", "replace").replace("\x00", "\ufffd")
    for secret in secrets_to_hide:
        text = text.replace(secret.removeprefix(SECRET_PREFIX), "[redacted]")
    return _CREDENTIALS.sub(r"\1[redacted]", text)
