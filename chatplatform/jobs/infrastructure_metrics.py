"""Metrics of the jobs, the database, the broker and the replica."""

from collections.abc import Iterator
from typing import Any

from django.db import Error, connection

from chatplatform import partitions, replica
from chatplatform.jobs import relay
from chatplatform.jobs.registry import declared, queue_of
from chatplatform.live import valkey
from chatplatform.observing import host, metrics
from chatplatform.observing.metrics import Reading, Readings

# Finished jobs are kept for a week and are not counted. Each part of the union uses a small index.
_JOBS = """
SELECT name, state, count(*) FROM chatplatform_job
WHERE state IN ('queued', 'running') GROUP BY name, state
UNION ALL
SELECT name, state, count(*) FROM chatplatform_job WHERE state = 'dead' GROUP BY name, state
"""
# Jobs that a worker could run now, and jobs whose lease has ended and that no relay has requeued.
_WAITING = f"""
SELECT name, count(*), extract(epoch FROM statement_timestamp() - min(since))::float8
FROM (SELECT name, due_at AS since FROM chatplatform_job j WHERE {relay.IS_DUE}
      UNION ALL
      SELECT name, lease_until FROM chatplatform_job WHERE {relay.IS_LOST}) AS waiting
GROUP BY name
"""
# PostgreSQL hides the state of another role's connections: they count as "other".
_CONNECTIONS = """
SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity
WHERE datname = current_database() GROUP BY 1
"""


def read() -> Readings:
    """Yield the metrics of each part; for a part that does not respond, only that it is down."""
    try:
        with connection.cursor() as cursor:
            readings = [*_jobs(cursor), *_database(cursor)]
    except Error:
        readings = [Reading(metrics.DATABASE_UP, 0)]
    finally:
        connection.close()  # it is not needed until the next scrape
    yield from readings
    yield from _broker()
    if replica.is_configured():
        lag = replica.lag_seconds()
        yield Reading(metrics.REPLICA_UP, lag is not None)
        if lag is not None:
            yield Reading(metrics.REPLICA_LAG, lag)


def waiting(cursor: Any) -> dict[str, tuple[int, float]]:
    """For each queue, the number of jobs that could run now, and how many seconds the oldest of
    them has waited."""
    by_queue = {str(job.queue): (0, 0.0) for job in declared.values()}
    cursor.execute(_WAITING)
    for name, count, seconds in cursor.fetchall():
        before, oldest = by_queue.get(queue_of(name), (0, 0.0))
        by_queue[queue_of(name)] = before + count, max(oldest, seconds)
    return by_queue


def _jobs(cursor: Any) -> Iterator[Reading]:
    cursor.execute(_JOBS)
    for name, state, count in cursor.fetchall():
        yield Reading(metrics.JOBS, count, (queue_of(name), name, state))
    for queue, (_, seconds) in sorted(waiting(cursor).items()):
        yield Reading(metrics.JOB_OLDEST, seconds, (queue,))


def _database(cursor: Any) -> Iterator[Reading]:
    yield Reading(metrics.DATABASE_UP, 1)
    cursor.execute(_CONNECTIONS)
    for state, count in cursor.fetchall():
        yield Reading(metrics.CONNECTIONS, count, (state,))
    cursor.execute("SELECT current_setting('max_connections')::int")
    yield Reading(metrics.CONNECTION_LIMIT, cursor.fetchone()[0])
    cursor.execute("SELECT pg_database_size(current_database())")
    yield Reading(metrics.DATABASE_SIZE, cursor.fetchone()[0])
    yield Reading(metrics.CLOCK_SKEW, host.clock_skew(cursor))
    for table, rows in partitions.rows_without_month().items():
        yield Reading(metrics.DEFAULT_ROWS, rows, (table,))


def _broker() -> Iterator[Reading]:
    try:
        with valkey.connect() as client:
            memory, saving = client.info("memory"), client.info("persistence")
    except valkey.ERRORS:
        yield Reading(metrics.BROKER_UP, 0)
        return
    yield Reading(metrics.BROKER_UP, 1)
    yield Reading(metrics.BROKER_MEMORY, memory["used_memory"])
    yield Reading(metrics.BROKER_SAVES, valkey.can_save(saving))
    if memory["maxmemory"]:
        yield Reading(metrics.BROKER_MEMORY_LIMIT, memory["maxmemory"])
