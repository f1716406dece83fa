"""Jobs against the real database: what a crash, a race or a rollback may not do."""

import threading
import time
from datetime import timedelta
from unittest import mock

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from chatplatform import jobs
from chatplatform.models import Job, JobState

# Claims and leases compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)
NAME = "test.work"


class Work:
    """A declared job that notes its calls and does what the test gives it."""

    def __init__(self):
        self.calls = []
        self.dead = []
        self.act = lambda **args: None

    def run(self, **args):
        self.calls.append(args)
        self.act(**args)

    def on_dead(self, **args):
        self.dead.append(args)


@pytest.fixture
def work():
    one = Work()
    declared = jobs.Declared(one.run, jobs.Queue.REPLY, 3, None, one.on_dead)
    with mock.patch.dict(jobs._declared, {NAME: declared}):
        yield one


def add(**args):
    jobs.enqueue(NAME, client_id=None, **args)
    return Job.objects.latest("id")


def fail(error):
    def act(**args):
        raise error

    return act


def in_thread(act):
    """Start `act` in a thread with a connection of its own; returns the thread and its results."""
    results = []

    def body():
        try:
            results.append(act())
        finally:
            connection.close()

    thread = threading.Thread(target=body)
    thread.start()
    return thread, results


def at_once(*acts):
    """Run all in threads that start together; what each returned."""
    ready = threading.Barrier(len(acts))

    def together(act):
        ready.wait(5)
        return act()

    started = [in_thread(lambda act=act: together(act)) for act in acts]
    for thread, _ in started:
        thread.join(20)
    return [results[0] for _, results in started]


def seconds_until_due(job):
    (wait,) = (
        Job.objects.filter(pk=job.pk)
        .annotate(now=Now())
        .values_list("due_at", "now")
        .get(pk=job.pk),
    )
    return (wait[0] - wait[1]).total_seconds()


def expire(job):
    Job.objects.filter(pk=job.pk).update(lease_until=Now() - timedelta(seconds=1))


def test_it_works(work):
    job = add(number=7)
    assert jobs.run(job.pk) is True
    job.refresh_from_db()
    assert (job.state, job.attempts, job.progress) == (JobState.DONE, 1, 100)
    assert job.finished_at is not None
    assert job.lease_until is None
    assert work.calls == [{"number": 7}]


def test_a_claim_outlives_a_database_that_is_away_for_a_moment(work, monkeypatch):
    job = add()
    monkeypatch.setattr(jobs, "CLAIM_PAUSE_SECONDS", 0.01)
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
    assert jobs.run(job.pk) is True
    job.refresh_from_db()
    assert (job.state, job.attempts, tries) == (JobState.DONE, 1, [])


