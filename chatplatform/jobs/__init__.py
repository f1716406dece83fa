"""Jobs: rows in PostgreSQL are the truth, Celery carries hints to them.

`enqueue()` writes a row in the caller's transaction. The relay hands due rows to Celery. A worker
claims its row by a lease, renews the lease while it works outside any transaction, and finishes
only where the lease is still its own. A lost hint is late, a lost worker is late; nothing is lost.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, ParamSpec, TypeVar

import orjson
from celery import shared_task
from django.conf import settings
from django.db import (
    Error,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)

from chatplatform.api.encoding import as_json
from chatplatform.api.request_context import current_request_id
from chatplatform.models import Job, JobState

log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")


class Queue(StrEnum):
    """Which workers run a job."""

    REPLY = "reply"  # a customer waits for it: seconds matter
    CHANNEL = "channel"  # sends to messaging providers: waits on their servers
    WEBHOOK = "webhook"  # deliveries: a slow receiver must not slow replies
    INSIGHT = "insight"  # summaries, tags, sentiment: nobody waits
    TRAIN = "train"  # files, hostile ones and heavy CPU: child processes with limits
    EXPORT = "export"  # long reads


class GiveUp(Exception):
    """Raised by a job that no retry can help: it ends dead at once, with this reason."""


class LeaseLost(Exception):
    """Somebody else has this job now: throw the result away."""


@dataclass(frozen=True)
class Declared:
    """A job as `@job` declares it."""

    run: Callable[..., None]
    queue: Queue
    max_attempts: int
    task: Any
    on_dead: Callable[..., None] | None


@dataclass(frozen=True)
class Lease:
    """The right to finish one job; ends when it is not renewed."""

    job_id: int
    token: uuid.UUID
    name: str
    args: dict[str, Any]
    attempts: int
    ordering_key: str | None


NO_WAIT = timedelta(0)
# How long a claim tries again while the database is away, and its pause in between.
CLAIM_SECONDS, CLAIM_PAUSE_SECONDS = 5.0, 0.2
_declared: dict[str, Declared] = {}
_current: ContextVar[Lease | None] = ContextVar("lease", default=None)


def job(
    name: str,
    *,
    queue: Queue,
    max_attempts: int = 5,
    on_dead: Callable[..., None] | None = None,
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare a function as the job `name`. It takes ids by keyword and may run twice.

    A raised exception retries it with growing waits, up to `max_attempts`; `on_dead` is called
    with the same arguments when no attempt is left, so that nobody waits in vain.
    """

    def declare(run: Callable[P, None]) -> Callable[P, None]:
        task = shared_task(name=name)(_dispatched)
        _declared[name] = Declared(run, queue, max_attempts, task, on_dead)
        return run

    return declare


def declared_jobs() -> dict[str, Declared]:
    """Every declared job by its name."""
    return dict(_declared)


_ENQUEUE = """
INSERT INTO chatplatform_job
    (client_id, name, dedupe_key, ordering_key, args, due_at, trace_id, state, progress, last_error)
VALUES (%(client)s::bigint, %(name)s, %(dedupe_key)s, %(ordering_key)s, %(args)s::jsonb,
    statement_timestamp() + make_interval(secs => %(wait)s), %(trace_id)s, 'queued', 0, '')
ON CONFLICT (name, dedupe_key) WHERE state = 'queued' DO NOTHING
"""


