"""Signatures as in Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`.

We sign webhooks, and a payment provider signs its callbacks.
"""

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Mapping

SECRET_PREFIX = "whsec_"
# A signature's timestamp may be this many seconds in the past or in the future.
TOLERANCE = 300


def new_secret() -> str:
    """A signing secret: 32 random bytes."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def is_secret(text: str) -> bool:
    """Whether `text` is a signing secret: the prefix and at least 32 base64 characters."""
    encoded = text.removeprefix(SECRET_PREFIX)
    is_base64 = re.fullmatch(r"(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?", encoded, re.ASCII)
    return text != encoded and bool(is_base64) and len(encoded) >= 32


def sign(secret: str, *, event_id: str, timestamp: int, body: bytes) -> str:
    """A signature in the format of the header `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def is_signed(secret: str, *, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the headers contain a signature of this body with the secret, within TOLERANCE."""
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    event_id = headers.get("webhook-id", "")
    expected = sign(secret, event_id=event_id, timestamp=int(timestamp), body=body).encode()
    given = headers.get("webhook-signature", "").encode("utf-8", "replace").split()
    return any(hmac.compare_digest(expected, signature) for signature in given)
