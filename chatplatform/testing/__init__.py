"""Helpers for the tests of every app, such as running jobs in this process and forcing races."""

import functools
import gc
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import psycopg
import pytest
import time_machine
from celery import current_app
from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Model
from django.test import TransactionTestCase
from django.utils.module_loading import import_string

from chatplatform import ids
from chatplatform.jobs import leases, relay
from chatplatform.models import Job, JobState
from chatplatform.testing import documented

T = TypeVar("T")


def run_jobs(limit: int = 200) -> int:
    """Run due jobs in this process, as the relay and a worker would; returns their number."""
    ran = 0
    while ran < limit:
        taken = Job.objects.filter(state=JobState.QUEUED, dispatched_at__isnull=False)
        taken.update(dispatched_at=None)
        due = relay.take_due()
        if not due:
            break
        ran += sum(leases.run(job_id) for job_id, _ in due)
    return ran


@contextmanager
def working() -> Iterator[None]:
    """Run due jobs in a thread during the block, so that the block can wait for their effects."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(0.1):
            run_jobs()

    worker, _ = in_thread(work)
    try:
        yield
    finally:
        is_over.set()
        worker.join()


@contextmanager
def run_before(dotted: str, callback: Callable[[], Any]) -> Iterator[None]:
    """Run `callback` once, just before the public function named `dotted` is called."""
    assert not dotted.rpartition(".")[2].startswith("_"), f"{dotted} is private"
    real = import_string(dotted)
    called: list[bool] = []

    def first_callback(*args: Any, **kwargs: Any) -> Any:
        if not called:
            called.append(True)
            callback()
        return real(*args, **kwargs)

    with mock.patch(dotted, first_callback):
        yield
    assert called, f"{dotted} was not called"


def in_thread(call: Callable[[], T]) -> tuple[threading.Thread, list[T]]:
    """Start `call` in a thread with its own connection; returns the thread and a list that gets the
    result."""
    results: list[T] = []

    def run() -> None:
        try:
            results.append(call())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def at_once(*calls: Callable[[], T]) -> list[T]:
    """Run all calls in threads that start together; return their results."""
    ready = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        ready.wait(10)
        return call()

    started = [in_thread(functools.partial(run, call)) for call in calls]
    for thread, _ in started:
        thread.join(60)
    return [results[0] for _, results in started]


@contextmanager
def written_at(moment: datetime) -> Iterator[None]:
    """In the block, rows get the time and ids of this moment, although ids otherwise only grow."""
    with time_machine.travel(moment), mock.patch.object(ids, "_clock", ids._Clock()):
        yield


def make_month(moment: datetime, *models: type[Model]) -> None:
    """Make the partitions for the month of `moment`, as the periodic task would have done then."""
    with connection.cursor() as cursor:
        for model in models:
            cursor.execute(
                "SELECT chatplatform_make_month(%s::regclass, %s)",
                [model._meta.db_table, moment.date()],
            )


@contextmanager
def idle_transaction(write: Callable[[], object]) -> Iterator[None]:
    """A transaction on another connection that writes, and stays open during the block."""
    written, release = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            write()
            written.set()
            release.wait(60)

    thread, _ = in_thread(hold)
    try:
        assert written.wait(20)
        yield
    finally:
        release.set()
        thread.join(20)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Make garbage collection rare, and exclude modules and tests, which live until the end.

    Walking their hundreds of thousands of objects again and again takes a seventh of a run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


@pytest.hookimpl(specname="pytest_collection_modifyitems", tryfirst=True)
def pytest_mark_further_cases(items: list[pytest.Item]) -> None:
    """Mark all but the first two cases of a parametrized test as `full`."""
    cases: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        if cases[test] > 2:
            item.add_marker("full")


@pytest.fixture(autouse=True, scope="session")
def declare_jobs() -> None:
    current_app.loader.import_default_modules()


# Triggers are off, so that neither foreign keys nor the audit log refuse the deletion. After a
# deadlock it is retried: a web process may still be finishing a request, which locks rows in
# another order.
_EMPTY_TABLES = """
DO $$
DECLARE name text;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR attempt IN 1..5 LOOP
        BEGIN
            FOREACH name IN ARRAY string_to_array(%s, ' ') LOOP
                EXECUTE format('DELETE FROM %%I', name);
            END LOOP;
            RETURN;
        EXCEPTION WHEN deadlock_detected THEN
            IF attempt = 5 THEN RAISE; END IF;
        END;
    END LOOP;
END $$
"""


_TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND relname NOT IN ('django_migrations', 'django_content_type', 'auth_permission')
"""


def empty_tables() -> None:
    """Delete all rows, except the rows of three tables that Django fills. One prepared statement
    finds the tables that have rows."""
    connection.ensure_connection()
    raw = connection.connection
    names = [name for (name,) in raw.execute(_TABLES, prepare=True)]
    looks = " UNION ALL ".join(f"(SELECT '{name}' FROM \"{name}\" LIMIT 1)" for name in names)
    if found := [name for (name,) in raw.execute(looks, prepare=True)]:
        with psycopg.ClientCursor(raw) as cursor:
            cursor.execute(_EMPTY_TABLES, [" ".join(found)])


def _empty_after(_: TransactionTestCase) -> None:
    empty_tables()


@pytest.fixture(autouse=True, scope="session")
def quick_flush() -> Iterator[None]:
    """After a test with real transactions, empty the tables in one statement and stay connected.

    Django would truncate every table and create all content types and permissions again. It would
    also reconnect, and PostgreSQL would plan each statement and read its catalogue again.
    """

    with mock.patch.multiple(
        TransactionTestCase,
        _fixture_teardown=_empty_after,
        _should_reload_connections=lambda _: False,
    ):
        yield


@pytest.fixture
def own_media(tmp_path: Path, settings: Any) -> None:
    """A separate folder for the uploads of a test."""
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that received a response that the API's document does not describe.

    The marker `undocumented` excuses tests that break the platform on purpose.
    """
    try:
        yield
        found = set() if item.get_closest_marker("undocumented") else set(documented.breaches)
        assert not found, "\n".join(["(docs/openapi.json: make openapi)", *sorted(found)])
    finally:
        documented.breaches.clear()
