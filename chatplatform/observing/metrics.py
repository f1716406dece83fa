"""The catalogue of all metrics. A process counts only if it serves its metrics (`exporter.start`).
If it is killed, its last counts may be lost: exact numbers are in the database."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import Error, connection

PREFIX = "chatplatform_"
# Histogram buckets in seconds: for requests, dispatches and deliveries, and for jobs and replies.
_SHORT = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LONG = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)


class Metric:
    """A metric of the catalogue; `made` is the library's object while this process counts."""

    catalogue: list["Metric"] = []  # noqa: RUF012 - filled below

    def __init__(
        self,
        kind: str,
        name: str,
        meaning: str,
        *labels: str,
        buckets: Sequence[float] = (),
        values: Sequence[str] = (),
    ) -> None:
        self.kind, self.name, self.meaning = kind, PREFIX + name, meaning
        self.labels, self.buckets = labels, buckets
        # The values of the metric's only label for which a series starts at 0: Prometheus would not
        # notice the first count of a series that starts at 1.
        self.values = values
        self.made: Any = None
        Metric.catalogue.append(self)

    def add(self, *labels: str, amount: float = 1) -> None:
        """Add to a counter, or change a gauge by `amount`."""
        if self.made is not None:
            self._child(labels).inc(amount)

    def observe(self, value: float, *labels: str) -> None:
        """Record a duration in seconds."""
        if self.made is not None:
            self._child(labels).observe(max(value, 0.0))

    def _child(self, labels: tuple[str, ...]) -> Any:
        return self.made.labels(*labels) if labels else self.made


class Reading(NamedTuple):
    """A value that is read at each scrape: a sample of a gauge or counter."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()


Readings = Iterator[Reading]


def of_row(statement: str, *measured: Metric) -> Readings:
    """Yield a reading of each metric, from the columns of the statement's row; nothing if the
    database does not respond."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            row = cursor.fetchone()
    except Error:
        return
    finally:
        connection.close()  # it is not needed until the next scrape
    yield from map(Reading, measured, row)


# Counted by the process in which they happen.
REQUESTS = Metric(
    "counter", "requests_total", "Requests that were served.", "route", "method", "status"
)
REQUEST_SECONDS = Metric(
    "histogram", "request_seconds", "From a request's arrival to the end of its response; requests"
    " that wait for a reply or a receiver are left out.", "route", buckets=_SHORT,
)  # fmt: skip
STREAMS = Metric("gauge", "streams", "Responses that are being streamed.", "route")
JOB_RUNS = Metric(
    "counter", "job_runs_total", "Attempts to run jobs, by outcome.", "queue", "name", "outcome"
)
JOB_SECONDS = Metric(
    "histogram",
    "job_seconds",
    "How long attempts to run jobs took.",
    "queue",
    "name",
    buckets=_LONG,
)
RELAY_SECONDS = Metric(
    "histogram", "relay_seconds", "From when a job without an ordering key was due to its first"
    " dispatch.", buckets=_SHORT,
)  # fmt: skip
REPLY_SECONDS = Metric(
    "histogram", "reply_seconds", "From a customer's message to the bot's reaction.",
    "outcome", buckets=_LONG, values=(
        "answered", "quoted_instead", "canned", "handed_over", "engine_failed", "silent", "dropped",
    ),
)  # fmt: skip
DELIVERY_SECONDS = Metric(
    "histogram", "delivery_seconds", "Attempts to deliver an event, by outcome.",
    "outcome", buckets=_SHORT, values=(
        "delivered", "timeout", "name_not_found", "connection_refused", "connection_failed",
        "blocked_destination", "redirect", "bad_status", "invalid_answer", "gone", "interrupted",
        "endpoint_disabled",
    ),
)  # fmt: skip
MAIL_FAILURES = Metric(
    "counter", "mail_failures_total", "Attempts to send a mail that the mail server did not accept."
)
FILE_FAILURES = Metric(
    "counter", "file_store_failures_total", "Failed calls to the file store: it is unavailable, or"
    " refuses.",
)  # fmt: skip

# Read by the relay at each scrape.
JOBS = Metric("read", "jobs", "Jobs that wait, run or are dead.", "queue", "name", "state")
JOB_OLDEST = Metric(
    "read",
    "job_oldest_seconds",
    "For how long the oldest job that could run now has waited.",
    "queue",
)
DELIVERIES = Metric("read", "deliveries_waiting", "Deliveries that are due or in progress.")
DELIVERY_OLDEST = Metric(
    "read", "delivery_oldest_seconds", "For how long the oldest due delivery has waited, at"
    " endpoints that are not paused.",
)  # fmt: skip
CREDITS_RESERVED = Metric("read", "credits_reserved", "Credits that calls in progress reserve.")
CREDITS_OLDEST = Metric("read", "credits_oldest_seconds", "The age of the oldest reservation.")
DATABASE_UP = Metric("read", "database_up", "1 while the database responds.")
CONNECTIONS = Metric(
    "read", "database_connections", "Connections to the database, by state.", "state"
)
CONNECTION_LIMIT = Metric("read", "database_connection_limit", "The maximum number of connections.")
DEFAULT_ROWS = Metric(
    "read",
    "default_partition_rows",
    "About how many rows are outside all month partitions.",
    "table",
)
REPLICA_UP = Metric("read", "replica_up", "1 while the replica responds, if one is configured.")
REPLICA_LAG = Metric("read", "replica_lag_seconds", "How far the replica is behind.")
BROKER_UP = Metric("read", "broker_up", "1 while the broker responds.")
BROKER_MEMORY = Metric("read", "broker_memory_bytes", "The memory that the broker uses.")
BROKER_MEMORY_LIMIT = Metric(
    "read", "broker_memory_limit_bytes", "The memory that it may use; left out without a limit."
)
BROKER_SAVES = Metric("read", "broker_saves", "1 while the broker can write to its disk.")
DATABASE_SIZE = Metric("read", "database_bytes", "The database's size on its disk.")
CLOCK_SKEW = Metric(
    "read", "clock_skew_seconds", "How far the database's clock is ahead of the relay's."
)

# By host, read by each group of processes.
CLOCK = Metric("host", "clock_seconds", "The time of the host's clock.")
DISK_FREE = Metric("host", "disk_free_bytes", "Free space on the disk.", "holds")
DISK_SIZE = Metric("host", "disk_size_bytes", "The size of the disk.", "holds")
BACKUP = Metric(
    "host", "backup_timestamp_seconds", "The time of the latest backup; left out without one."
)

# By operating-system process of a group; slot 0 is its first process.
PROCESS_CPU = Metric("process", "process_cpu_seconds_total", "CPU time.", "slot")
PROCESS_MEMORY = Metric("process", "process_resident_bytes", "Memory in use.", "slot")
