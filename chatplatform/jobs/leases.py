"""Leases: a worker's right to run a job, from the claim to the job's end."""

import functools
import inspect
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import (
    Error,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)
from django.db.models import Q
from django.db.models.functions import Now

from chatplatform import cpu_slots
from chatplatform.api.request_context import serving
from chatplatform.jobs import lease_renewer, registry, worker_locks, worker_slots
from chatplatform.jobs.frozen_clients import MAY_RUN
from chatplatform.jobs.registry import call_with_known_args, declared
from chatplatform.media_stores import FilesUnavailable
from chatplatform.models import Job, JobState
from chatplatform.observing import metrics, tracing
from chatplatform.sql import execute

log = logging.getLogger(__name__)
# While the database is down, a claim is retried for this long, with this pause in between.
CLAIM_SECONDS, CLAIM_PAUSE_SECONDS = 5.0, 0.2
LONGEST_WAIT_SECONDS = 60.0
# The maximum number of times that a job waits for the file store: 1 s, 2 s, 4 s, … 60 s, which is
# over an hour in total.
MAX_FILE_STORE_WAITS = 66
# A job is requeued if its lease ended this long ago: its process hangs, or has crashed and a
# connection pooler still holds its lock.
HANG_TIMEOUT = timedelta(minutes=10)
# A job becomes dead after this many processes in a row have crashed while they ran it. Two crashes
# may be chance: a host out of memory, somebody's `kill`. A process runs at most one job with two
# crashes (a constraint of the table), so the third crash points to that job.
DEATHS = 3
# The jobs of a crashed process restart this many seconds apart, and four times as far apart after
# a second crash: if they restarted together, one of them could crash the others again.
RESTART_SPACING_SECONDS = 0.5
# How long a job with two crashes waits if this process runs another such job.
SUSPECT_SECONDS = 1.0


class GiveUp(Exception):
    """Raised by a job that no retry can help: it becomes dead at once, with this reason."""


