"""The relay: dispatches due jobs to Celery, and takes back those whose worker is gone."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import Error, connection
from kombu.exceptions import OperationalError

from chatplatform.jobs import heartbeat, leases
from chatplatform.jobs.freezing import MAY_RUN
from chatplatform.jobs.registry import CHANNEL, declared
from chatplatform.jobs.stop_event import Stop
from chatplatform.live import pubsub, valkey
from chatplatform.models import Job, JobState
from chatplatform.observing import metrics

log = logging.getLogger(__name__)
# Between two looks: for a second after a job; while jobs are with the broker or with a worker; and
# at most while nobody signals another one.
POLL_SECONDS, BUSY_SECONDS, WATCH_SECONDS, IDLE_SECONDS = 0.02, 1.0, 1.0, 5.0
# A look at ten thousand waiting jobs takes tens of milliseconds. If it found no room in the broker,
# the next one is so many times as far away as it took; not so far that the heartbeat expires.
LOOKS_APART, LONGEST_PAUSE_SECONDS = 4, 10.0
SWEEP_SECONDS = 1.0
DATABASE_PAUSE_SECONDS = 1.0
BROKER_PAUSE_SECONDS = 0.5


# So many jobs of a queue wait in the broker, where nobody can overtake them. The others wait in the
# table, where the clients take turns: behind ten thousand jobs of one client another's is the next.
JOBS_IN_BROKER = 32

# In a rolling deploy a job of a newer release, also one whose worker is gone, is left to that
# release's relay; the alert JobsWait tells of one that no release knows.
_IS_KNOWN = "name = ANY(%(names)s::text[])"
# For a job `j` that a worker could run now: the oldest unfinished one of its ordering key, or one
# without a key.
# The oldest of all keys are found at once: a look for older ones job by job took seconds behind
# thousands of jobs of one key, and jobs of all clients waited for it.
IS_DUE = f"""j.state = 'queued' AND j.due_at <= statement_timestamp() AND {MAY_RUN}
      AND (j.ordering_key IS NULL OR j.id IN (
           SELECT min(o.id) FROM chatplatform_job o
           WHERE o.state IN ('queued', 'running') AND o.ordering_key IS NOT NULL
           GROUP BY o.ordering_key))"""
# For a job whose worker is gone.
IS_LOST = "state = 'running' AND lease_until < statement_timestamp()"

# Due jobs whose names are known; dispatched again if the message seems lost: after 10 s, 20 s,
# 40 s, …
# An array is made once; a planner with old statistics ran a subquery with its locks for each row.
_IN_BROKER = "dispatched_at >= statement_timestamp() - interval '5 seconds' * (2 ^ dispatches)"
_DUE = f"""
WITH due AS (
    SELECT j.id, j.client_id, j.due_at, j.priority, q.queue,
        COALESCE({_IN_BROKER}, false) AS is_in_broker
    FROM chatplatform_job j
    JOIN unnest(%(names)s::text[], %(queues)s::text[]) AS q(name, queue) USING (name)
    WHERE {IS_DUE}),
turns AS (
    SELECT *, row_number() OVER (
        PARTITION BY queue, client_id ORDER BY is_in_broker DESC, priority,
            CASE WHEN %(newest_first)s THEN -id END, due_at, id) AS turn
    FROM due),
places AS (
    SELECT *, row_number() OVER (
        PARTITION BY queue ORDER BY is_in_broker DESC, turn, due_at, id) AS place
    FROM turns)
UPDATE chatplatform_job SET dispatched_at = statement_timestamp(),
    dispatches = LEAST(dispatches + 1, 8)
WHERE id = ANY(ARRAY(
    SELECT id FROM chatplatform_job
    WHERE id = ANY(ARRAY(
        SELECT id FROM places WHERE NOT is_in_broker AND place <= %(most)s
        ORDER BY turn, due_at LIMIT %(limit)s))
      AND state = 'queued' AND ({_IN_BROKER}) IS NOT TRUE
    FOR UPDATE SKIP LOCKED))
RETURNING id, name, CASE WHEN dispatches = 1 AND ordering_key IS NULL
    THEN extract(epoch FROM statement_timestamp() - due_at)::float8 END
"""


# Those that wait for an older one of their ordering key are due already.
_NEXT_DUE = f"""
SELECT extract(epoch FROM min(due_at) - statement_timestamp())::float8,
    EXISTS (SELECT FROM chatplatform_job WHERE state = 'running')
    OR EXISTS (SELECT FROM chatplatform_job WHERE state = 'queued' AND dispatched_at IS NOT NULL)
FROM chatplatform_job j
WHERE state = 'queued' AND dispatched_at IS NULL AND {_IS_KNOWN} AND {MAY_RUN}
"""
_LOST = f"""
SELECT id FROM chatplatform_job WHERE {IS_LOST} AND {_IS_KNOWN} ORDER BY lease_until LIMIT 500
"""


def take_due(limit: int = 200, *, newest_first: bool = False) -> list[tuple[int, str]]:
    """Mark up to `limit` due jobs as dispatched and return their ids and names.

    The clients take turns; of the lightest of each the oldest comes first, or the newest. Of each
    queue at most `JOBS_IN_BROKER` are dispatched and not taken yet.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DUE, due_values(limit, newest_first=newest_first))
        rows = cursor.fetchall()
    for _, _, seconds in rows:
        # A job with an ordering key may have waited for another one, not for the relay.
        if seconds is not None:
            metrics.RELAY_SECONDS.observe(seconds)
    return [(job_id, name) for job_id, name, _ in rows]