def enqueue(
    name: str,
    *,
    client_id: int | None,
    dedupe_key: str | None = None,
    ordering_key: str | None = None,
    wait: timedelta = NO_WAIT,
    **args: Any,
) -> None:
    """Write a job row in the caller's transaction.

    It is due after `wait`. `dedupe_key` makes a second request for the same waiting work a no-op.
    Jobs of one `ordering_key` run one after the other, in the order of their rows: lock the subject
    of the key while adding.
    """
    row = {
        "client": client_id,
        "name": name,
        "dedupe_key": dedupe_key,
        "ordering_key": ordering_key,
        "args": as_json(args).decode(),
        "wait": wait.total_seconds(),
        "trace_id": current_request_id(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_ENQUEUE, row)


_WAITING = """
SELECT id, args FROM chatplatform_job
WHERE name = %s AND ordering_key = %s AND state = 'queued' AND attempts = 0
ORDER BY id DESC LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_POSTPONE = """
UPDATE chatplatform_job SET args = %s::jsonb, dispatched_at = NULL, dispatches = 0,
    due_at = LEAST(statement_timestamp() + make_interval(secs => %s),
                   created_at + make_interval(secs => %s))
WHERE id = %s
"""


def postpone(
    name: str,
    *,
    ordering_key: str,
    wait: timedelta,
    at_most: timedelta,
    change: Callable[[dict[str, Any]], dict[str, Any]],
) -> bool:
    """Let the waiting job `name` of an ordering key wait again, with other arguments.

    False if none waits.

    It is due `wait` from now, and no later than `at_most` after it was asked for. A job that a
    worker has or once had is left alone.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_WAITING, [name, ordering_key])
        row = cursor.fetchone()
        if row is None:
            return False
        job_id, args = row
        changed = as_json(change(_json(args))).decode()
        cursor.execute(_POSTPONE, [changed, wait.total_seconds(), at_most.total_seconds(), job_id])
    return True


def _dispatched(*, job_id: int, **_: object) -> None:
    """What Celery calls: the hint names a row, the row says what to do."""
    run(job_id)


def run(job_id: int) -> bool:
    """Claim and run one job; False where it was not to be had."""
    lease = _claim(job_id)
    if lease is None:
        return False
    token = _current.set(lease)
    _lease_renewer.add(lease)
    try:
        _declared[lease.name].run(**lease.args)
        _finish(lease)
    except LeaseLost:
        log.warning("%s #%s lost its lease; its result was dropped", lease.name, lease.job_id)
    except GiveUp as exc:
        _dead_letter(lease, str(exc))
    except Exception as exc:
        # The edge of the worker: whatever a job raises is kept in its row and tried again.
        log.exception("%s #%s failed (attempt %s)", lease.name, lease.job_id, lease.attempts)
        _retry(lease, f"{type(exc).__name__}: {exc}")
    finally:
        _lease_renewer.remove(lease)
        _current.reset(token)
    return True


_CLAIM = """
UPDATE chatplatform_job AS j
SET state = 'running', attempts = attempts + 1, lease_token = %(token)s,
    lease_until = statement_timestamp() + make_interval(secs => %(lease)s)
WHERE j.id = %(id)s AND j.state = 'queued' AND j.due_at <= statement_timestamp()
  AND NOT EXISTS (SELECT FROM chatplatform_job o
                  WHERE o.ordering_key = j.ordering_key AND o.id < j.id
                    AND o.state IN ('queued', 'running'))
RETURNING j.name, j.args, j.attempts, j.ordering_key
"""


def _claim(job_id: int) -> Lease | None:
    """Tries again while the database is away: a hint that is spent is not given again soon."""
    ends_at = time.monotonic() + CLAIM_SECONDS
    while True:
        try:
            return _try_claim(job_id)
        except (OperationalError, InterfaceError) as exc:
            if time.monotonic() > ends_at:
                raise
            log.warning("job %s could not be claimed, trying again: %s", job_id, exc)
        connection.close()
        time.sleep(CLAIM_PAUSE_SECONDS)


def _try_claim(job_id: int) -> Lease | None:
    token = uuid.uuid4()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                _CLAIM, {"id": job_id, "token": token, "lease": settings.JOB_LEASE_SECONDS}
            )
            row = cursor.fetchone()
    except IntegrityError:  # another job of the ordering key began at the same moment
        return None
    if row is None:
        return None
    name, args, attempts, ordering_key = row
    return Lease(job_id, token, name, _json(args), attempts, ordering_key)


def _json(value: Any) -> dict[str, Any]:
    """A jsonb column of a raw cursor: psycopg hands it to Django as text."""
    found: dict[str, Any] = orjson.loads(value) if isinstance(value, (str, bytes)) else value
    return found


def _mine(lease: Lease) -> Any:
    return Job.objects.filter(pk=lease.job_id, lease_token=lease.token, state=JobState.RUNNING)


