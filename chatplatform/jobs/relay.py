"""The relay dispatches due jobs to Celery, and requeues jobs whose worker is gone."""

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from django.conf import settings
from django.db import Error, connection
from kombu.exceptions import OperationalError

from chatplatform.jobs import heartbeat, leases, worker_locks
from chatplatform.jobs.frozen_clients import MAY_RUN
from chatplatform.jobs.registry import CHANNEL, Queue, declared
from chatplatform.jobs.stop_event import Stop
from chatplatform.live import pubsub, valkey
from chatplatform.models import Job, JobState
from chatplatform.observing import metrics, outage_logging
from chatplatform.sql import fetch_row, fetch_rows

log = logging.getLogger(__name__)
# Pauses between two polls; a signal ends them early. POLL_SECONDS: while due jobs wait for a place
# in the broker or for an older job of their ordering key. WATCH_SECONDS: the maximum while jobs are
# in the broker or running. IDLE_SECONDS: the maximum otherwise.
POLL_SECONDS, WATCH_SECONDS, IDLE_SECONDS = 0.02, 1.0, 5.0
# A poll over ten thousand waiting jobs takes tens of milliseconds. The relay then pauses for
# PAUSE_FACTOR times the poll's duration, and no signal ends this pause. So jobs that arrive during
# the pause are dispatched together, and a flood of signals costs at most a fifth of a core, except
# where the maximum shortens the pause. The maximum is POLL_SECONDS after a poll that
# dispatched jobs, else MAX_PAUSE_SECONDS. It exists because one slow poll, for example while the
# database stalls, must not cause a long pause.
PAUSE_FACTOR, MAX_PAUSE_SECONDS = 4, 2.0
SWEEP_SECONDS = 1.0
DATABASE_PAUSE_SECONDS = 1.0
BROKER_PAUSE_SECONDS = 0.5


# At most this many jobs of a queue wait in the broker, where their order is fixed. The others wait
# in the table, where clients take turns: one client's job can overtake ten thousand of another.
JOBS_IN_BROKER = 32
# The maximum number of jobs of one client that wait in the broker or run, by queue; it is
# multiplied by `REPLY_WORKERS`. A worker's sixteen threads serve the first three queues, and four
# threads serve the fourth: some threads stay free for other clients, however long these jobs take.
# One job with a priority below 0 may exceed the limit.
CLIENT_JOBS = {
    Queue.REPLY: 8, Queue.CHANNEL: 4, Queue.INSIGHT: 3, Queue.WEBHOOK: 2, Queue.TRAIN: 8,
    Queue.EXPORT: 8,
}  # fmt: skip

# During a rolling deploy, a newer release's relay handles the jobs that only it declares. The alert
# JobsWait reports a job that no release declares.
_IS_KNOWN = "name = ANY(%(names)s::text[])"
# A condition on the job `j`: a worker could run it now. It has no ordering key, or is the oldest
# unfinished job of its key.
# One subquery finds the oldest jobs of all keys: with thousands of jobs of one key, a lookup for
# each job took seconds and delayed the jobs of all clients.
IS_DUE = f"""j.state = 'queued' AND j.due_at <= statement_timestamp() AND {MAY_RUN}
      AND (j.ordering_key IS NULL OR j.id IN (
           SELECT min(o.id) FROM chatplatform_job o
           WHERE o.state IN ('queued', 'running') AND o.ordering_key IS NOT NULL
           GROUP BY o.ordering_key))"""
# A condition on a job: its lease has ended, so its worker may be gone.
IS_LOST = "state = 'running' AND lease_until < statement_timestamp()"

