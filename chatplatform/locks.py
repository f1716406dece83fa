"""One at a time, across processes and without a transaction: for work that waits for a network."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_LOOK_EVERY_SECONDS = 0.1


@contextmanager
def alone(name: str, *, patience: float) -> Iterator[None]:
    """Do `name` while nobody else does; who has waited `patience` seconds goes on regardless.

    The lock is the connection's and ends with it. It saves work and guards nothing: before storing
    look once more, under the lock of a row.
    """
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    until = time.monotonic() + patience
    # Asked for again and again: a statement that waits would be cut off by its time limits.
    while not (has_it := _ask("pg_try_advisory_lock", number)) and time.monotonic() < until:
        time.sleep(_LOOK_EVERY_SECONDS)
    try:
        yield
    finally:
        if has_it:
            _ask("pg_advisory_unlock", number)


def _ask(function: str, number: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [number])
        return bool(cursor.fetchone()[0])
