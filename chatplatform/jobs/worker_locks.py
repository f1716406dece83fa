"""The database lock that each worker process holds while it runs.

It shows whether a process is gone, and so whether its jobs may be requeued. If a thread holds the
interpreter for a minute, its process cannot renew leases, but it keeps the connection and the lock.
If a process is killed, the database frees its lock at once, long before its leases end.
"""

import logging
import os
import secrets
import threading
from typing import Any

from django.db import Error, connection

from chatplatform.sql import fetch_row, fetch_rows

log = logging.getLogger(__name__)
# Seconds until a stop is noticed, and the pause before a lost connection is replaced.
POLL_SECONDS, PAUSE_SECONDS = 1.0, 0.2
# The first job of a process waits at most this many seconds for the lock, then starts without it.
LOCK_TIMEOUT_SECONDS = 5.0
# A host that fails does not close its connections: keepalives end the session after 30 s.
_SET_KEEPALIVES = (
    "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
)
_LOCK = "SELECT pg_advisory_lock(%s)"
_IS_FREE = "SELECT pg_try_advisory_xact_lock(%s)"
# PostgreSQL shows a lock's number in two halves.
_GONE = """
SELECT DISTINCT lease_holder FROM chatplatform_job
WHERE state = 'running' AND lease_holder IS NOT NULL
EXCEPT
SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class _Holder(threading.Thread):
    """Holds the lock of this process on a separate connection."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="process-lock")
        self.pid, self.number = os.getpid(), secrets.randbits(62)
        self._locked_by: Any = None
        self._is_held, self._ends = threading.Event(), threading.Event()

    def wait(self) -> None:
        self._is_held.wait(LOCK_TIMEOUT_SECONDS)

    def run(self) -> None:
        try:
            while not self._ends.is_set():
                self._hold()
        finally:
            connection.close()

    def stop(self) -> None:
        self._ends.set()
        self.join()

    def _hold(self) -> None:
        try:
            if connection.connection is None or connection.connection is not self._locked_by:
                with connection.cursor() as cursor:
                    cursor.execute(_SET_KEEPALIVES)
                    cursor.execute(_LOCK, [self.number])
                self._locked_by = connection.connection
                self._is_held.set()
            with connection.wrap_database_errors:
                # No notification ever comes: the wait ends early only if the connection breaks.
                for _ in connection.connection.notifies(timeout=POLL_SECONDS):
                    pass
        except Error as exc:
            log.warning("the lock of this process is not held for now: %s", exc)
            connection.close()
            self._ends.wait(PAUSE_SECONDS)


_is_worker = False
_holder: _Holder | None = None
_starting = threading.Lock()


def enable() -> None:
    """Mark this process, and all processes forked from it, as workers."""
    global _is_worker  # noqa: PLW0603 - one per process
    _is_worker = True


def holder() -> int | None:
    """The number of this process's lock, which its first job acquires; None outside of workers."""
    global _holder  # noqa: PLW0603 - one per process
    if not _is_worker:
        return None
    with _starting:
        # A forked process does not inherit its parent's threads.
        if _holder is None or _holder.pid != os.getpid():
            _holder = _Holder()
            _holder.start()
            _holder.wait()
        return _holder.number


def is_gone(number: int | None) -> bool:
    """Whether no process holds this lock, or there is no lock (None). Call it in a transaction."""
    if number is None:
        return True
    return bool(fetch_row(_IS_FREE, [number])[0])


def find_gone_workers() -> set[int]:
    """The numbers of locks that running jobs refer to but no process holds."""
    return {number for (number,) in fetch_rows(_GONE)}