def test_a_claim_gives_up_where_the_database_stays_away(work, monkeypatch):
    job = add()
    monkeypatch.setattr(jobs, "CLAIM_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(jobs, "CLAIM_SECONDS", 0.05)
    with (
        mock.patch.object(jobs, "_try_claim", side_effect=OperationalError("no")) as tried,
        pytest.raises(OperationalError),
    ):
        jobs.run(job.pk)
    assert tried.call_count > 1
    assert work.calls == []


def test_a_finished_job_does_not_run_again(work):
    job = add()
    jobs.run(job.pk)
    assert jobs.run(job.pk) is False
    assert len(work.calls) == 1


def test_a_rolled_back_transaction_leaves_no_job(work):
    with transaction.atomic():
        add()
        transaction.set_rollback(True)
    assert Job.objects.count() == 0


def test_a_twin_of_waiting_work_is_not_added(work):
    add(dedupe_key="a", number=1)
    add(dedupe_key="a", number=2)
    add(dedupe_key="b", number=3)
    assert [job.args["number"] for job in Job.objects.order_by("id")] == [1, 3]


def test_a_twin_of_running_work_waits_behind_it(work):
    job = add(dedupe_key="a")
    work.act = lambda **_: add(dedupe_key="a")
    jobs.run(job.pk)
    assert list(Job.objects.order_by("id").values_list("state", flat=True)) == ["done", "queued"]


def test_a_failed_job_gives_way_to_a_newer_twin(work):
    job = add(dedupe_key="a")

    def act(**_):
        add(dedupe_key="a")
        raise ValueError("too old")

    work.act = act
    jobs.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert Job.objects.filter(state=JobState.QUEUED).count() == 1


def test_a_job_of_later_is_not_claimed(work):
    job = add(wait=timedelta(minutes=1))
    assert jobs.take_due() == []
    assert jobs.run(job.pk) is False


def test_a_lane_runs_in_order(work):
    first, second = add(ordering_key="a", n=1), add(ordering_key="a", n=2)
    other = add(ordering_key="b", n=3)
    assert {pk for pk, _ in jobs.take_due()} == {first.pk, other.pk}
    assert jobs.run(second.pk) is False
    assert jobs.run(first.pk) is True
    assert jobs.run(second.pk) is True
    assert [call["n"] for call in work.calls] == [1, 2]


def test_a_lane_waits_for_its_running_job(work):
    first, second = add(ordering_key="a"), add(ordering_key="a")
    tried: list[jobs.Lease | None] = []
    work.act = lambda **_: tried.append(jobs._claim(second.pk)) if not tried else None
    jobs.run(first.pk)
    assert tried == [None]
    assert jobs.run(second.pk) is True


def test_a_lane_waits_for_its_failed_job(work):
    first, second = add(ordering_key="a"), add(ordering_key="a")
    work.act = fail(ValueError("no"))
    jobs.run(first.pk)
    assert jobs.run(second.pk) is False
    assert jobs.take_due() == []


def test_two_workers_run_one_job_once(work):
    job = add()
    work.act = lambda **_: time.sleep(0.1)
    assert sorted(at_once(*[lambda: jobs.run(job.pk)] * 4)) == [False, False, False, True]
    assert len(work.calls) == 1


def test_two_workers_never_run_one_lane_at_once(work):
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
                jobs.run(row.pk)
        return True

    assert at_once(worker, worker) == [True, True]
    assert [call["n"] for call in work.calls] == list(range(6))
    assert set(most) == {1}


def test_failures_are_retried_ever_later_and_end_dead(work):
    job = add(number=7)
    work.act = fail(ValueError("no luck"))
    waits = []
    for _ in range(2):
        jobs.run(job.pk)
        job.refresh_from_db()
        assert job.state == JobState.QUEUED
        assert job.last_error == "ValueError: no luck"
        assert jobs.run(job.pk) is False, "it must wait"
        waits.append(seconds_until_due(job))
        Job.objects.update(due_at=Now())
    assert 0.5 < waits[0] <= 1
    assert 1.5 < waits[1] <= 2
    assert work.dead == []
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 3)
    assert work.dead == [{"number": 7}]
    assert jobs.take_due() == []


def test_the_rows_own_limit_counts(work):
    job = add()
    Job.objects.update(max_attempts=1)
    work.act = fail(ValueError("no"))
    jobs.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DEAD


def test_give_up_ends_at_once(work):
    job = add(number=7)
    work.act = fail(jobs.GiveUp("The channel was removed."))
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 1)
    assert job.last_error == "The channel was removed."
    assert work.dead == [{"number": 7}]


def test_a_dead_job_does_not_block_its_lane(work):
    first, second = add(ordering_key="a"), add(ordering_key="a")
    work.act = fail(jobs.GiveUp("no"))
    jobs.run(first.pk)
    work.act = lambda **_: None
    assert jobs.run(second.pk) is True


def test_a_dead_job_is_tried_again_by_hand(work):
    job = add()
    work.act = fail(jobs.GiveUp("no"))
    jobs.run(job.pk)
    job.refresh_from_db()
    work.act = lambda **_: None
    assert jobs.requeue_dead(job) is True
    assert jobs.requeue_dead(job) is False
    assert jobs.run(job.pk) is True


