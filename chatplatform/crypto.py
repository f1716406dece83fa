"""Secrets at rest: encrypted columns, hashes, and comparison in constant time.

A stored value is `v1:key_id:base64(nonce + ciphertext)`, encrypted with AES-256-GCM. Its context
(`table.column:tenant:row`) is authenticated too. Two keys may have had the same id at different
times, so only decrypting shows whether a key fits.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.exceptions import FieldError
from django.db import models
from django.db.models.query_utils import DeferredAttribute

_VERSION = "v1"
_NONCE_BYTES = 12
_KEY_BYTES = 32
_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,32}")

if TYPE_CHECKING:
    _TextField = models.TextField[str, str]
else:
    _TextField = models.TextField


class CryptoError(Exception):
    """The base of this module's errors. No message contains a key or a decrypted text."""


class KeyMissing(CryptoError):
    """FIELD_KEYS is empty, malformed, or lacks the key of a stored value."""


class DecryptionFailed(CryptoError):
    """A value is damaged or not encrypted, or was encrypted for another row or with another key."""


def encrypt(text: str, *, context: str) -> str:
    """Encrypt `text` with the newest key; the same `context` is needed to decrypt it."""
    key_id, key = _keys()[0]
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = nonce + AESGCM(key).encrypt(nonce, text.encode(), _associated(key_id, context))
    return f"{_VERSION}:{key_id}:{base64.b64encode(sealed).decode()}"


def decrypt(value: str, *, context: str) -> str:
    """Decrypt a stored value; raises KeyMissing or DecryptionFailed."""
    keys = _keys()
    key_id = _parts(value)[1]
    # Try the key with this id first, then all others: a key may have had another id.
    for _, key in sorted(keys, key=lambda item: item[0] != key_id):
        text = _try_decrypt(value, key, context)
        if text is not None:
            return text
    if key_id not in dict(keys):
        raise KeyMissing("FIELD_KEYS does not hold the key of a stored value.")
    raise DecryptionFailed("A stored value cannot be decrypted for its row.")


def is_current(value: str, *, context: str) -> bool:
    """Whether a stored value is encrypted with the newest key; a rotation skips such values."""
    return _try_decrypt(value, _keys()[0][1], context) is not None


def fingerprints() -> list[str]:
    """The fingerprints of the keys in FIELD_KEYS, newest first."""
    return [_fingerprint(key) for _, key in _keys()]


def hash_secret(secret: str) -> str:
    """HMAC-SHA256 as 64 hex digits; for random secrets such as API keys, not for passwords."""
    # Use a separate key, so that a leaked hash is not a valid signature elsewhere.
    pepper = hmac.digest(settings.SECRET_KEY.encode(), b"chatplatform.hash_secret", "sha256")
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def constant_time_equal(left: str | bytes, right: str | bytes) -> bool:
    """Whether two values are equal; the duration does not reveal how many characters agree."""
    return hmac.compare_digest(_bytes(left), _bytes(right))


def _bytes(value: str | bytes) -> bytes:
    # A lone surrogate in a request must compare unequal and must not raise.
    return value.encode(errors="surrogatepass") if isinstance(value, str) else value


def _associated(key_id: str, context: str) -> bytes:
    if not context:
        raise ValueError("An encrypted value needs a context.")
    return f"{_VERSION}:{key_id}:{context}".encode()


def _try_decrypt(value: str, key: bytes, context: str) -> str | None:
    """The decrypted text; None if the value was encrypted with another key or context."""
    version, key_id, payload = _parts(value)
    if version != _VERSION:
        raise DecryptionFailed("The stored value has an unknown version.")
    try:
        sealed = base64.b64decode(payload, validate=True)
        nonce, ciphertext = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        return AESGCM(key).decrypt(nonce, ciphertext, _associated(key_id, context)).decode()
    except InvalidTag:
        return None
    except (ValueError, binascii.Error) as error:
        raise DecryptionFailed("A stored value is damaged.") from error


@cache
def _fingerprint(key: bytes) -> str:
    return hmac.digest(key, b"chatplatform.field_key", "sha256").hex()[:16]


