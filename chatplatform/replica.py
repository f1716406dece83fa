"""The replica for reports and exports: whether it can be read, and its lag.

It is optional: what cannot be read there is read from the primary.
"""

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error, connections
from django.utils import timezone

from chatplatform.observing import outage_logging

log = logging.getLogger(__name__)
PRIMARY, REPLICA = "default", "replica"
# How long a measured lag is used, and how long to wait for a measurement: a server that hangs never
# responds.
LAG_TTL_SECONDS, LAG_TIMEOUT_SECONDS = 5.0, 2.0

# A replica that has replayed everything that the primary had written is not behind, however long
# ago the last change was.
_WRITTEN = "SELECT pg_current_wal_lsn()::text"
_REPLAYED = """
SELECT pg_is_in_recovery(), coalesce(pg_last_wal_replay_lsn() >= %s::pg_lsn, false),
    extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8
"""


def is_configured() -> bool:
    """Whether a replica is configured."""
    return REPLICA in connections.databases


def lag_seconds() -> float | None:
    """The replica's lag; None if there is no replica or it does not respond."""
    return _lag.seconds() if is_configured() else None


def alias() -> str:
    """The alias of the database to read reports from now."""
    seconds = lag_seconds()
    is_good = seconds is not None and seconds <= settings.REPLICA_MAX_LAG_SECONDS
    return REPLICA if is_good else PRIMARY


def as_of() -> datetime:
    """The time up to which a report that is read now includes all changes."""
    seconds = lag_seconds() if alias() == REPLICA else 0
    return timezone.now() - timedelta(seconds=seconds or 0)


def record_failure() -> None:
    """Record that a statement failed on the replica: reports are read from the primary for a few
    seconds."""
    connections[REPLICA].close()
    _lag.mark_unknown()


class _Lag:
    """The lag, measured at most every few seconds and by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="replica")
        self._measuring: Future[float | None] | None = None
        self._seconds: float | None = None
        self._valid_until = 0.0

    def seconds(self) -> float | None:
        with self._lock:
            if time.monotonic() >= self._valid_until:
                self._seconds = self._wait_for_lag()
                self._valid_until = time.monotonic() + LAG_TTL_SECONDS
            return self._seconds

    def mark_unknown(self) -> None:
        with self._lock:
            self._seconds, self._valid_until = None, time.monotonic() + LAG_TTL_SECONDS

    def _wait_for_lag(self) -> float | None:
        if self._measuring is None or self._measuring.done():
            self._measuring = self._threads.submit(measure)
        try:
            return self._measuring.result(LAG_TIMEOUT_SECONDS)
        except FutureTimeout:
            return None


def measure() -> float | None:
    """Measure the lag; None if a server does not respond, or if the replica's server is not a
    replica."""
    try:
        with connections[PRIMARY].cursor() as cursor:
            cursor.execute(_WRITTEN)
            (written,) = cursor.fetchone()
        with connections[REPLICA].cursor() as cursor:
            cursor.execute(_REPLAYED, [written])
            is_replica, has_all, seconds = cursor.fetchone()
    except Error as exc:
        log.warning("the replica cannot be read: %s", exc)
        return None
    finally:
        for name in (PRIMARY, REPLICA):
            connections[name].close()  # it is not needed until the next measurement
    outage_logging.report_recovery("replica")
    if not is_replica:
        log.error("the server of DATABASE_REPLICA_URL is not a replica, so it is not read")
        return None
    return 0.0 if has_all else seconds


_lag = _Lag()