class TryLater(Exception):
    """Raised by a job that has to wait: it runs again after `wait`, by default with the usual
    exponential backoff. The attempt counts."""

    def __init__(self, reason: str, *, wait: timedelta | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class LeaseLost(Exception):
    """Another worker has the job now, so this worker's result is discarded."""


@dataclass(frozen=True)
class Lease:
    """The right to finish one job; it ends unless it is renewed."""

    job_id: int
    token: uuid.UUID
    name: str
    args: dict[str, Any]
    attempts: int
    # The id of the request that enqueued the job; empty if there was none.
    request_id: str = ""
    # How many processes in a row have crashed while they ran the job.
    crashes: int = 0
    # The client that the job belongs to; None for a job of the platform.
    client_id: int | None = None


_current: ContextVar[Lease | None] = ContextVar("lease", default=None)
# Whether the transaction of `commit(ends_job=True)` is open.
_is_ending: ContextVar[bool] = ContextVar("is_ending", default=False)


def run(job_id: int) -> bool:
    """Claim and run one job; False if it cannot be claimed."""
    lease = claim(job_id)
    if lease is None:
        return False
    token = _current.set(lease)
    lease_renewer.add(lease.token)
    try:
        queue = registry.queue_of(lease.name)
        slot = worker_slots.slot_for(lease.client_id, queue)
        with cpu_slots.hold(lease.client_id, queue, slot):
            _run_and_store(lease)
    except Error:
        lease_renewer.release(lease.token)
        raise
    finally:
        lease_renewer.remove(lease.token)
        _current.reset(token)
    return True


def _run_and_store(lease: Lease) -> None:
    """Run a job and store its outcome; raises a database error if that is impossible."""
    started_at = time.monotonic()
    try:
        # Logs, traces and the jobs that this one enqueues carry the request's id.
        with (
            serving(request_id=lease.request_id or "-", address=""),
            tracing.job_span(lease.request_id, lease.name),
        ):
            call_with_known_args(declared[lease.name].run, lease.args)
        _finish(lease)
    except LeaseLost:
        _count(lease, "lost")
        log.warning("%s #%s lost its lease; its result was dropped", lease.name, lease.job_id)
    except GiveUp as exc:
        _dead_letter(lease, str(exc))
    except TryLater as exc:
        _retry(lease, str(exc), exc.wait.total_seconds() if exc.wait else None)
    except FilesUnavailable as exc:
        _wait_for_files(lease, exc)
    except Exception as exc:
        # The outermost handler of a worker: it stores any other exception in the row, so that the
        # job is retried.
        log.exception("%s #%s failed (attempt %s)", lease.name, lease.job_id, lease.attempts)
        _retry(lease, f"{type(exc).__name__}: {exc}")
    finally:
        # The wait for a slot is not measured: it is long for a client with many jobs.
        seconds = time.monotonic() - started_at
        metrics.JOB_SECONDS.observe(seconds, registry.queue_of(lease.name), lease.name)


def _count(lease: Lease, outcome: str) -> None:
    metrics.JOB_RUNS.add(registry.queue_of(lease.name), lease.name, outcome)


_CLAIM = f"""
UPDATE chatplatform_job AS j
SET state = 'running', attempts = LEAST(attempts + 1, 32000), lease_token = %(token)s,
    lease_holder = %(holder)s,
    lease_until = statement_timestamp() + make_interval(secs => %(lease)s)
WHERE j.id = %(id)s AND j.state = 'queued' AND j.due_at <= statement_timestamp()
  AND {MAY_RUN} AND NOT EXISTS (SELECT FROM chatplatform_job o
                  WHERE o.ordering_key = j.ordering_key AND o.id < j.id
                    AND o.state IN ('queued', 'running'))
RETURNING j.client_id, j.name, j.args, j.attempts, j.trace_id, j.crashes
"""
_POSTPONE_SUSPECT = f"""
UPDATE chatplatform_job SET dispatched_at = NULL, dispatches = 0,
    due_at = statement_timestamp() + make_interval(secs => %s)
WHERE id = %s AND state = 'queued' AND crashes >= {DEATHS - 1}
"""
# The renewer skips a row that is locked here, so this statement renews the lease itself.
_RENEW = """
UPDATE chatplatform_job
SET lease_until = statement_timestamp() + make_interval(secs => %(lease)s),
    attempts = CASE WHEN %(is_progress)s THEN LEAST(attempts, 1) ELSE attempts END,
    crashes = CASE WHEN %(is_progress)s THEN 0 ELSE crashes END
WHERE id = %(id)s AND lease_token = %(token)s AND state = 'running'
"""
_END = """
UPDATE chatplatform_job
SET state = 'done', progress = 100, finished_at = statement_timestamp(), lease_until = NULL,
    last_error = ''
WHERE id = %(id)s AND lease_token = %(token)s AND state = 'running'
"""


def claim(job_id: int) -> Lease | None:
    """Claim a job; None if it may not run now, or another worker has it."""
    # The claim is retried while the database is down, since the relay resends a consumed message
    # only later.
    ends_at = time.monotonic() + CLAIM_SECONDS
    while True:
        token = uuid.uuid4()
        try:
            return _try_claim(job_id, token)
        except (OperationalError, InterfaceError) as exc:
            # The claim may have been stored although its result was lost: leave the job to other
            # processes.
            lease_renewer.release(token)
            if time.monotonic() > ends_at:
                raise
            log.warning("job %s could not be claimed, trying again: %s", job_id, exc)
        connection.close()
        time.sleep(CLAIM_PAUSE_SECONDS)


def _try_claim(job_id: int, token: uuid.UUID) -> Lease | None:
    try:
        with connection.cursor() as cursor:
            values: dict[str, Any] = {"id": job_id, "token": token}
            values["holder"] = worker_locks.holder()
            cursor.execute(_CLAIM, values | {"lease": settings.JOB_LEASE_SECONDS})
            row = cursor.fetchone()
    except IntegrityError:
        # Another job of the ordering key was claimed at the same moment, or this process runs
        # another job with two crashes.
        execute(_POSTPONE_SUSPECT, [SUSPECT_SECONDS, job_id])
        return None
    if row is None:
        return None
    client_id, name, args, attempts, request_id, crashes = row
    return Lease(job_id, token, name, parse_json(args), attempts, request_id, crashes, client_id)


def parse_json(value: Any) -> dict[str, Any]:
    """The value of a jsonb column from a raw cursor, which may return it as text."""
    parsed: dict[str, Any] = orjson.loads(value) if isinstance(value, (str, bytes)) else value
    return parsed


def _row(lease: Lease) -> Any:
    return Job.objects.filter(pk=lease.job_id, lease_token=lease.token, state=JobState.RUNNING)


@contextmanager
def commit(*, is_progress: bool = False, ends_job: bool = False) -> Iterator[None]:
    """The transaction in which a job stores its result; it locks the job's row. Outside of a job,
    it is a plain transaction.

    It renews the lease, and raises `LeaseLost` if another worker has the job by now. `is_progress`:
    no later attempt repeats this work, so earlier failures no longer count. `ends_job`: the job is
    done when this transaction commits. The block must not contain another `commit`, and the job
    must store nothing after it.
    """
    if _is_ending.get():
        raise RuntimeError("commit() inside commit(ends_job=True): the job is done already.")
    with transaction.atomic():
        lease = _current.get()
        if lease:
            values = {"lease": settings.JOB_LEASE_SECONDS, "is_progress": is_progress}
            if not (_update(_END, lease) if ends_job else _update(_RENEW, lease, **values)):
                raise LeaseLost
            if ends_job:
                transaction.on_commit(functools.partial(_current.set, None))
        token = _is_ending.set(ends_job)
        try:
            yield
        finally:
            _is_ending.reset(token)


def current_attempt() -> int:
    """The number of the current attempt, from 1; 0 outside of a job."""
    lease = _current.get()
    return lease.attempts if lease else 0


def current_job() -> int | None:
    """The id of the running job; None outside of a job."""
    lease = _current.get()
    return lease.job_id if lease else None


def previous_attempt_crashed() -> bool:
    """Whether the process that ran the previous attempt of this job crashed."""
    lease = _current.get()
    return bool(lease and lease.crashes)


def report_progress(percent: int) -> None:
    """Store the progress of the running job in percent."""
    lease = _current.get()
    if lease:
        _row(lease).update(progress=percent)


def _update(statement: str, lease: Lease, /, **values: Any) -> bool:
    """Change the row of a job; False if another worker has the job by now."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"id": lease.job_id, "token": lease.token, **values})
        return bool(cursor.rowcount)


def _finish(lease: Lease) -> None:
    # The transaction that stored the job's result may have ended the job.
    is_done = _current.get() is None or _update(_END, lease)
    _count(lease, "done" if is_done else "lost")


def _declared_attempts(name: str) -> int:
    return declared[name].max_attempts if name in declared else 5


def _max_attempts(job_row: Job) -> int:
    return job_row.max_attempts or _declared_attempts(job_row.name)


def _backoff_seconds(number: int) -> float:
    return min(2.0**number, LONGEST_WAIT_SECONDS)


def _retry(lease: Lease, error: str, wait: float | None = None) -> None:
    row = Job.objects.get(pk=lease.job_id)
    if lease.attempts >= _max_attempts(row):
        _dead_letter(lease, error)
        return
    if wait is None:
        wait = _backoff_seconds(lease.attempts - 1)
    _requeue(lease.job_id, lease.token, wait, error)
    _count(lease, "retried")


def _wait_for_files(lease: Lease, error: FilesUnavailable) -> None:
    """Make a job wait for the file store, which may be down for longer than all attempts take.

    Each wait adds one to the row's `max_attempts`, so that the attempts for failures are not used
    up.
    """
    reason = f"{type(error).__name__}: {error}"
    allowed = _max_attempts(Job.objects.get(pk=lease.job_id))
    waits = max(allowed - _declared_attempts(lease.name), 0)
    log.warning(
        "%s #%s has waited for the store of files %s times: %r",
        lease.name, lease.job_id, waits, error.__cause__ or error,
    )  # fmt: skip
    if waits >= MAX_FILE_STORE_WAITS:
        _dead_letter(lease, reason, error)
        return
    with transaction.atomic():
        _row(lease).update(max_attempts=allowed + 1)
        _requeue(lease.job_id, lease.token, _backoff_seconds(waits), reason)
    _count(lease, "retried")


_REQUEUE = """
UPDATE chatplatform_job
SET state = 'queued', lease_token = NULL, lease_until = NULL, lease_holder = NULL,
    dispatched_at = NULL, dispatches = 0, crashes = %s,
    due_at = statement_timestamp() + make_interval(secs => %s), last_error = %s
WHERE id = %s AND lease_token = %s AND state = 'running'
"""


def _requeue(
    job_id: int, token: uuid.UUID, wait_seconds: float, error: str, *, crashes: int = 0
) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_REQUEUE, [crashes, wait_seconds, error[:2000], job_id, token])
    except IntegrityError:
        # The same work was enqueued again while this job ran; the new job replaces this one.
        Job.objects.filter(pk=job_id, lease_token=token).update(
            state=JobState.DONE, last_error=error[:2000]
        )


def _dead_letter(lease: Lease, reason: str, cause: FilesUnavailable | None = None) -> None:
    """Mark a job as dead, and call its `on_dead`."""
    declaration = declared.get(lease.name)
    with transaction.atomic():
        is_dead = _row(lease).update(
            state=JobState.DEAD, lease_until=None, last_error=reason[:2000]
        )
        if is_dead:
            transaction.on_commit(functools.partial(_count, lease, "dead"))
        if not (is_dead and declaration and declaration.on_dead):
            return
        token = _current.set(None)
        try:
            with transaction.atomic():
                takes_cause = "cause" in inspect.signature(declaration.on_dead).parameters
                extra = {"cause": cause} if takes_cause else {}
                call_with_known_args(declaration.on_dead, lease.args | extra)
        except Exception as exc:
            # The job becomes dead anyway: a `running` row would block its ordering key.
            log.exception("%s #%s is dead, and on_dead failed", lease.name, lease.job_id)
            error = f"{reason[:1000]} (on_dead failed: {type(exc).__name__}: {exc})"
            Job.objects.filter(pk=lease.job_id).update(last_error=error[:2000])
        finally:
            _current.reset(token)


def requeue_lost(job_id: int) -> None:
    """Requeue a job whose process hangs or has crashed; after a crash, all jobs of that process.

    A process that is alive and does not hang keeps its jobs. A job becomes dead if `DEATHS`
    processes crashed while they ran it. The other jobs are retried even if they have no attempts
    left, since another job in the same process may have caused the crash.
    """
    with transaction.atomic():
        rows = Job.objects.select_for_update(no_key=True, skip_locked=True)
        may_be_lost = Q(lease_until__lt=Now()) | Q(lease_holder__isnull=False)
        job_row = rows.filter(may_be_lost, pk=job_id, state=JobState.RUNNING).first()
        if job_row is None:
            return
        hangs = rows.filter(pk=job_id, lease_until__lt=Now() - HANG_TIMEOUT).exists()
        is_gone = worker_locks.is_gone(job_row.lease_holder)
        if not hangs and not is_gone:
            return
        affected = [job_row]
        if is_gone and job_row.lease_holder is not None:
            of_process = rows.filter(lease_holder=job_row.lease_holder, state=JobState.RUNNING)
            affected = list(of_process.order_by("pk"))
        for position, row in enumerate(affected):
            _after_crash(row, wait=position * RESTART_SPACING_SECONDS * 4**row.crashes)


def _after_crash(row: Job, *, wait: float) -> None:
    assert row.lease_token
    if row.crashes >= DEATHS - 1:
        lease = Lease(row.pk, row.lease_token, row.name, row.args, row.attempts)
        _dead_letter(lease, f"{DEATHS} processes died while they ran it.")
    else:
        reason = "The worker stopped without finishing."
        _requeue(row.pk, row.lease_token, wait, reason, crashes=row.crashes + 1)


_RETURN_TO_QUEUE = """
UPDATE chatplatform_job SET attempts = greatest(attempts - 1, 0)
WHERE id = %s AND state = 'running' RETURNING lease_token, crashes
"""


def return_to_queue(job_ids: list[int]) -> None:
    """Requeue the jobs that a stopping worker interrupts; the attempt does not count.

    A worker that crashes cannot do this: the crash counts for its jobs.
    """
    for job_id in job_ids:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_RETURN_TO_QUEUE, [job_id])
            for token, crashes in cursor.fetchall():
                _requeue(job_id, token, 0, "The worker was stopped.", crashes=crashes)


def requeue_dead(job_row: Job) -> bool:
    """Requeue a dead job, at a person's request; False if it is not dead."""
    rows = Job.objects.filter(pk=job_row.pk, state=JobState.DEAD)
    fresh = {"attempts": 0, "max_attempts": None, "dispatched_at": None, "dispatches": 0}
    fresh |= {"crashes": 0, "lease_holder": None}
    return bool(rows.update(state=JobState.QUEUED, **fresh))


def cancel(job_row: Job) -> bool:
    """End a queued or dead job, at a person's request; False if it is neither.

    Calls `on_dead` for a queued job.
    """
    with transaction.atomic():
        rows = Job.objects.select_for_update(no_key=True)
        row = rows.filter(pk=job_row.pk, state__in=[JobState.QUEUED, JobState.DEAD]).first()
        if row is None:
            return False
        Job.objects.filter(pk=row.pk).update(state=JobState.CANCELLED, finished_at=Now())
        declaration = declared.get(row.name)
        if row.state == JobState.QUEUED and declaration and declaration.on_dead:
            call_with_known_args(declaration.on_dead, row.args)
    return True
