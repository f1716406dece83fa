"""Locks by name, across processes: PostgreSQL's advisory ones, which no row has to exist for."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_LOOK_EVERY_SECONDS = 0.1


@contextmanager
def held(name: str) -> Iterator[bool]:
    """Hold a name for the length of the block, without a transaction; False: somebody else does.

    It is the connection's, and ends with it at the latest.
    """
    has_it = _ask("pg_try_advisory_lock", name)
    try:
        yield has_it
    finally:
        if has_it and connection.is_usable():
            _ask("pg_advisory_unlock", name)


def hold_in_transaction(name: str) -> bool:
    """Hold a name until the transaction ends; False: somebody else does."""
    return _ask("pg_try_advisory_xact_lock", name)


@contextmanager
def alone(name: str, *, patience: float) -> Iterator[None]:
    """Do `name` while nobody else does; who has waited `patience` seconds goes on regardless.

    It saves work and guards nothing: before storing look once more, under the lock of a row.
    """
    until = time.monotonic() + patience
    # Asked for again and again: a statement that waits would be cut off by its time limits.
    while True:
        with held(name) as has_it:
            if has_it or time.monotonic() >= until:
                yield
                return
        time.sleep(_LOOK_EVERY_SECONDS)


def _ask(function: str, name: str) -> bool:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [number])
        return bool(cursor.fetchone()[0])
