"""Leases: a crash, a race or a stop of a worker loses no job and stores no result twice."""

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models.functions import Now
from django.utils import timezone

from chatplatform import jobs
from chatplatform.jobs import (
    GiveUp,
    fair_share,
    lease_renewer,
    leases,
    registry,
    relay,
    worker_locks,
)
from chatplatform.models import Job, JobState
from chatplatform.testing import in_thread
from chatplatform.tests.job_work import NAME, add, expire_lease, fail

# Claims and leases compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_claim_is_retried_while_the_database_is_away(work, monkeypatch):
    job, left = add(), list[Any]()
    monkeypatch.setattr(leases, "CLAIM_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(lease_renewer, "release", left.append)
    database = connections["default"]
    backend, connect = database.connection.info.backend_pid, database.get_new_connection

    def kill():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [backend])

    in_thread(kill)[0].join(10)
    away = OperationalError("the database system is in recovery mode")
    tries = [away, away]

    def get_new_connection(params):
        if tries:
            raise tries.pop()
        return connect(params)

    monkeypatch.setattr(database, "get_new_connection", get_new_connection)
    assert leases.run(job.pk) is True
    job.refresh_from_db()
    assert (job.state, job.attempts, tries) == (JobState.DONE, 1, [])
    assert job.lease_token not in left


def test_a_claim_fails_if_the_database_stays_away(work, monkeypatch):
    job, left = add(), list[Any]()
    monkeypatch.setattr(leases, "CLAIM_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(leases, "CLAIM_SECONDS", 0.05)
    monkeypatch.setattr(lease_renewer, "release", left.append)
    with (
        mock.patch.object(leases, "_try_claim", side_effect=OperationalError("no")) as tried,
        pytest.raises(OperationalError),
    ):
        leases.run(job.pk)
    assert tried.call_count > 1
    assert left == [call.args[1] for call in tried.mock_calls]
    assert work.calls == []


@pytest.mark.full
def test_a_claim_that_is_stored_though_its_answer_is_lost_is_left_to_others(
    work, holder, monkeypatch
):
    job, left, claim = add(), list[Any](), leases._try_claim

    def lose(*args):
        assert claim(*args)
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(leases, "CLAIM_SECONDS", 0)
    monkeypatch.setattr(lease_renewer, "release", left.append)
    with mock.patch.object(leases, "_try_claim", lose), pytest.raises(OperationalError):
        leases.run(job.pk)
    assert Job.objects.get(pk=job.pk).lease_holder == holder
    lease_renewer._release(left)
    expire_lease(job)
    relay.sweep()
    assert Job.objects.get(pk=job.pk).state == JobState.QUEUED


def test_a_lost_worker_is_replaced_and_its_result_dropped(work):
    job = add()
    stored = []

    def act(**_):
        if len(work.calls) > 1:
            return
        expire_lease(job)
        assert relay.sweep() == 1
        second, ran = in_thread(lambda: leases.run(job.pk))
        second.join(10)
        assert ran == [True]
        with jobs.commit():
            stored.append("the lost worker's result")

    work.act = act
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    assert len(work.calls) == 2
    assert stored == []
    assert work.dead == []


def test_a_lost_lease_cannot_fail_the_new_runner(work):
    job = add()

    def act(**_):
        expire_lease(job)
        relay.sweep()
        leases.claim(job.pk)
        raise ValueError("too late")

    work.act = act
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.RUNNING, 2)


def test_a_job_that_has_to_wait_is_due_when_it_says_and_its_attempts_count(work):
    job = add(ordering_key="a")
    later = add(ordering_key="a")
    work.act = fail(jobs.TryLater("full", wait=timedelta(minutes=5)))
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.last_error) == (JobState.QUEUED, 1, "full")
    wait = job.due_at - timezone.now()
    assert timedelta(minutes=4) < wait <= timedelta(minutes=5)
    assert leases.claim(later.pk) is None, "what is behind it waits too"
    for _ in range(2):
        Job.objects.update(due_at=Now())
        leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, work.dead) == (JobState.DEAD, [{}])


def of_process(number):
    """In the block, jobs are claimed as if by another process."""
    return mock.patch.object(worker_locks, "holder", return_value=number)


