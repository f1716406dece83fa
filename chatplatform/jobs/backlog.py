"""How the platform's jobs, its database and its broker stand, for the metrics."""

from collections.abc import Iterator
from typing import Any

from django.db import Error, connection

from chatplatform import valkey
from chatplatform.jobs.registry import declared
from chatplatform.observing import metrics
from chatplatform.observing.metrics import Reading, Readings

# Finished jobs are kept for a week, so they are never counted: each part has its own small index.
_JOBS = """
SELECT name, state, count(*) FROM chatplatform_job
WHERE state IN ('queued', 'running') GROUP BY name, state
UNION ALL
SELECT name, state, count(*) FROM chatplatform_job WHERE state = 'dead' GROUP BY name, state
"""
_OLDEST = """
SELECT name, extract(epoch FROM statement_timestamp() - min(due_at))::float8
FROM chatplatform_job WHERE state = 'queued' AND due_at <= statement_timestamp() GROUP BY name
"""
# PostgreSQL shows the state of another role's connections to nobody.
_CONNECTIONS = """
SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity
WHERE datname = current_database() GROUP BY 1
"""


def read() -> Readings:
    """Jobs, connections and the broker; without the rest if one of them does not answer."""
    try:
        with connection.cursor() as cursor:
            found = [*_jobs(cursor), *_connections(cursor)]
    except Error:
        found = [Reading(metrics.DATABASE_UP, 0)]
    finally:
        connection.close()  # this thread's own
    yield from found
    yield from _broker()


def _jobs(cursor: Any) -> Iterator[Reading]:
    cursor.execute(_JOBS)
    for name, state, count in cursor.fetchall():
        yield Reading(metrics.JOBS, count, (_queue(name), name, state))
    oldest = dict.fromkeys(sorted({str(job.queue) for job in declared.values()}), 0.0)
    cursor.execute(_OLDEST)
    for name, seconds in cursor.fetchall():
        oldest[_queue(name)] = max(oldest.get(_queue(name), 0.0), seconds)
    for queue, seconds in oldest.items():
        yield Reading(metrics.JOB_OLDEST, seconds, (queue,))


def _queue(name: str) -> str:
    """A job's queue; of one that this release does not declare nobody knows it."""
    return str(declared[name].queue) if name in declared else "unknown"


def _connections(cursor: Any) -> Iterator[Reading]:
    yield Reading(metrics.DATABASE_UP, 1)
    cursor.execute(_CONNECTIONS)
    for state, count in cursor.fetchall():
        yield Reading(metrics.CONNECTIONS, count, (state,))
    cursor.execute("SELECT current_setting('max_connections')::int")
    yield Reading(metrics.CONNECTION_LIMIT, cursor.fetchone()[0])


def _broker() -> Iterator[Reading]:
    try:
        with valkey.connect() as client:
            memory = client.info("memory")
    except valkey.ERRORS:
        yield Reading(metrics.BROKER_UP, 0)
        return
    yield Reading(metrics.BROKER_UP, 1)
    yield Reading(metrics.BROKER_MEMORY, memory["used_memory"])
    if memory["maxmemory"]:
        yield Reading(metrics.BROKER_MEMORY_LIMIT, memory["maxmemory"])
