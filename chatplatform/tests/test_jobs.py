"""Jobs: enqueued, run in order, retried, and finally dead."""

import time
from datetime import timedelta
from unittest import mock

import pytest
from celery import current_app
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from chatplatform import jobs
from chatplatform.jobs import GiveUp, leases, registry, relay
from chatplatform.media_stores import FilesUnavailable
from chatplatform.models import Job, JobState
from chatplatform.tasks import RETENTION, clean_up_jobs
from chatplatform.testing import at_once
from chatplatform.tests.job_work import NAME, add, fail

# Claims and leases compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def seconds_until_due(job):
    (wait,) = (
        Job.objects.filter(pk=job.pk)
        .annotate(now=Now())
        .values_list("due_at", "now")
        .get(pk=job.pk),
    )
    return (wait[0] - wait[1]).total_seconds()


def test_a_job_runs_once_and_is_done(work):
    job = add(number=7)
    assert leases.run(job.pk) is True
    job.refresh_from_db()
    assert (job.state, job.attempts, job.progress) == (JobState.DONE, 1, 100)
    assert job.finished_at is not None
    assert job.lease_until is None
    assert work.calls == [{"number": 7}]


def test_ended_jobs_are_deleted_after_a_week_and_no_others(work, monkeypatch):
    monkeypatch.setattr("chatplatform.tasks._BATCH_SIZE", 2)
    ids = {state: [add(number=n).pk for n in range(3)] for state in JobState.values}
    long_ago = timezone.now() - RETENTION - timedelta(minutes=1)
    for state, of_state in ids.items():
        rows = Job.objects.filter(pk__in=of_state)
        rows.update(state=state, finished_at=long_ago)
        rows.filter(pk=of_state[0]).update(finished_at=timezone.now())
    clean_up_jobs()
    kept = set(Job.objects.values_list("pk", flat=True))
    for state, of_state in ids.items():
        is_over = state in {JobState.DONE, JobState.CANCELLED}
        assert kept & set(of_state) == set(of_state[:1] if is_over else of_state), state


def test_a_finished_job_does_not_run_again(work):
    job = add()
    leases.run(job.pk)
    assert leases.run(job.pk) is False
    assert len(work.calls) == 1


def test_a_rolled_back_transaction_leaves_no_job(work):
    with transaction.atomic():
        add()
        transaction.set_rollback(True)
    assert Job.objects.count() == 0


def test_a_duplicate_of_a_queued_job_is_not_added(work):
    add(dedupe_key="a", number=1)
    add(dedupe_key="a", number=2)
    add(dedupe_key="b", number=3)
    assert [job.args["number"] for job in Job.objects.order_by("id")] == [1, 3]


def test_a_duplicate_of_a_running_job_is_queued(work):
    job = add(dedupe_key="a")
    work.act = lambda **_: add(dedupe_key="a")
    leases.run(job.pk)
    assert list(Job.objects.order_by("id").values_list("state", flat=True)) == ["done", "queued"]


def test_a_failed_job_gives_way_to_a_newer_duplicate(work):
    job = add(dedupe_key="a")

    def act(**_):
        add(dedupe_key="a")
        raise ValueError("too old")

    work.act = act
    leases.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert Job.objects.filter(state=JobState.QUEUED).count() == 1


def test_a_job_that_is_due_later_is_not_claimed(work):
    job = add(wait=timedelta(minutes=1))
    assert relay.take_due() == []
    assert leases.run(job.pk) is False


def test_jobs_of_an_ordering_key_run_in_order(work):
    first, second = add(ordering_key="a", n=1), add(ordering_key="a", n=2)
    other = add(ordering_key="b", n=3)
    assert {pk for pk, _ in relay.take_due()} == {first.pk, other.pk}
    assert leases.run(second.pk) is False
    assert leases.run(first.pk) is True
    assert leases.run(second.pk) is True
    assert [call["n"] for call in work.calls] == [1, 2]


