"""Reads the keys of the setting FIELD_KEYS."""

import base64
import hashlib

from django.core.exceptions import ImproperlyConfigured


def read_field_keys(entries: list[str], secret_key: str) -> list[tuple[str, bytes]]:
    """The named keys of FIELD_KEYS; each entry is the Base64 of 32 bytes.

    The values of a key `name:base64` carry that name; without a name they carry the key's
    fingerprint. The entry `SECRET_KEY` means the key that is derived from it.
    """
    keys = []
    for entry in entries:
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
