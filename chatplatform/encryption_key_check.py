"""Checks, when a process starts, that FIELD_KEYS has every key that may have encrypted a secret.
Without this check, a process could encrypt new secrets with a wrong key before anyone noticed."""

import logging
import threading
import time
from collections.abc import Collection, Iterator

from django.apps import apps
from django.core.management.base import CommandError
from django.db import (
    InternalError,
    OperationalError,
    ProgrammingError,
    connections,
    models,
    transaction,
)

from chatplatform import crypto, environment
from chatplatform.crypto import EncryptedTextField
from chatplatform.models import EncryptionKey

log = logging.getLogger(__name__)
_TABLE = EncryptionKey._meta.db_table
_PAUSE_SECONDS = 2.0
Fields = list[EncryptedTextField]


class KeysUnusable(CommandError):
    """FIELD_KEYS cannot be used: two keys have the same id, for example."""


class KeysMissing(KeysUnusable):
    """Stored secrets are encrypted with a key that this process does not have."""

    def __init__(self, fingerprints: Collection[str] = ()) -> None:
        which = f" {', '.join(sorted(fingerprints))}" if fingerprints else ""
        super().__init__(
            f"Stored secrets are encrypted with a key{which} that this process lacks: put it back"
            " into FIELD_KEYS, behind the newest one; or put SECRET_KEY back, if FIELD_KEYS was"
            " never set. Nothing was changed (docs/operations.md, Renew the secrets)."
        )


def require() -> None:
    """End this process with a one-line message if its keys cannot be used.

    If the database is down, a thread retries the check every two seconds. No secret can be stored
    while the database is down.
    """
    if not _is_checked():
        threading.Thread(target=_require_later, name="key check", daemon=True).start()


def _require_later() -> None:
    while not _is_checked():
        time.sleep(_PAUSE_SECONDS)


def _is_checked() -> bool:
    """Whether the check could run; ends this process if its keys cannot be used."""
    try:
        check("default")
    except KeysUnusable as exc:
        environment.end(str(exc))
    except OperationalError:
        return False
    finally:
        # Forked processes must not inherit the connection.
        connections["default"].close()
    return True


def check(alias: str) -> None:
    """Raise KeysUnusable if this process lacks a key in use; record its newest key as in use.

    The first run records all keys of this process, if `_can_decrypt_stored` shows that they fit.
    """
    used = find_used(alias)
    if used is None or _own_fingerprints()[0] in used:
        return
    try:
        with transaction.atomic(using=alias):
            with connections[alias].cursor() as cursor:
                # One process at a time: two with different keys must not both pass a first check.
                cursor.execute(f"LOCK TABLE {_TABLE} IN SHARE ROW EXCLUSIVE MODE")
            used = find_used(alias) or set()
            if not used and not _can_decrypt_stored(alias):
                raise KeysMissing
            own = _own_fingerprints()[: 1 if used else None]
            new = [EncryptionKey(fingerprint=item) for item in own if item not in used]
            EncryptionKey.objects.using(alias).bulk_create(new)
    except (InternalError, ProgrammingError) as exc:
        # The role or the server is read-only, so this process cannot store secrets either.
        log.warning("could not record that a key is in use: %s", exc)


def find_used(alias: str) -> set[str] | None:
    """The fingerprints of the keys in use; None before the migration that creates the table.

    Raises KeysMissing if this process lacks one of them.
    """
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NULL", [_TABLE])
        if cursor.fetchone()[0]:
            return None
    used = set(EncryptionKey.objects.using(alias).values_list("fingerprint", flat=True))
    if missing := used - set(_own_fingerprints()):
        raise KeysMissing(missing)
    return used


def _own_fingerprints() -> list[str]:
    """The fingerprints of this process's keys, newest first."""
    try:
        return crypto.fingerprints()
    except crypto.KeyMissing as exc:
        raise KeysUnusable(str(exc)) from exc


def encrypted_columns() -> Iterator[tuple[type[models.Model], Fields]]:
    """Every model with encrypted fields, and the fields. A test asserts that only their values
    are encrypted."""
    for model in apps.get_models():
        fields = [f for f in model._meta.local_concrete_fields if isinstance(f, EncryptedTextField)]
        if fields:
            yield model, fields


def _can_decrypt_stored(alias: str) -> bool:
    """Whether the keys decrypt at least one value in the newest row of any table; also true if
    there are no values. A value that became unreadable long ago must not prevent a start."""
    decrypted = failed = 0
    for model, fields in encrypted_columns():
        for row in model._base_manager.using(alias).order_by("-pk")[:1]:
            for field in fields:
                try:
                    getattr(row, field.attname)
                    decrypted += 1
                except crypto.CryptoError:
                    failed += 1
    return decrypted > 0 or failed == 0