def test_an_ordering_key_waits_for_its_running_job(work):
    first, second = add(ordering_key="a"), add(ordering_key="a")
    tried: list[leases.Lease | None] = []
    work.act = lambda **_: tried.append(leases.claim(second.pk)) if not tried else None
    leases.run(first.pk)
    assert tried == [None]
    assert leases.run(second.pk) is True


def test_an_ordering_key_waits_for_its_failed_job(work):
    first, second = add(ordering_key="a"), add(ordering_key="a")
    work.act = fail(ValueError("no"))
    leases.run(first.pk)
    assert leases.run(second.pk) is False
    assert relay.take_due() == []


def test_two_workers_run_one_job_once(work):
    job = add()
    work.act = lambda **_: time.sleep(0.1)
    assert sorted(at_once(*[lambda: leases.run(job.pk)] * 4)) == [False, False, False, True]
    assert len(work.calls) == 1


def test_two_workers_never_run_one_ordering_key_at_once(work):
    rows = [add(ordering_key="a", n=n) for n in range(6)]
    running, most = [], []

    def act(n):
        running.append(n)
        most.append(len(running))
        time.sleep(0.02)
        running.remove(n)

    work.act = act

    def worker():
        ends_at = time.monotonic() + 10
        while Job.objects.filter(state=JobState.QUEUED).exists() and time.monotonic() < ends_at:
            for row in rows:
                leases.run(row.pk)
        return True

    assert at_once(worker, worker) == [True, True]
    assert [call["n"] for call in work.calls] == list(range(6))
    assert set(most) == {1}


def test_failures_are_retried_ever_later_and_end_dead(work):
    job = add(number=7)
    work.act = fail(ValueError("no luck"))
    waits = []
    for _ in range(2):
        leases.run(job.pk)
        job.refresh_from_db()
        assert job.state == JobState.QUEUED
        assert job.last_error == "ValueError: no luck"
        assert leases.run(job.pk) is False, "it must wait"
        waits.append(seconds_until_due(job))
        Job.objects.update(due_at=Now())
    assert 0.5 < waits[0] <= 1
    assert 1.5 < waits[1] <= 2
    assert work.dead == []
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 3)
    assert work.dead == [{"number": 7}]
    assert relay.take_due() == []


def wait_for_files(job, *, times):
    """Run a job that finds no store of files so often; the seconds that it waits each time."""
    waits = []
    for _ in range(times):
        assert leases.run(job.pk) is True
        job.refresh_from_db()
        assert job.state == JobState.QUEUED, "it waits, and no worker with it"
        assert leases.run(job.pk) is False
        waits.append(seconds_until_due(job))
        Job.objects.filter(pk=job.pk).update(due_at=Now())
    return waits


@pytest.mark.full
def test_a_job_waits_for_the_store_of_files_for_over_an_hour_and_no_longer(work):
    job, after = add(ordering_key="a", number=1), add(ordering_key="a", number=2)
    work.act = fail(FilesUnavailable())
    waits = wait_for_files(job, times=leases.MAX_FILE_STORE_WAITS)
    assert [round(wait) for wait in waits[:8]] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert 3_600 < sum(waits) < 2 * 3_600
    assert max(waits) <= 60
    assert work.dead == []
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.last_error) == (
        JobState.DEAD, "FilesUnavailable: File storage can't be reached. Try again.",
    )  # fmt: skip
    assert work.dead == [{"number": 1}]
    work.act = lambda **_: None
    assert leases.run(after.pk), "the ordering key goes on"


def test_waits_for_the_store_of_files_use_up_no_attempt(work):
    job = add(number=7)
    work.act = fail(ValueError("no luck"))
    leases.run(job.pk)
    Job.objects.update(due_at=Now())
    work.act = fail(FilesUnavailable())
    wait_for_files(job, times=5)
    work.act = fail(ValueError("no luck"))
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, work.dead) == (JobState.QUEUED, [])
    Job.objects.update(due_at=Now())
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.last_error) == (JobState.DEAD, "ValueError: no luck")