def test_an_unknown_job_is_kept_and_tried_again():
    jobs.enqueue("test.of_a_newer_release", client_id=None)
    job = Job.objects.get()
    jobs.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_a_lost_worker_is_replaced_and_its_result_dropped(work):
    job = add()
    kept = []

    def act(**_):
        if len(work.calls) > 1:
            return
        expire(job)
        assert jobs.sweep() == 1
        second, ran = in_thread(lambda: jobs.run(job.pk))
        second.join(10)
        assert ran == [True]
        with jobs.commit():
            kept.append("the first one's result")

    work.act = act
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    assert len(work.calls) == 2
    assert kept == []
    assert work.dead == []


def test_a_lost_lease_cannot_fail_the_new_runner(work):
    job = add()

    def act(**_):
        expire(job)
        jobs.sweep()
        jobs._claim(job.pk)
        raise ValueError("too late")

    work.act = act
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.RUNNING, 2)


def test_a_job_that_kills_its_workers_ends_dead(work):
    job = add(number=7)
    for _ in range(3):
        assert jobs._claim(job.pk)
        expire(job)
        jobs.sweep()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 3)
    assert job.last_error == "The worker stopped without finishing."
    assert work.dead == [{"number": 7}]


def test_a_job_that_is_handed_back_was_never_tried(work):
    job = add(ordering_key="a")
    kept = []

    def act(**_):
        jobs.return_to_queue([job.pk])
        job.refresh_from_db()
        assert (job.state, job.attempts, job.lease_token) == (JobState.QUEUED, 0, None)
        assert jobs.take_due() == [(job.pk, NAME)]
        with jobs.commit():
            kept.append("what a stopped worker found after all")

    work.act = act
    jobs.run(job.pk)
    assert kept == []
    work.act = lambda **_: None
    assert jobs.run(job.pk) is True
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_only_what_runs_is_handed_back(work):
    waiting, done = add(number=1), add(number=2)
    jobs.run(done.pk)
    jobs.return_to_queue([waiting.pk, done.pk, done.pk + 1])
    done.refresh_from_db()
    assert (done.state, done.attempts) == (JobState.DONE, 1)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.attempts) == (JobState.QUEUED, 0)


def test_a_stop_does_not_forgive_what_a_crash_cost(work):
    job = add(number=7)
    for _ in range(3):
        assert jobs._claim(job.pk)
        jobs.return_to_queue([job.pk])
        assert jobs._claim(job.pk)
        expire(job)
        jobs.sweep()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 3)


def test_one_job_that_cannot_be_buried_does_not_stop_the_sweep(work):
    bad, good = add(number=1), add(number=2)
    for job in (bad, good):
        assert jobs._claim(job.pk)
    expire(good)
    Job.objects.filter(pk=bad.pk).update(lease_until=Now() - timedelta(minutes=1), attempts=3)
    with mock.patch.object(work, "dead", None):  # on_dead raises
        jobs.sweep()
    good.refresh_from_db()
    assert good.state == JobState.QUEUED


def test_a_job_is_buried_where_telling_of_it_fails(work, caplog):
    def tell(args):
        Job.objects.filter(pk=after.pk).update(progress=50)  # goes with the failure
        raise ValueError("nobody there")

    job, after = add(ordering_key="a"), add(ordering_key="a")
    work.act = fail(jobs.GiveUp("The channel was removed."))
    work.dead = mock.Mock(append=tell)
    assert jobs.run(job.pk)
    assert jobs.sweep() == 0
    job.refresh_from_db()
    after.refresh_from_db()
    assert (job.state, job.lease_until, after.progress) == (JobState.DEAD, None, 0)
    assert job.last_error.startswith("The channel was removed.")
    assert "ValueError: nobody there" in job.last_error
    (logged,) = caplog.records
    assert logged.getMessage() == f"{NAME} #{job.pk} is dead, and on_dead failed"
    work.act = lambda **_: None
    assert jobs.run(after.pk), "its ordering key goes on"


