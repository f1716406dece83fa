"""A database lock that a worker process holds for as long as it lives.

A job is taken from a process only if the process is gone. If a thread holds the interpreter for a
minute, its process cannot renew leases, but keeps the connection and so the lock.
"""

import logging
import os
import secrets
import threading
from typing import Any

from django.db import Error, connection

log = logging.getLogger(__name__)
# The connection is checked this often; a broken one is replaced.
LOOK_SECONDS = 5.0
# The first job of a process waits at most this long for the lock, then starts without it.
PATIENCE_SECONDS = 5.0
# A host that fails does not close its connections: keepalives end the session after 30 s.
_ASK = "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
_LOCK = "SELECT pg_advisory_lock(%s)"
_IS_FREE = "SELECT pg_try_advisory_xact_lock(%s)"


class _Holder(threading.Thread):
    """Holds the lock of this process on a separate connection."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="process-lock")
        self.pid, self.number = os.getpid(), secrets.randbits(62)
        self._locked_by: Any = None
        self._is_held, self._ends = threading.Event(), threading.Event()

    def wait(self) -> None:
        self._is_held.wait(PATIENCE_SECONDS)

    def run(self) -> None:
        try:
            while not self._ends.is_set():
                self._look()
                self._ends.wait(LOOK_SECONDS)
        finally:
            connection.close()

    def stop(self) -> None:
        self._ends.set()
        self.join()

    def _look(self) -> None:
        try:
            with connection.cursor() as cursor:
                if connection.connection is self._locked_by:
                    cursor.execute("SELECT 1")
                    return
                cursor.execute(_ASK)
                cursor.execute(_LOCK, [self.number])
            self._locked_by = connection.connection
            self._is_held.set()
        except Error as exc:
            log.warning("the lock of this process is not held for now: %s", exc)
            self._locked_by = None
            connection.close()


_is_worker = False
_holder: _Holder | None = None
_starting = threading.Lock()


def enable() -> None:
    """Mark this process, and those forked from it, as workers."""
    global _is_worker  # noqa: PLW0603 - one a process
    _is_worker = True


def holder() -> int | None:
    """The number of this process's lock, which its first job acquires; None outside of workers."""
    global _holder  # noqa: PLW0603 - one a process
    if not _is_worker:
        return None
    with _starting:
        # A forked child does not inherit its parent's threads.
        if _holder is None or _holder.pid != os.getpid():
            _holder = _Holder()
            _holder.start()
            _holder.wait()
        return _holder.number


def is_gone(number: int | None) -> bool:
    """Whether no process holds this lock; call it in a transaction."""
    if number is None:
        return True
    with connection.cursor() as cursor:
        cursor.execute(_IS_FREE, [number])
        return bool(cursor.fetchone()[0])
