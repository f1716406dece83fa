"""Named locks across processes: advisory locks of PostgreSQL."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

_RETRY_SECONDS = 0.1


@contextmanager
def try_lock(name: str) -> Iterator[bool]:
    """Hold the lock during the block, without a transaction; yields False if it is taken."""
    is_held = _call("pg_try_advisory_lock", name)
    try:
        yield is_held
    finally:
        if is_held and connection.is_usable():
            _call("pg_advisory_unlock", name)


@contextmanager
def try_lock_in_transaction(name: str) -> Iterator[bool]:
    """Run the block in a transaction that holds the lock; yields False if it is taken."""
    with transaction.atomic():
        yield _call("pg_try_advisory_xact_lock", name)


def lock_in_transaction(name: str) -> None:
    """Wait for the lock, and hold it until the transaction ends."""
    assert connection.in_atomic_block
    _call("pg_advisory_xact_lock", name)


@contextmanager
def single_flight(name: str, *, max_wait_seconds: float) -> Iterator[bool]:
    """Run the block while nobody else runs it; after `max_wait_seconds`, run it anyway.

    Yields whether the block holds the lock. Without the lock, the block may run several times at
    once, so it must check again under a row lock before it stores anything.
    """
    until = time.monotonic() + max_wait_seconds
    # This polls, because a statement that waits for the lock could exceed the database's timeouts.
    while True:
        with try_lock(name) as is_held:
            if is_held or time.monotonic() >= until:
                yield is_held
                return
        time.sleep(_RETRY_SECONDS)


def _call(function: str, name: str) -> bool:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [number])
        return bool(cursor.fetchone()[0])