def _parts(value: str) -> tuple[str, str, str]:
    parts = value.split(":", 2)
    if len(parts) != 3:
        raise DecryptionFailed("The stored value is not encrypted.")
    return parts[0], parts[1], parts[2]


def _keys() -> Sequence[tuple[str, bytes]]:
    keys: Sequence[tuple[str, bytes]] = settings.FIELD_KEYS
    if not keys:
        raise KeyMissing("FIELD_KEYS is empty.")
    keys = [(name or _fingerprint(key), key) for name, key in keys]
    for key_id, key in keys:
        if not _KEY_ID.fullmatch(key_id) or len(key) != _KEY_BYTES:
            raise KeyMissing("FIELD_KEYS needs keys of 32 bytes; their ids have plain characters.")
    if len({key_id for key_id, _ in keys}) != len(keys):
        raise KeyMissing("FIELD_KEYS has two keys with the same id.")
    return keys


class _Sealed(str):
    """Text in its stored form, distinct from the plain text that a caller assigns."""

    __slots__ = ()


class _DecryptingAttribute(DeferredAttribute):
    """Decrypts the stored value when the attribute is read: the context depends on the row."""

    field: "EncryptedTextField"

    def __get__(self, instance: models.Model | None, cls: Any = None) -> Any:
        value = super().__get__(instance, cls)
        if instance is None or not isinstance(value, _Sealed):
            return value
        # The text is not kept on the instance, which may get into a cache or an error report.
        return decrypt(str(value), context=self.field.context_of(instance))

    def __set__(self, instance: models.Model, value: object) -> None:
        instance.__dict__[self.field.attname] = value


class EncryptedTextField(_TextField):
    """Text that is stored encrypted; never null, never in a form or filter.

    If the primary key is known before the insert (our UUIDs), the context is
    `table.column:tenant:row`; if the database assigns it, the context is only `table.column`.
    `values()` returns the stored form. `update()` and `bulk_update()` do not know the row, so they
    are refused if the context contains it.
    """

    descriptor_class = _DecryptingAttribute

    def __init__(self, *args: Any, tenant_attribute: str = "client_id", **kwargs: Any) -> None:
        if kwargs.get("null"):
            raise ValueError("An encrypted field is never null: use an empty text.")
        self.tenant_attribute = tenant_attribute
        kwargs.setdefault("editable", False)
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        if self.tenant_attribute != "client_id":
            kwargs["tenant_attribute"] = self.tenant_attribute
        return name, path, args, kwargs

    @property
    def is_row_bound(self) -> bool:
        """Whether the context contains the row: its primary key is known before the insert."""
        return not isinstance(self.model._meta.pk, models.AutoField)

    def context_of(self, instance: models.Model) -> str:
        """The context that authenticates this row's value."""
        place = self._column_path()
        if not self.is_row_bound:
            return place
        if instance.pk is None:
            raise CryptoError(f"{place} needs its row's key before it is saved.")
        tenant = getattr(instance, self.tenant_attribute, None)
        return f"{place}:{'-' if tenant is None else tenant}:{instance.pk}"

    def pre_save(self, model_instance: models.Model, add: bool) -> "_Sealed":  # noqa: FBT001
        # An unchanged value is encrypted again with the newest key. A row copied under another
        # primary key fails here, before it becomes unreadable.
        text = getattr(model_instance, self.attname)
        if not isinstance(text, str):
            raise TypeError(f"{self._column_path()} takes text, not {type(text).__name__}.")
        return _Sealed(encrypt(text, context=self.context_of(model_instance)))

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, _Sealed):
            return str(value)
        if self.is_row_bound or not isinstance(value, str):
            raise TypeError(f"{self._column_path()} can only be written by saving its row.")
        return encrypt(value, context=self._column_path())

    def from_db_value(self, value: str | None, *_: object) -> "_Sealed | None":
        return None if value is None else _Sealed(value)

    def value_to_string(self, obj: models.Model) -> str:
        # For dumpdata: a fixture must not contain the plain text.
        return str(self.pre_save(obj, add=False))

    def get_lookup(self, lookup_name: str) -> Any:
        raise FieldError(
            f"{self._column_path()} is encrypted and cannot be filtered ({lookup_name})."
        )

    def _column_path(self) -> str:
        return f"{self.model._meta.db_table}.{self.column}"
