"""Whether FIELD_KEYS holds every key that secrets may be stored with: asked when a process starts.

A wrong key would be noticed only when a secret is read, after new ones were stored with it.
"""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator
from typing import NoReturn

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

from chatplatform import crypto
from chatplatform.crypto import EncryptedTextField
from chatplatform.models import KeyInUse

log = logging.getLogger(__name__)
_TABLE = KeyInUse._meta.db_table
_PAUSE_SECONDS = 2.0
Fields = list[EncryptedTextField]


class KeysMissing(CommandError):
    """Stored secrets are encrypted with a key that this process does not have."""

    def __init__(self, fingerprints: Collection[str] = ()) -> None:
        which = f" {', '.join(sorted(fingerprints))}" if fingerprints else ""
        super().__init__(
            f"Stored secrets are encrypted with a key{which} that this process lacks: put it back"
            " into FIELD_KEYS, behind the newest one; or put SECRET_KEY back, if FIELD_KEYS was"
            " never set. Nothing was changed (docs/operations.md, Renew the secrets)."
        )


def require() -> None:
    """End this process with one line if it lacks a key.

    While the database is away nothing is stored either: then it is asked as soon as it answers.
    """
    try:
        check("default")
    except KeysMissing as exc:
        end(str(exc))
    except OperationalError:
        threading.Thread(target=_require_later, name="key check", daemon=True).start()
    finally:
        # Not for the children of this process.
        connections["default"].close()


def _require_later() -> None:
    while True:
        time.sleep(_PAUSE_SECONDS)
        try:
            check("default")
        except OperationalError:
            continue
        except KeysMissing as exc:
            end(str(exc))
        finally:
            connections["default"].close()
        return


def end(reason: str) -> NoReturn:
    """End this process, which must not start, with one line."""
    sys.stderr.write(f"{reason}\n")
    sys.stderr.flush()
    if server := multiprocessing.parent_process():
        # granian would start this worker again, for ever.
        os.kill(server.pid or 0, signal.SIGTERM)
    os._exit(1)


def check(alias: str) -> None:
    """Raise KeysMissing if a key in use is not held; enter the newest one as in use.

    At the first time all that are held are entered, and must open what is stored already.
    """
    used = find_used(alias)
    if used is None or crypto.fingerprints()[0] in used:
        return
    try:
        with transaction.atomic(using=alias):
            with connections[alias].cursor() as cursor:
                # Of two processes with different keys, at a first start, one is refused.
                cursor.execute(f"LOCK TABLE {_TABLE} IN SHARE ROW EXCLUSIVE MODE")
            used = find_used(alias) or set()
            if not used and not _opens_what_is_stored(alias):
                raise KeysMissing
            held = crypto.fingerprints()[: 1 if used else None]
            new = [KeyInUse(fingerprint=item) for item in held if item not in used]
            KeyInUse.objects.using(alias).bulk_create(new)
    except (InternalError, ProgrammingError) as exc:
        # A role or a server that takes no writes: this process stores no secrets either.
        log.warning("that a key is in use could not be entered: %s", exc)


def find_used(alias: str) -> set[str] | None:
    """The keys in use, of which none is lacking; None before the migration that makes the table."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NULL", [_TABLE])
        if cursor.fetchone()[0]:
            return None
    used = set(KeyInUse.objects.using(alias).values_list("fingerprint", flat=True))
    if missing := used - set(crypto.fingerprints()):
        raise KeysMissing(missing)
    return used


def encrypted_columns() -> Iterator[tuple[type[models.Model], Fields]]:
    """Every model with encrypted fields, and these: a test holds that nothing else encrypts."""
    for model in apps.get_models():
        fields = [f for f in model._meta.local_concrete_fields if isinstance(f, EncryptedTextField)]
        if fields:
            yield model, fields


def _opens_what_is_stored(alias: str) -> bool:
    """Whether something opens of what is stored, if anything is: the newest row of each table.

    A value that was lost long ago must keep nobody from starting.
    """
    opened = failed = 0
    for model, fields in encrypted_columns():
        for row in model._base_manager.using(alias).order_by("-pk")[:1]:
            for field in fields:
                try:
                    getattr(row, field.attname)
                    opened += 1
                except crypto.CryptoError:
                    failed += 1
    return opened > 0 or failed == 0