# A condition on a job: its message may still be in the broker. It counts as lost 10 s after the
# first dispatch, 20 s after the second, then 40 s, …
_IN_BROKER = "dispatched_at >= statement_timestamp() - interval '5 seconds' * (2 ^ dispatches)"
# Dispatches due jobs with known names, again if their messages seem lost. ARRAY() is evaluated
# once; with old statistics the planner ran a locking subquery for each row.
_DUE = f"""
WITH known AS (
    SELECT * FROM unnest(%(names)s::text[], %(queues)s::text[], %(most_of_client)s::int[])
        AS q(name, queue, most_of_client)),
running AS MATERIALIZED (
    SELECT q.queue, j.client_id, count(*) AS jobs
    FROM chatplatform_job j JOIN known q USING (name)
    WHERE j.state = 'running' AND j.client_id IS NOT NULL GROUP BY q.queue, j.client_id),
due AS (
    SELECT j.id, j.client_id, j.due_at, j.priority, q.queue, q.most_of_client,
        COALESCE({_IN_BROKER}, false) AS is_in_broker
    FROM chatplatform_job j JOIN known q USING (name)
    WHERE {IS_DUE}),
turns AS (
    SELECT *, row_number() OVER (
        PARTITION BY queue, client_id
        ORDER BY is_in_broker DESC, priority,
          CASE WHEN %(newest_first)s AND queue = '{Queue.CHANNEL}' THEN -id END, due_at, id) AS turn
    FROM due),
places AS (
    SELECT *, row_number() OVER (
        PARTITION BY queue ORDER BY is_in_broker DESC, turn, due_at, id) AS place
    FROM turns LEFT JOIN running USING (queue, client_id)
    WHERE is_in_broker
        OR turn + COALESCE(running.jobs, 0) <= most_of_client + (priority < 0)::int)
UPDATE chatplatform_job SET dispatched_at = statement_timestamp(),
    dispatches = LEAST(dispatches + 1, 8)
WHERE id = ANY(ARRAY(
    SELECT id FROM chatplatform_job
    WHERE id = ANY(ARRAY(
        SELECT id FROM places WHERE NOT is_in_broker AND place <= %(most)s))
      AND state = 'queued' AND ({_IN_BROKER}) IS NOT TRUE
    FOR UPDATE SKIP LOCKED))
RETURNING id, name, CASE WHEN dispatches = 1 AND ordering_key IS NULL
    THEN extract(epoch FROM statement_timestamp() - due_at)::float8 END
"""


# Jobs that wait for an older job of their ordering key count as due too.
_NEXT_DUE = f"""
SELECT extract(epoch FROM min(due_at) - statement_timestamp())::float8,
    EXISTS (SELECT FROM chatplatform_job WHERE state = 'running')
    OR EXISTS (SELECT FROM chatplatform_job WHERE state = 'queued' AND dispatched_at IS NOT NULL)
FROM chatplatform_job j
WHERE state = 'queued' AND dispatched_at IS NULL AND {_IS_KNOWN} AND {MAY_RUN}
"""
_LOST = f"""
SELECT id FROM chatplatform_job
WHERE ({IS_LOST} OR state = 'running' AND lease_holder = ANY(%(dead)s)) AND {_IS_KNOWN}
ORDER BY lease_until LIMIT 500
"""


def take_due(*, newest_first: bool = False) -> list[tuple[int, str]]:
    """Mark due jobs as dispatched and return their ids and names.

    Clients take turns. A client's jobs are ordered by priority, then by age: the oldest first, or
    the newest first in the queue `channel` if `newest_first`. At most `JOBS_IN_BROKER` jobs of a
    queue are dispatched and not yet claimed. Per client and queue, at most `CLIENT_JOBS` are
    dispatched or running.
    """
    rows = fetch_rows(_DUE, due_values(newest_first=newest_first))
    for _, _, seconds in rows:
        # A job with an ordering key may have waited for another one, not for the relay.
        if seconds is not None:
            metrics.RELAY_SECONDS.observe(seconds)
    return [(job_id, name) for job_id, name, _ in rows]


def due_values(*, newest_first: bool = False) -> dict[str, Any]:
    """The parameters of the statement for due jobs: queues, order and limits."""
    queues = [declaration.queue for declaration in declared.values()]
    return {
        "names": list(declared),
        "queues": [str(queue) for queue in queues],
        "most": JOBS_IN_BROKER,
        "most_of_client": [CLIENT_JOBS[queue] * settings.REPLY_WORKERS for queue in queues],
        "newest_first": newest_first,
    }


def seconds_to_next() -> float:
    """Seconds until the next poll, unless a signal comes first."""
    seconds, is_watching = fetch_row(_NEXT_DUE, {"names": list(declared)})
    longest = WATCH_SECONDS if is_watching else IDLE_SECONDS
    return longest if seconds is None else min(max(seconds, POLL_SECONDS), longest)


def reset_dispatches() -> int:
    """Mark dispatched jobs that are still queued as not dispatched; return the number of jobs.

    Called when the broker or a crashed worker may have lost messages. A job that is dispatched
    twice is claimed only once.
    """
    dispatched = Job.objects.filter(state=JobState.QUEUED, dispatched_at__isnull=False)
    return dispatched.update(dispatched_at=None, dispatches=0)


