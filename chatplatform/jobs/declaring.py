"""Declaring jobs, and enqueueing them in the transaction of the change that they follow."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ParamSpec

from celery import shared_task
from django.db import connection, transaction

from chatplatform.api.request_context import REQUEST_ID
from chatplatform.jobs import fair_share, leases, registry
from chatplatform.jobs.registry import Declared, Queue
from chatplatform.json_encoding import as_json
from chatplatform.live import pubsub

P = ParamSpec("P")
NO_WAIT = timedelta(0)


def job(
    name: str,
    *,
    queue: Queue,
    max_attempts: int = 5,
    on_dead: Callable[..., None] | None = None,
    fair: bool = False,
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare a function as the job `name`. It takes ids by keyword and may run twice.

    A raised exception retries it with growing waits, up to `max_attempts`; `on_dead` is called
    with the same arguments when no attempt is left, so that nobody waits in vain. `fair`: clients
    take turns, and of one client's jobs the lowest `priority` of `enqueue` goes first.

    A job that raises `FilesUnavailable` waits for the store of files for over an hour, which uses
    up no attempt. If the store does not answer by then, an `on_dead` that takes `cause` gets the
    error.
    """

    def declare(run: Callable[P, None]) -> Callable[P, None]:
        task = shared_task(name=name)(_run_next if fair else _run_dispatched)
        registry.declared[name] = Declared(run, queue, max_attempts, task, on_dead, fair)
        return run

    return declare


def periodic(name: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare a function that beat calls by `settings.CELERY_BEAT_SCHEDULE`. It may run twice."""

    def declare(run: Callable[P, None]) -> Callable[P, None]:
        def task(**args: Any) -> None:
            registry.call_with_known(run, args)

        shared_task(name=name)(task)
        return run

    return declare


def _run_dispatched(*, job_id: int, **_: object) -> None:
    """The body of every job's Celery task: the message names a row, the row says what to do."""
    leases.run(job_id)


def _run_next(*, job_id: int, **_: object) -> None:
    """As `_run_dispatched`; but the message says only that there is one more job to run."""
    fair_share.run_next(job_id)


_ENQUEUE = """
INSERT INTO chatplatform_job
    (client_id, name, dedupe_key, ordering_key, args, due_at, trace_id, state, progress, last_error,
     priority)
VALUES (%(client)s::bigint, %(name)s, %(dedupe_key)s, %(ordering_key)s, %(args)s::jsonb,
    statement_timestamp() + make_interval(secs => %(wait)s), %(trace_id)s, 'queued', 0, '',
    %(priority)s)
ON CONFLICT (name, dedupe_key) WHERE state = 'queued' DO NOTHING
"""


def enqueue(
    name: str,
    *,
    client_id: int | None,
    dedupe_key: str | None = None,
    ordering_key: str | None = None,
    wait: timedelta = NO_WAIT,
    priority: int = 0,
    **args: Any,
) -> None:
    """Write a job row in the caller's transaction.

    It is due after `wait`. `dedupe_key` makes a second request for the same waiting work a no-op.
    Jobs of one `ordering_key` run one after the other, in the order of their rows: lock the subject
    of the key while adding. `priority`: of one client's jobs in a queue the lowest goes first.
    """
    row = {
        "client": client_id,
        "name": name,
        "dedupe_key": dedupe_key,
        "ordering_key": ordering_key,
        "args": as_json(args).decode(),
        "wait": wait.total_seconds(),
        "priority": priority,
        "trace_id": REQUEST_ID.get(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_ENQUEUE, row)
    pubsub.signal_on_commit(registry.CHANNEL)


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
    """Let the waiting job `name` of an ordering key wait again, with changed arguments.

    It is due `wait` from now, and at most `at_most` after it was enqueued. A job that a worker has
    or once had is left alone. False if no job waits.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_WAITING, [name, ordering_key])
        row = cursor.fetchone()
        if row is None:
            return False
        job_id, args = row
        changed = as_json(change(leases.parse_json(args))).decode()
        cursor.execute(_POSTPONE, [changed, wait.total_seconds(), at_most.total_seconds(), job_id])
    return True