@contextmanager
def commit() -> Iterator[None]:
    """The transaction in which a job stores its result, under the lock of its own row.

    Raises `LeaseLost` if another worker has the job by now. Outside a job (in a service that a view
    calls, in `on_dead`) there is no lease to lose: it is a plain transaction.
    """
    with transaction.atomic():
        lease = _current.get()
        if lease and not _mine(lease).select_for_update(no_key=True).exists():
            raise LeaseLost
        yield


def current_attempt() -> int:
    """Which attempt this is, from 1; 0 outside a job."""
    lease = _current.get()
    return lease.attempts if lease else 0


def current_job() -> int | None:
    """The running job's id; None outside a job."""
    lease = _current.get()
    return lease.job_id if lease else None


def report_progress(percent: int) -> None:
    """Progress of the running job, 0..100."""
    lease = _current.get()
    if lease:
        _mine(lease).update(progress=percent)


def _finish(lease: Lease) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE chatplatform_job SET state = 'done', progress = 100,"
            " finished_at = statement_timestamp(), lease_until = NULL, last_error = ''"
            " WHERE id = %s AND lease_token = %s"
            " AND state = 'running'",
            [lease.job_id, lease.token],
        )


def _limit(job_row: Job) -> int:
    declared = _declared.get(job_row.name)
    return job_row.max_attempts or (declared.max_attempts if declared else 5)


def _retry(lease: Lease, error: str) -> None:
    row = Job.objects.get(pk=lease.job_id)
    if lease.attempts >= _limit(row):
        _dead_letter(lease, error)
        return
    wait = min(2.0 ** (lease.attempts - 1), 60.0)
    _requeue(lease.job_id, lease.token, wait, error)


_REQUEUE = """
UPDATE chatplatform_job SET state = 'queued', lease_token = NULL, lease_until = NULL,
    dispatched_at = NULL, dispatches = 0,
    due_at = statement_timestamp() + make_interval(secs => %s), last_error = %s
WHERE id = %s AND lease_token = %s AND state = 'running'
"""


def _requeue(job_id: int, token: uuid.UUID, wait_seconds: float, error: str) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_REQUEUE, [wait_seconds, error[:2000], job_id, token])
    except IntegrityError:
        # The same work was asked for again meanwhile: that request covers this one.
        Job.objects.filter(pk=job_id, lease_token=token).update(
            state=JobState.DONE, last_error=error[:2000]
        )


def _dead_letter(lease: Lease, reason: str) -> None:
    """No attempt is left: say so in the row, and let the job's owner tell whoever waits."""
    declared = _declared.get(lease.name)
    with transaction.atomic():
        buried = _mine(lease).update(
            state=JobState.DEAD, lease_until=None, last_error=reason[:2000]
        )
        if not (buried and declared and declared.on_dead):
            return
        token = _current.set(None)
        try:
            with transaction.atomic():
                declared.on_dead(**lease.args)
        except Exception as exc:
            # Dead all the same: a row that stays `running` would block its ordering key for ever.
            log.exception("%s #%s is dead, and on_dead failed", lease.name, lease.job_id)
            said = f"{reason[:1000]} (on_dead failed: {type(exc).__name__}: {exc})"
            Job.objects.filter(pk=lease.job_id).update(last_error=said[:2000])
        finally:
            _current.reset(token)


_RETURN_TO_QUEUE = """
UPDATE chatplatform_job SET attempts = greatest(attempts - 1, 0)
WHERE id = %s AND state = 'running' RETURNING lease_token
"""


def return_to_queue(job_ids: list[int]) -> None:
    """A worker that is told to stop cuts these: others take them at once, as if never begun.

    A worker that dies says nothing, so a job that kills its workers has its attempts counted.
    """
    for job_id in job_ids:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_RETURN_TO_QUEUE, [job_id])
            for (token,) in cursor.fetchall():
                _requeue(job_id, token, 0, "The worker was stopped.")


def requeue_dead(job_row: Job) -> bool:
    """Try a dead job again, by hand."""
    return bool(
        Job.objects.filter(pk=job_row.pk, state=JobState.DEAD).update(
            state=JobState.QUEUED, attempts=0, dispatched_at=None, dispatches=0
        )
    )