def die(*dying):
    """A process dies that is sent these jobs; returns those that it ran."""
    with of_process(4711):
        ran = [job for job in dying if leases.claim(job.pk)]
    expire_lease(ran[0])
    relay.sweep()
    Job.objects.update(due_at=Now())
    return ran


def test_a_job_that_three_processes_died_with_is_dead_at_once(work):
    job = add(number=7)
    Job.objects.update(max_attempts=9)
    for _ in range(leases.DEATHS):
        die(job)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 3)
    assert job.last_error == "3 processes died while they ran it."
    assert work.dead == [{"number": 7}]


def test_a_job_whose_worker_is_killed_twice_from_outside_is_done(work):
    job = add(number=7)
    for _ in range(leases.DEATHS - 1):
        die(job)
    assert leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, work.dead) == (JobState.DONE, [])


def test_a_process_that_died_condemns_no_job_that_only_ran_beside(work):
    killing, first, second = add(number=1), add(number=2), add(number=3)
    for _ in range(leases.DEATHS - 1):
        assert die(killing, first) == [killing, first]
    # Two processes died with both, so they run one at a time, and the third death tells.
    assert die(killing, first, second) == [killing, second]
    for job in (first, second):
        assert leases.run(job.pk)
    states = dict(Job.objects.values_list("pk", "state"))
    assert states == {
        killing.pk: JobState.DEAD, first.pk: JobState.DONE, second.pk: JobState.DONE,
    }  # fmt: skip
    assert work.dead == [{"number": 1}]


@pytest.mark.parametrize("fair", [False, True])
def test_of_jobs_that_two_processes_died_with_a_process_runs_one_at_a_time(work, fair):
    own = replace(registry.declared[NAME], fair=fair)
    with mock.patch.dict(registry.declared, {NAME: own}), of_process(4711):
        first, second = add(client_id=1, number=1), add(client_id=1, number=2)
        Job.objects.update(crashes=leases.DEATHS - 1)
        assert leases.claim(first.pk)
        assert relay.take_due() == [(second.pk, NAME)]
        assert not (fair_share.run_next if fair else leases.run)(second.pk)
        second.refresh_from_db()
        assert (second.state, second.attempts, second.dispatched_at) == (JobState.QUEUED, 0, None)
        wait = second.due_at - timezone.now()
        assert wait <= timedelta(seconds=leases.SUSPECT_SECONDS)
        Job.objects.update(due_at=Now())
        assert relay.take_due() == [(second.pk, NAME)]
        with of_process(4712):
            assert leases.run(second.pk)
    assert work.calls == [{"number": 2}]


def test_a_job_whose_process_dies_in_its_last_attempt_is_tried_again(work):
    job = add(number=7)
    work.act = fail(ValueError("no"))
    for _ in range(2):
        leases.run(job.pk)
        Job.objects.update(due_at=Now())
    die(job)
    work.act = lambda **_: None
    assert leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, work.dead) == (JobState.DONE, 4, [])


@pytest.mark.parametrize(("deaths", "seconds"), [(1, 0.5), (2, 2)])
def test_the_jobs_of_a_dead_process_begin_one_after_the_other(work, deaths, seconds):
    first, second = add(number=1), add(number=2)
    Job.objects.update(max_attempts=9, crashes=deaths - 1)
    for job in (first, second):
        assert leases.claim(job.pk)
    Job.objects.update(lease_holder=4711)
    expire_lease(first)
    relay.sweep()
    due = list(Job.objects.order_by("id").values_list("due_at", flat=True))
    assert timedelta(0) <= due[1] - due[0] - timedelta(seconds=seconds) < timedelta(seconds=0.4)


def test_a_failure_that_its_process_survives_ends_the_suspicion(work):
    job = add(number=7)
    die(job)
    work.act = fail(ValueError("no"))
    leases.run(job.pk)
    Job.objects.update(due_at=Now())
    job.refresh_from_db()
    assert (job.state, job.crashes) == (JobState.QUEUED, 0)


@pytest.fixture
def holder(monkeypatch):
    """The number of this process's lock, as if it was a worker."""
    monkeypatch.setattr(worker_locks, "_is_worker", True)
    monkeypatch.setattr(worker_locks, "_holder", None)
    yield worker_locks.holder()
    assert worker_locks._holder
    worker_locks._holder.stop()


