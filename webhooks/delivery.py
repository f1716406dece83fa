"""A delivery, without the database: sign, send, judge the answer, say when to try again.

Signed as Standard Webhooks 1.0 asks: HMAC-SHA256 over `id.timestamp.body`, one signature for each
secret that is valid now.
"""

import base64
import hashlib
import hmac
import random
import re
import secrets
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from django.conf import settings

from chatplatform import egress

# Seconds before each attempt, counted from the end of the one before: 75.6 hours in all.
LADDER = (0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
_JITTER = 0.2
_LONGEST_RETRY_AFTER = 86_400  # seconds; a receiver may not put us off for longer
MAX_BODY_BYTES = 20_000
_EXCERPT_BYTES = 1_000
_READ_BYTES = 65_536  # of an answer: beyond it the connection is closed instead of read on

_SECRET_PREFIX = "whsec_"
_CREDENTIALS = re.compile(
    r"(?i)(whsec_|bearer\s+|basic\s+"
    r"|(?:authorization|api[-_]?key|[\w-]*token|[\w-]*secret|password|cookie)"
    r"[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?)"
    r"[^\s\"'&,;<>{}]+"
)


class Fault(StrEnum):
    """Why an attempt failed, or why there will be no more."""

    TIMEOUT = "timeout"
    CONNECTION_FAILED = "connection_failed"
    BLOCKED_DESTINATION = "blocked_destination"
    REDIRECT = "redirect"  # an answer of 300..399: never followed
    BAD_STATUS = "bad_status"  # any other answer that is not 200..299
    INVALID_ANSWER = "invalid_answer"  # headers beyond all measure
    GONE = "gone"  # 410: the endpoint was switched off for it
    INTERRUPTED = "interrupted"  # by a fault of ours, before the answer was known
    ENDPOINT_DISABLED = "endpoint_disabled"


@dataclass(frozen=True, slots=True)
class DeliveryRequest:
    """All that an attempt needs to know."""

    delivery_id: int
    config_id: "uuid.UUID"
    lease_token: "uuid.UUID"
    number: int
    tries: int  # with this one, since the event was announced or replayed
    is_test: bool
    is_of_struggling: bool  # its endpoint's latest attempts had failed when this one was taken
    url: str
    secrets: Sequence[str]
    event_id: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an attempt; `error` None: delivered."""

    error: Fault | None
    http_status: int | None = None
    duration_ms: int | None = None
    excerpt: str = ""
    retry_after: float | None = None  # seconds that the receiver asked for


def new_secret() -> str:
    """A signing secret: 32 random bytes."""
    return _SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def sign(secret: str, *, event_id: str, timestamp: int, body: bytes) -> str:
    """One signature, as it stands in `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def headers_of(parcel: DeliveryRequest, *, timestamp: int) -> dict[str, str]:
    """The headers of one attempt; the id is the same in all of them."""
    signatures = [
        sign(secret, event_id=parcel.event_id, timestamp=timestamp, body=parcel.body)
        for secret in parcel.secrets
    ]
    return {
        "Content-Type": "application/json",
        "webhook-id": parcel.event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def send(parcel: DeliveryRequest, via: egress.KeepAliveClient) -> Outcome:
    """One attempt. Returns whatever happens; the destination's addresses are checked anew."""
    if not parcel.secrets:
        # They could not be opened: better late than unsigned.
        return Outcome(Fault.INTERRUPTED)
    begun = time.monotonic()
    fault, reply = None, None
    try:
        headers = headers_of(parcel, timestamp=int(time.time()))
        reply = egress.post(
            via, parcel.url, headers=headers, content=parcel.body, read_bytes=_READ_BYTES
        )
    except egress.Blocked:
        fault = Fault.BLOCKED_DESTINATION
    except egress.Timeout:
        fault = Fault.TIMEOUT
    except egress.TooLarge:
        fault = Fault.INVALID_ANSWER
    except egress.EgressError:
        fault = Fault.CONNECTION_FAILED
    spent = round((time.monotonic() - begun) * 1000)
    if reply is None:
        return Outcome(fault, duration_ms=spent)
    return Outcome(
        fault_of(reply.status),
        reply.status,
        spent,
        excerpt_of(reply.body, parcel.secrets),
        retry_after_of(reply.headers) if reply.status in {429, 502, 503, 504} else None,
    )


def fault_of(status: int) -> Fault | None:
    """Only 2xx is a success."""
    if 200 <= status < 300:
        return None
    if status == 410:
        return Fault.GONE
    return Fault.REDIRECT if 300 <= status < 400 else Fault.BAD_STATUS


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` asks for (RFC 9110 10.2.3): a number or a date."""
    given = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}", given):
        return float(min(int(given), _LONGEST_RETRY_AFTER))
    try:
        moment = parsedate_to_datetime(given)
        asked = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(asked, 0.0), _LONGEST_RETRY_AFTER)


def seconds_until_retry(tries: int, outcome: Outcome) -> float | None:
    """How long to wait after this many tries; None: that was the last."""
    if tries >= len(LADDER):
        return None
    spread = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - not a secret
    return max(LADDER[tries] * spread / settings.WEBHOOK_RETRY_SCALE, outcome.retry_after or 0.0)


def excerpt_of(body: bytes, known: Sequence[str] = ()) -> str:
    """The beginning of an answer for people to read: no credentials, nothing a column refuses."""
    text = body[:_EXCERPT_BYTES].decode("utf-8", "replace").replace("\x00", "\ufffd")
    for secret in known:
        text = text.replace(secret.removeprefix(_SECRET_PREFIX), "[redacted]")
    return _CREDENTIALS.sub(r"\1[redacted]", text)
