"""The setting FIELD_KEYS; `settings.py` takes it."""

import base64
import hashlib

import environ
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()  # type: ignore[no-untyped-call]


def read_field_keys(secret_key: str) -> list[tuple[str, bytes]]:
    """FIELD_KEYS=`base64,base64`, newest first; 32 bytes each. Left out: from SECRET_KEY.

    `name:base64` is a key whose values are stored under that name and not under its fingerprint.
    `SECRET_KEY` stands for the key that is made from it.
    """
    keys = []
    for entry in env.list("FIELD_KEYS", default=["SECRET_KEY"]) or ["SECRET_KEY"]:
        if entry.strip() == "SECRET_KEY":
            keys.append(("s1", hashlib.sha256(b"field-key:" + secret_key.encode()).digest()))
            continue
        name, _, key = entry.strip().rpartition(":")
        try:
            keys.append((name, base64.b64decode(key, validate=True)))
        except ValueError as exc:
            raise ImproperlyConfigured(f"FIELD_KEYS: a key is not Base64 ({exc}).") from exc
    if any(len(key) != 32 for _, key in keys):
        raise ImproperlyConfigured("FIELD_KEYS: each key is the Base64 of 32 bytes.")
    return keys