def test_a_job_that_waited_in_vain_for_the_store_of_files_begins_anew_by_hand(work, monkeypatch):
    monkeypatch.setattr(leases, "MAX_FILE_STORE_WAITS", 2)
    job = add()
    work.act = fail(FilesUnavailable())
    wait_for_files(job, times=2)
    leases.run(job.pk)
    assert leases.requeue_dead(job)
    assert round(wait_for_files(job, times=2)[0]) == 1
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 3)


def test_on_dead_gets_the_error_of_the_store_of_files_and_of_nothing_else(monkeypatch):
    monkeypatch.setattr(leases, "MAX_FILE_STORE_WAITS", 0)
    errors: list[Exception] = [FilesUnavailable(), GiveUp("no")]
    causes: list[Exception | None] = []

    def run():
        raise errors[len(causes)]

    def on_dead(*, cause=None):
        causes.append(cause)

    declared = registry.Declaration(run, jobs.Queue.REPLY, 1, None, on_dead)
    with mock.patch.dict(registry.declared, {NAME: declared}):
        for _ in errors:
            leases.run(add().pk)
    assert causes == [errors[0], None]


def test_the_limit_in_the_row_counts(work):
    job = add()
    Job.objects.update(max_attempts=1)
    work.act = fail(ValueError("no"))
    leases.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DEAD


def test_give_up_ends_at_once(work):
    job = add(number=7)
    work.act = fail(GiveUp("The channel was removed."))
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 1)
    assert job.last_error == "The channel was removed."
    assert work.dead == [{"number": 7}]


def test_arguments_of_a_newer_release_are_dropped():
    calls = []

    def run(*, number):
        calls.append(("run", number))
        raise GiveUp("no")

    declared = registry.Declaration(
        run, jobs.Queue.REPLY, 1, None, lambda number: calls.append(("dead", number))
    )
    with mock.patch.dict(registry.declared, {NAME: declared}):
        leases.run(add(number=7, language="vi").pk)
    assert calls == [("run", 7), ("dead", 7)]


def test_a_periodic_task_drops_arguments_of_a_newer_release():
    calls = []
    jobs.periodic("test.periodic")(lambda: calls.append("run"))
    try:
        current_app.tasks["test.periodic"].run(language="vi")
    finally:
        current_app.tasks.unregister("test.periodic")
    assert calls == ["run"]


def test_a_dead_job_does_not_block_its_ordering_key(work):
    first, second = add(ordering_key="a"), add(ordering_key="a")
    work.act = fail(GiveUp("no"))
    leases.run(first.pk)
    work.act = lambda **_: None
    assert leases.run(second.pk) is True


def test_a_dead_job_is_queued_again_by_hand(work):
    job = add()
    work.act = fail(GiveUp("no"))
    leases.run(job.pk)
    job.refresh_from_db()
    work.act = lambda **_: None
    assert leases.requeue_dead(job) is True
    assert leases.requeue_dead(job) is False
    assert leases.run(job.pk) is True


def test_an_unknown_job_is_stored_and_tried_again():
    jobs.enqueue("test.of_a_newer_release", client_id=None)
    job = Job.objects.get()
    leases.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_a_job_is_dead_even_if_on_dead_fails(work, caplog):
    def on_dead(args):
        Job.objects.filter(pk=after.pk).update(progress=50)  # rolled back by the failure
        raise ValueError("nobody there")

    job, after = add(ordering_key="a"), add(ordering_key="a")
    work.act = fail(GiveUp("The channel was removed."))
    work.dead = mock.Mock(append=on_dead)
    assert leases.run(job.pk)
    assert relay.sweep() == 0
    job.refresh_from_db()
    after.refresh_from_db()
    assert (job.state, job.lease_until, after.progress) == (JobState.DEAD, None, 0)
    assert job.last_error.startswith("The channel was removed.")
    assert "ValueError: nobody there" in job.last_error
    (logged,) = caplog.records
    assert logged.getMessage() == f"{NAME} #{job.pk} is dead, and on_dead failed"
    work.act = lambda **_: None
    assert leases.run(after.pk), "the ordering key goes on"