def due_values(limit: int, *, newest_first: bool = False) -> dict[str, Any]:
    """What the statement for due jobs is told: the queue of each job, the order, the limits."""
    return {
        "names": list(declared),
        "queues": [str(declaration.queue) for declaration in declared.values()],
        "most": JOBS_IN_BROKER,
        "limit": limit,
        "newest_first": newest_first,
    }


def seconds_to_next() -> float:
    """How long to wait before the next look, if no job is signalled meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_DUE, {"names": list(declared)})
        seconds, is_watching = cursor.fetchone()
    longest = WATCH_SECONDS if is_watching else IDLE_SECONDS
    return longest if seconds is None else min(max(seconds, POLL_SECONDS), longest)


def forget_dispatches() -> int:
    """The broker lost its memory: all queued jobs are to be dispatched again."""
    dispatched = Job.objects.filter(state=JobState.QUEUED, dispatched_at__isnull=False)
    return dispatched.update(dispatched_at=None, dispatches=0)


def sweep(before_each: Callable[[], None] = lambda: None) -> int:
    """Take back jobs whose worker is gone; those that have killed too many workers end dead.

    At most 500; `before_each` is called before each. Returns how many there were. Raises the
    error of a database that is away.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOST, {"names": list(declared)})
        lost = [row[0] for row in cursor.fetchall()]
    for job_id in lost:
        before_each()
        try:
            leases.take_back(job_id)
        except Exception as exc:
            if isinstance(exc, Error) and not connection.is_usable():
                raise
            # One failure must not keep the other jobs from their workers.
            log.exception("job %s could not be taken back", job_id)
    return len(lost)


class Relay:
    """One relay. Any number may run; each row is dispatched by one of them."""

    def __init__(self) -> None:
        self._swept_at = 0.0
        self._newest_first = False
        self._broker = valkey.connect(timeout_seconds=2)
        self._broker_run_id = ""
        self._heartbeat = heartbeat.Heartbeat("relay")

    def run(self, stop: Stop) -> None:
        """Dispatch until `stop` is set; a batch that has begun is finished."""
        signalled, busy_at = threading.Event(), 0.0
        stop.wakes(signalled)
        pubsub.set_on_signal(signalled, CHANNEL)
        while True:
            signalled.clear()
            if stop.is_set():
                return
            self._heartbeat.write_if_due()
            began = time.monotonic()
            try:
                if self.tick():
                    busy_at = time.monotonic()
                    continue
                now = time.monotonic()
                pause = min(LOOKS_APART * (now - began), LONGEST_PAUSE_SECONDS)
                if now - busy_at < BUSY_SECONDS:
                    stop.wait(max(POLL_SECONDS, pause))
                else:
                    signalled.wait(max(seconds_to_next(), pause))
            except Error as exc:
                log.warning("the database is away, trying again: %s", exc)
                connection.close()
                stop.wait(DATABASE_PAUSE_SECONDS)

    def tick(self) -> bool:
        """Dispatch one batch of due jobs; False if there was none."""
        if time.monotonic() - self._swept_at > SWEEP_SECONDS:
            # Hundreds of lost jobs take longer than a heartbeat lasts.
            sweep(self._heartbeat.write_if_due)
            self._check_broker()
            self._swept_at = time.monotonic()
        # Whoever writes while a thousand others wait is answered soon, and so are those in the end.
        self._newest_first = not self._newest_first
        due = take_due(newest_first=self._newest_first)
        for job_id, name in due:
            self._dispatch(job_id, name)
        return bool(due)

    def _dispatch(self, job_id: int, name: str) -> None:
        # A batch that meets a silent broker takes minutes.
        self._heartbeat.write_if_due()
        declaration = declared[name]
        try:
            queue = str(declaration.queue)
            declaration.task.apply_async(kwargs={"job_id": job_id}, queue=queue, retry=False)
        except (OperationalError, *valkey.ERRORS) as exc:
            # The row stays due: it is dispatched again when the broker is back.
            log.warning("the broker is away, job %s waits: %s", job_id, exc)
            time.sleep(BROKER_PAUSE_SECONDS)

    def _check_broker(self) -> None:
        """A restarted broker may have lost every message: then all queued jobs are sent again."""
        try:
            run_id = str(self._broker.info("server")["run_id"])
        except valkey.ERRORS as exc:
            log.warning("the broker does not answer: %s", exc)
            return
        if self._broker_run_id and run_id != self._broker_run_id:
            count = forget_dispatches()
            log.warning("the broker was restarted: %s jobs are dispatched again", count)
        self._broker_run_id = run_id