def test_a_lease_that_holds_is_left_alone(work):
    job = add()
    jobs._claim(job.pk)
    assert jobs.sweep() == 0
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_a_long_job_keeps_its_lease(work, settings):
    settings.JOB_LEASE_SECONDS = 1
    job = add()
    swept = []

    def act(**_):
        ends_at = time.monotonic() + 2.2
        while time.monotonic() < ends_at:
            time.sleep(0.1)
            swept.append(jobs.sweep())

    work.act = act
    with mock.patch.object(jobs, "_lease_renewer", jobs.LeaseRenewer()):
        jobs.run(job.pk)
    assert set(swept) == {0}
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_a_long_commit_does_not_keep_other_leases_from_being_renewed(work):
    committing, other = add(), add()
    leases = list(filter(None, [jobs._claim(job.pk) for job in (committing, other)]))
    assert len(leases) == 2
    Job.objects.update(lease_until=Now() + timedelta(seconds=1))
    with transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=committing.pk)
        renewing, _ = in_thread(lambda: jobs._renew([lease.token for lease in leases]))
        renewing.join(5)
        assert not renewing.is_alive()
    renewed = Job.objects.filter(lease_until__gt=Now() + timedelta(seconds=5))
    assert list(renewed) == [other]


def test_a_job_that_is_over_is_told_of_without_its_lease(work):
    def tell(args):
        with jobs.commit():
            told.append(jobs.current_job())

    told: list[int | None] = []
    job = add()
    work.act = fail(jobs.GiveUp("no"))
    work.dead = mock.Mock(append=tell)
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.last_error, told) == (JobState.DEAD, "no", [None])


def test_a_worker_that_lost_its_lease_tells_nobody_that_it_gave_up(work):
    job = add()

    def act(**_):
        expire(job)
        jobs.sweep()
        assert jobs._claim(job.pk)
        raise jobs.GiveUp("no")

    work.act = act
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, work.dead) == (JobState.RUNNING, 2, [])


def test_the_lease_is_held_by_a_row_lock(work):
    job = add()

    def act(**_):
        with CaptureQueriesContext(connection) as captured, jobs.commit():
            pass
        assert any("FOR NO KEY UPDATE" in query["sql"] for query in captured)

    work.act = act
    jobs.run(job.pk)
    job.refresh_from_db()
    assert job.last_error == ""
    assert job.state == JobState.DONE


def test_outside_a_job_there_is_no_lease_to_lose():
    with jobs.commit():
        assert jobs.current_attempt() == 0


def test_a_job_is_hinted_once(work):
    job = add()
    assert jobs.take_due() == [(job.pk, NAME)]
    assert jobs.take_due() == []


def test_a_lost_hint_is_given_again_ever_later(work):
    job = add()
    jobs.take_due()
    for dispatches, seconds in ((1, 11), (2, 21)):
        job.refresh_from_db()
        assert job.dispatches == dispatches
        Job.objects.update(dispatched_at=Now() - timedelta(seconds=seconds - 3))
        assert jobs.take_due() == []
        Job.objects.update(dispatched_at=Now() - timedelta(seconds=seconds))
        assert len(jobs.take_due()) == 1


def test_a_broker_that_forgot_gets_everything_again(work):
    add()
    add()
    jobs.take_due()
    assert jobs.forget_dispatches() == 2
    assert len(jobs.take_due()) == 2


def test_two_relays_never_take_the_same_job(work):
    for _ in range(60):
        add()

    def relay():
        taken = []
        while found := jobs.take_due(7):
            taken += [pk for pk, _ in found]
        return taken

    one, two = at_once(relay, relay)
    assert len(one) + len(two) == 60
    assert not set(one) & set(two)
