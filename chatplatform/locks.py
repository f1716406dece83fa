"""Locks by name, across processes: PostgreSQL's advisory locks, which need no row."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

_RETRY_SECONDS = 0.1


@contextmanager
def try_lock(name: str) -> Iterator[bool]:
    """Hold the lock for the length of the block, without a transaction; False: it is taken.

    It belongs to the connection, and ends with it at the latest.
    """
    is_held = _call("pg_try_advisory_lock", name)
    try:
        yield is_held
    finally:
        if is_held and connection.is_usable():
            _call("pg_advisory_unlock", name)


@contextmanager
def try_lock_in_transaction(name: str) -> Iterator[bool]:
    """Run the block in a transaction, and hold the lock until that ends; False: it is taken."""
    with transaction.atomic():
        yield _call("pg_try_advisory_xact_lock", name)


def lock_in_transaction(name: str) -> None:
    """Wait for the lock, and hold it until the transaction ends."""
    assert connection.in_atomic_block
    _call("pg_advisory_xact_lock", name)


@contextmanager
def single_flight(name: str, *, patience: float) -> Iterator[None]:
    """Run the block while nobody else runs it; after `patience` seconds of waiting, run it anyway.

    It saves work and protects nothing: before storing, look once more under a row's lock.
    """
    until = time.monotonic() + patience
    # Tried again and again: a statement that waits would be cut off by its time limits.
    while True:
        with try_lock(name) as is_held:
            if is_held or time.monotonic() >= until:
                yield
                return
        time.sleep(_RETRY_SECONDS)


def _call(function: str, name: str) -> bool:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [number])
        return bool(cursor.fetchone()[0])