def swept(job, holder, *, seconds):
    """The job's state, once its lease has ended so many seconds ago."""
    Job.objects.filter(pk=job.pk).update(
        lease_holder=holder, lease_until=Now() - timedelta(seconds=seconds)
    )
    relay.sweep()
    return Job.objects.get(pk=job.pk).state


@pytest.mark.full
def test_a_process_that_lives_keeps_its_job_though_the_lease_has_ended(work, holder):
    job = add()
    assert leases.claim(job.pk)
    assert swept(job, holder, seconds=60) == JobState.RUNNING
    assert swept(job, holder, seconds=601) == JobState.QUEUED, "it hangs"
    other = add()
    assert leases.claim(other.pk)
    assert swept(other, holder + 1, seconds=1) == JobState.QUEUED, "it is gone"


def test_the_jobs_of_a_killed_worker_do_not_wait_for_their_leases(work, monkeypatch):
    monkeypatch.setattr(relay, "SWEEP_SECONDS", 0)
    running, dispatched = add(number=1), add(number=2)
    assert leases.claim(running.pk)
    assert (dispatched.pk, NAME) in relay.take_due()
    with connections["default"].copy().cursor() as worker:
        worker.execute("SELECT pg_advisory_lock(4711)")
        Job.objects.filter(pk=running.pk).update(lease_holder=4711)
        live = relay.Relay()
        for _ in range(3):
            live.tick()
        assert Job.objects.get(pk=running.pk).state == JobState.RUNNING
    worker.connection.close()
    ends_at = time.monotonic() + 10
    while not worker_locks.find_gone_workers():
        assert time.monotonic() < ends_at
    live.tick()
    assert Job.objects.get(pk=running.pk).state == JobState.RUNNING, "it may hold its lock again"
    with mock.patch.object(live, "_dispatch") as sent:
        live.tick()
    # The killed worker may have taken the message of a job that it did not claim.
    assert {call.args[0] for call in sent.mock_calls} == {running.pk, dispatched.pk}


@pytest.mark.full
def test_a_process_whose_connection_ends_holds_its_lock_again_at_once(work, holder):
    def backends():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                " AND (classid::bigint << 32) | objid::bigint = %s", [holder]
            )  # fmt: skip
            return [pid for (pid,) in cursor.fetchall()]

    (first,) = backends()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [first])
    ends_at = time.monotonic() + 10
    while backends() in ([], [first]):
        assert time.monotonic() < ends_at
        time.sleep(0.02)


@pytest.mark.full
def test_a_job_whose_end_could_not_be_stored_is_taken_from_a_process_that_lives(
    work, holder, settings
):
    settings.JOB_LEASE_SECONDS = 1
    job = add()
    with (
        mock.patch.object(lease_renewer, "_renewer", lease_renewer.LeaseRenewer()),
        mock.patch.object(leases, "_finish", side_effect=OperationalError),
        mock.patch.object(leases, "_retry", side_effect=OperationalError),
        pytest.raises(OperationalError),
    ):
        leases.run(job.pk)
    assert Job.objects.get(pk=job.pk).lease_holder == holder
    time.sleep(1.2)
    relay.sweep()
    assert Job.objects.get(pk=job.pk).state == JobState.QUEUED


@pytest.mark.full
def test_a_job_that_hangs_takes_no_other_from_its_process(work, holder):
    hanging, other = add(), add()
    assert leases.claim(hanging.pk)
    assert leases.claim(other.pk)
    assert swept(hanging, holder, seconds=601) == JobState.QUEUED
    assert Job.objects.get(pk=other.pk).state == JobState.RUNNING


def test_progress_makes_up_for_earlier_failures(work):
    job = add()

    def act(**_):
        with jobs.commit(is_progress=True):
            pass
        raise ValueError("the next part fails")

    work.act = act
    for _ in range(7):
        Job.objects.update(due_at=Now())
        leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, work.dead) == (JobState.QUEUED, 1, [])