class LeaseRenewer(threading.Thread):
    """Renews the leases of this process's running jobs, all in one statement."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="lease-keeper")
        self._held: dict[uuid.UUID, Lease] = {}
        self._lock = threading.Lock()

    def add(self, lease: Lease) -> None:
        global _lease_renewer  # noqa: PLW0603 - a forked child needs a thread of its own
        with self._lock:
            self._held[lease.token] = lease
            if not self.is_alive():
                if self.ident is not None:
                    _lease_renewer = LeaseRenewer()
                    _lease_renewer.add(lease)
                    return
                self.start()

    def remove(self, lease: Lease) -> None:
        with self._lock:
            self._held.pop(lease.token, None)

    def run(self) -> None:
        while True:
            time.sleep(settings.JOB_LEASE_SECONDS / 3)
            with self._lock:
                tokens = list(self._held)
            if not tokens:
                continue
            try:
                _renew(tokens)
            except Error as exc:
                # A database away for a moment: the next round renews, or the leases end.
                log.warning("leases could not be renewed: %s", exc)
            finally:
                connection.close()  # one every few seconds; none is left behind when all is done


# A row that is locked is being committed: the other leases do not wait for it.
_RENEW = """
UPDATE chatplatform_job SET lease_until = statement_timestamp() + make_interval(secs => %s)
WHERE id IN (SELECT id FROM chatplatform_job WHERE lease_token = ANY(%s) AND state = 'running'
             FOR NO KEY UPDATE SKIP LOCKED)
"""


def _renew(tokens: list[uuid.UUID]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, [settings.JOB_LEASE_SECONDS, tokens])


_lease_renewer = LeaseRenewer()

# The oldest unfinished job of each ordering key, and any job without one; dispatched again if the
# message seems lost: after 10 s, 20 s, 40 s, …
_DUE = """
UPDATE chatplatform_job SET dispatched_at = statement_timestamp(),
    dispatches = LEAST(dispatches + 1, 8)
WHERE id IN (
    SELECT j.id FROM chatplatform_job j
    WHERE j.state = 'queued' AND j.due_at <= statement_timestamp()
      AND (j.dispatched_at IS NULL
           OR j.dispatched_at < statement_timestamp() - interval '5 seconds' * (2 ^ j.dispatches))
      AND (j.ordering_key IS NULL OR NOT EXISTS (
           SELECT FROM chatplatform_job o WHERE o.ordering_key = j.ordering_key AND o.id < j.id
             AND o.state IN ('queued', 'running')))
    ORDER BY j.due_at LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING id, name
"""


def take_due(limit: int = 200) -> list[tuple[int, str]]:
    """Mark up to `limit` due jobs as hinted and return their ids and names."""
    with connection.cursor() as cursor:
        cursor.execute(_DUE, [limit])
        return list(cursor.fetchall())


def forget_dispatches() -> int:
    """The broker lost its memory: hint everything that waits again."""
    return Job.objects.filter(state=JobState.QUEUED, dispatched_at__isnull=False).update(
        dispatched_at=None, dispatches=0
    )


def sweep() -> int:
    """Take back jobs whose worker is gone; bury those that have killed too many workers."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM chatplatform_job"
            " WHERE state = 'running' AND lease_until < statement_timestamp()"
            " ORDER BY lease_until LIMIT 500"
        )
        expired = [row[0] for row in cursor.fetchall()]
    for job_row in Job.objects.filter(pk__in=expired, state=JobState.RUNNING):
        try:
            _take_back(job_row)
        except Exception:
            # One that cannot be buried must not keep the others from their workers.
            log.exception("%s #%s could not be taken back", job_row.name, job_row.pk)
    return len(expired)


def _take_back(job_row: Job) -> None:
    assert job_row.lease_token
    reason = "The worker stopped without finishing."
    if job_row.attempts >= _limit(job_row):
        lease = Lease(
            job_row.pk, job_row.lease_token, job_row.name, job_row.args, job_row.attempts, None
        )
        _dead_letter(lease, reason)
    else:
        _requeue(job_row.pk, job_row.lease_token, 0, reason)