def sweep(before_each: Callable[[], None] = lambda: None, *, dead: Collection[int] = ()) -> int:
    """Requeue up to 500 jobs whose worker is gone; jobs that crash workers become dead.

    A worker may be gone if its leases have ended, or if the number of its lock is among `dead`.
    `before_each` is called before each job. Returns the number of jobs found; raises a database
    error if the database is unavailable.
    """
    lost_ids = [row[0] for row in fetch_rows(_LOST, {"names": list(declared), "dead": list(dead)})]
    for job_id in lost_ids:
        before_each()
        try:
            leases.requeue_lost(job_id)
        except Exception as exc:
            if isinstance(exc, Error) and not connection.is_usable():
                raise
            # One failure must not hold up the other jobs.
            log.exception("job %s could not be requeued", job_id)
    return len(lost_ids)


class Relay:
    """The loop of a relay. Any number of relays may run, since each job is dispatched by only one
    of them."""

    def __init__(self) -> None:
        self._swept_at = self._polled_at = 0.0
        self._gone = set[int]()
        self._newest_first = False
        self._broker = valkey.connect(timeout_seconds=2)
        self._broker_run_id = ""
        self._heartbeat = heartbeat.Heartbeat("relay")

    def run(self, stop: Stop) -> None:
        """Dispatch until `stop` is set; a started batch is finished."""
        signalled = threading.Event()
        stop.wakes(signalled)
        pubsub.set_on_signal(signalled, CHANNEL)
        while True:
            signalled.clear()
            if stop.is_set():
                return
            self._heartbeat.write_if_due()
            try:
                dispatched = self.tick()
                outage_logging.report_recovery("database")
                longest = POLL_SECONDS if dispatched else MAX_PAUSE_SECONDS
                spent = time.monotonic() - self._polled_at
                stop.wait(min(PAUSE_FACTOR * spent, longest))
                if not signalled.is_set():
                    signalled.wait(seconds_to_next())
            except Error as exc:
                log.warning("the database is unavailable, trying again: %s", exc)
                connection.close()
                stop.wait(DATABASE_PAUSE_SECONDS)

    def tick(self) -> int:
        """Dispatch the jobs that are due; returns their number."""
        if time.monotonic() - self._swept_at > SWEEP_SECONDS:
            self._sweep()
            self._check_broker()
            self._swept_at = time.monotonic()
        # Polls that take the newest channel messages first alternate with polls that take the
        # oldest first: if a thousand customers wait, both the newest and the oldest get replies.
        self._newest_first = not self._newest_first
        self._polled_at = time.monotonic()
        due = take_due(newest_first=self._newest_first)
        for job_id, name in due:
            self._dispatch(job_id, name)
        return len(due)

    def _sweep(self) -> None:
        gone = worker_locks.find_gone_workers()
        # A worker counts as gone if two sweeps in a row find its lock free: after a restart of the
        # database, live workers hold their locks again before the second sweep.
        dead, self._gone = gone & self._gone, gone
        # Requeueing hundreds of jobs can take longer than a heartbeat is valid.
        sweep(self._heartbeat.write_if_due, dead=dead)
        if dead:
            reset_dispatches()

    def _dispatch(self, job_id: int, name: str) -> None:
        # If the broker does not respond, a batch takes minutes, longer than a heartbeat is valid.
        self._heartbeat.write_if_due()
        declaration = declared[name]
        try:
            queue = str(declaration.queue)
            declaration.task.apply_async(kwargs={"job_id": job_id}, queue=queue, retry=False)
        except (OperationalError, *valkey.ERRORS) as exc:
            # The row stays due: it is dispatched again when the broker is back.
            log.warning("the broker is unavailable, job %s waits: %s", job_id, exc)
            time.sleep(BROKER_PAUSE_SECONDS)

    def _check_broker(self) -> None:
        """Dispatch all queued jobs again after a restart of the broker, which may lose messages."""
        try:
            run_id = str(self._broker.info("server")["run_id"])
        except valkey.ERRORS as exc:
            log.warning("the broker does not respond: %s", exc)
            return
        if self._broker_run_id and run_id != self._broker_run_id:
            count = reset_dispatches()
            log.warning("the broker was restarted: %s jobs are dispatched again", count)
        self._broker_run_id = run_id