def test_a_job_that_is_returned_to_the_queue_counts_no_attempt(work):
    job = add(ordering_key="a")
    stored = []

    def act(**_):
        leases.return_to_queue([job.pk])
        job.refresh_from_db()
        assert (job.state, job.attempts, job.lease_token) == (JobState.QUEUED, 0, None)
        assert relay.take_due() == [(job.pk, NAME)]
        with jobs.commit():
            stored.append("the stopped worker's result")

    work.act = act
    leases.run(job.pk)
    assert stored == []
    work.act = lambda **_: None
    assert leases.run(job.pk) is True
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_only_running_jobs_are_returned_to_the_queue(work):
    waiting, finished = add(number=1), add(number=2)
    leases.run(finished.pk)
    leases.return_to_queue([waiting.pk, finished.pk, finished.pk + 1])
    finished.refresh_from_db()
    assert (finished.state, finished.attempts) == (JobState.DONE, 1)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.attempts) == (JobState.QUEUED, 0)


def test_a_stop_does_not_take_back_the_deaths_of_processes(work):
    job = add(number=7)
    Job.objects.update(max_attempts=9)
    for _ in range(leases.DEATHS):
        assert leases.claim(job.pk)
        leases.return_to_queue([job.pk])
        die(job)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 3)


@pytest.mark.full
def test_a_long_job_keeps_its_lease(work, settings):
    settings.JOB_LEASE_SECONDS = 1
    job = add()
    swept = []

    def act(**_):
        ends_at = time.monotonic() + 2.2
        while time.monotonic() < ends_at:
            time.sleep(0.1)
            swept.append(relay.sweep())

    work.act = act
    with mock.patch.object(lease_renewer, "_renewer", lease_renewer.LeaseRenewer()):
        leases.run(job.pk)
    assert set(swept) == {0}
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_a_long_commit_does_not_keep_other_leases_from_being_renewed(work):
    committing, other = add(), add()
    claimed = list(filter(None, [leases.claim(job.pk) for job in (committing, other)]))
    assert len(claimed) == 2
    Job.objects.update(lease_until=Now() + timedelta(seconds=1))
    with transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=committing.pk)
        renewing, _ = in_thread(lambda: lease_renewer.renew([lease.token for lease in claimed]))
        renewing.join(30)
        assert not renewing.is_alive()
    renewed = Job.objects.filter(lease_until__gt=Now() + timedelta(seconds=5))
    assert list(renewed) == [other]


def test_on_dead_runs_without_the_lease(work):
    def on_dead(args):
        with jobs.commit():
            job_ids.append(jobs.current_job())

    job_ids: list[int | None] = []
    job = add()
    work.act = fail(GiveUp("no"))
    work.dead = mock.Mock(append=on_dead)
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.last_error, job_ids) == (JobState.DEAD, "no", [None])


def test_a_worker_that_lost_its_lease_does_not_call_on_dead(work):
    job = add()

    def act(**_):
        expire_lease(job)
        relay.sweep()
        assert leases.claim(job.pk)
        raise GiveUp("no")

    work.act = act
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, work.dead) == (JobState.RUNNING, 2, [])


def test_a_commit_locks_the_jobs_row_and_renews_its_lease(work):
    job = add()

    def act(**_):
        Job.objects.filter(pk=job.pk).update(lease_until=Now() + timedelta(seconds=1))
        with jobs.commit():
            rows = Job.objects.select_for_update(no_key=True, skip_locked=True)
            looking, found = in_thread(lambda: list_locked(rows, job))
            looking.join(10)
            assert found == [[]]
        assert Job.objects.filter(pk=job.pk, lease_until__gt=Now() + timedelta(seconds=5))

    def list_locked(rows, job):
        with transaction.atomic():
            return list(rows.filter(pk=job.pk))

    work.act = act
    leases.run(job.pk)
    job.refresh_from_db()
    assert job.last_error == ""
    assert job.state == JobState.DONE


def test_a_commit_outside_a_job_is_a_plain_transaction():
    with jobs.commit():
        assert jobs.current_attempt() == 0


def test_a_commit_inside_the_one_that_ends_the_job_fails_the_attempt(work):
    job, stored = add(), []

    def act(**_):
        with jobs.commit(ends_job=True), jobs.commit():
            stored.append("what could be lost")

    work.act = act
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, stored) == (JobState.QUEUED, 1, [])
    assert "ends_job" in job.last_error
    Job.objects.update(due_at=Now())
    work.act = lambda **_: stored.append("the next attempt")
    leases.run(job.pk)
    job.refresh_from_db()
    assert (job.state, stored) == (JobState.DONE, ["the next attempt"])
