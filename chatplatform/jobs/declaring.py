"""Declares jobs, and enqueues them in the transaction of the change that causes them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ParamSpec

from celery import shared_task
from django.db import connection, transaction

from chatplatform.api.request_context import REQUEST_ID
from chatplatform.jobs import fair_share, leases, registry
from chatplatform.jobs.registry import Declaration, Queue
from chatplatform.json_encoding import as_json
from chatplatform.live import pubsub
from chatplatform.sql import execute

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

    A job that raises an exception is retried with exponential backoff, up to `max_attempts`. If
    the job fails for good, `on_dead` is called with the same arguments, to record the failure.
    `fair`: clients take turns, and a client's job with the lowest `priority` runs first.

    A job that raises `FilesUnavailable` is retried for over an hour without using up attempts. If
    the file store is still unavailable then, `on_dead` gets the error as `cause`, if it has this
    parameter.
    """

    def declare(run: Callable[P, None]) -> Callable[P, None]:
        task = shared_task(name=name)(_run_next if fair else _run_dispatched)
        registry.declared[name] = Declaration(run, queue, max_attempts, task, on_dead, fair)
        return run

    return declare


def periodic(name: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare a function that Celery beat calls on the schedule in `settings.CELERY_BEAT_SCHEDULE`.
    It may run twice."""

    def declare(run: Callable[P, None]) -> Callable[P, None]:
        def task(**args: Any) -> None:
            registry.call_with_known_args(run, args)

        shared_task(name=name)(task)
        return run

    return declare


def _run_dispatched(*, job_id: int, **_: object) -> None:
    """The Celery task of a job: it runs the job whose id is in the message."""
    leases.run(job_id)


def _run_next(*, job_id: int, **_: object) -> None:
    """The Celery task of a fair job: each message runs the job that is next in turn."""
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
    """Write a job row in the caller's transaction; it is due after `wait`.

    Nothing happens if a job with this name and `dedupe_key` is queued already. Jobs with the same
    `ordering_key` run one after another, in the order of their ids: lock the row that the key
    identifies before you enqueue them. In each queue, a client's job with the lowest `priority`
    runs first.
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
    execute(_ENQUEUE, row)
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
    """Postpone the newest queued job `name` of an ordering key, and change its arguments.

    It becomes due `wait` from now, but no later than `at_most` after it was enqueued. Jobs that
    have already been attempted are left alone. Returns False if there is no such job.
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
