"""Web Push: a message is encrypted for one browser (RFC 8291) and signed by us (RFC 8292)."""

import base64
import hashlib
import os
import struct
import time
from email.utils import parseaddr
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from joserfc import jwt
from joserfc.jwk import ECKey

from chatplatform import egress

PURPOSE = "push"
_CURVE = ec.SECP256R1()
# The size of a record; our messages are shorter, so each is a single record.
_RECORD_BYTES = 4096
# How long the push service keeps a message for a browser that is not running.
_TTL_SECONDS = 3600
_TOKEN_SECONDS = 43_200
_TIMEOUT_SECONDS = 10


def public_key() -> str:
    """The key that identifies us to a browser's push service, in URL-safe Base64."""
    return to_base64(_point(own_key().public_key()))


def read_public_key(text: str) -> bytes:
    """The point of a browser's key in URL-safe Base64; ValueError if it is not on the curve."""
    point = from_base64(text)
    ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, point)
    return point


def send(endpoint: str, message: bytes, *, key: str, auth: str, topic: str) -> int:
    """Send a message to a browser and return the HTTP status of its push service; raises an
    EgressError. The push service keeps only the latest waiting message of a topic."""
    headers = {
        "Authorization": f"vapid t={_token(endpoint)}, k={public_key()}",
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(_TTL_SECONDS),
        "Urgency": "high",
        "Topic": topic,
    }
    body = encrypt(message, key=read_public_key(key), auth=from_base64(auth))
    response = egress.request(
        "POST", endpoint, headers=headers, content=body, timeout_seconds=_TIMEOUT_SECONDS,
        max_bytes=65_536, purpose=PURPOSE,
    )  # fmt: skip
    return response.status


def encrypt(
    message: bytes,
    *,
    key: bytes,
    auth: bytes,
    own: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """Encrypt a message for the browser's `key` and `auth`; `own` and `salt` are new by default."""
    own, salt = own or ec.generate_private_key(_CURVE), salt or os.urandom(16)
    browser_key = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, key)
    point = _point(own.public_key())
    shared = own.exchange(ec.ECDH(), browser_key)
    secret = _derived(shared, 32, salt=auth, info=b"WebPush: info\0" + key + point)
    content_key = _derived(secret, 16, salt=salt, info=b"Content-Encoding: aes128gcm\0")
    nonce = _derived(secret, 12, salt=salt, info=b"Content-Encoding: nonce\0")
    # The byte 2 ends the last record.
    sealed = AESGCM(content_key).encrypt(nonce, message + b"\2", None)
    return salt + struct.pack("!IB", _RECORD_BYTES, len(point)) + point + sealed


def to_base64(value: bytes) -> str:
    """URL-safe Base64 without padding."""
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def from_base64(text: str) -> bytes:
    """The bytes of URL-safe Base64; ValueError if the text is not valid."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _derived(secret: bytes, length: int, *, salt: bytes, info: bytes) -> bytes:
    return HKDF(SHA256(), length, salt=salt, info=info).derive(secret)


def own_key() -> ec.EllipticCurvePrivateKey:
    """VAPID_PRIVATE_KEY, or else a key derived from SECRET_KEY; ValueError if it is invalid."""
    given, derived = settings.VAPID_PRIVATE_KEY, b"push-key:" + settings.SECRET_KEY.encode()
    secret = from_base64(given) if given else hashlib.sha256(derived).digest()
    return ec.derive_private_key(int.from_bytes(secret, "big"), _CURVE)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _token(endpoint: str) -> str:
    """The VAPID token, which tells the push service who we are and how to contact us."""
    service = urlsplit(endpoint)
    claims = {
        "aud": f"{service.scheme}://{service.netloc}",
        "exp": int(time.time()) + _TOKEN_SECONDS,
        "sub": f"mailto:{parseaddr(settings.DEFAULT_FROM_EMAIL)[1]}",
    }
    return jwt.encode({"alg": "ES256", "typ": "JWT"}, claims, ECKey.import_key(own_key()))
