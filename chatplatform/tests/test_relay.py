"""The relay: a due job is dispatched once, and again if its message is lost."""

import dataclasses
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from unittest import mock

import kombu.exceptions
import pytest
from django.db import OperationalError, connection, transaction
from django.db.models.functions import Now

from chatplatform.jobs import enqueue, heartbeat, leases, registry, relay
from chatplatform.jobs.stop_event import Stop
from chatplatform.live import valkey
from chatplatform.models import Job, JobState
from chatplatform.testing import at_once
from chatplatform.tests.job_work import NAME, add, expire_lease

# Claims and leases compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def add_lost(count=1, **values):
    """Jobs whose worker is gone for the last time, the oldest first."""
    rows = [add() for _ in range(count)]
    for number, job in enumerate(rows):
        assert leases.claim(job.pk)
        gone = timedelta(minutes=count - number)
        last = {"lease_until": Now() - gone, "crashes": leases.DEATHS - 1}
        Job.objects.filter(pk=job.pk).update(**last | values)
    return rows


def states():
    return list(Job.objects.order_by("pk").values_list("state", flat=True))


def fail_to_end(error):
    def append(args):
        raise error

    return mock.Mock(append=append)


def test_one_job_that_cannot_be_ended_does_not_stop_the_sweep(work, caplog):
    bad, _ = add_lost(2)
    # The database stores no such text.
    with mock.patch.object(work, "dead", fail_to_end(ValueError("\0"))):
        Job.objects.exclude(pk=bad.pk).update(crashes=0)
        assert relay.sweep() == 2
    assert states() == [JobState.RUNNING, JobState.QUEUED]
    assert f"job {bad.pk} could not be requeued" in caplog.text


def test_a_sweep_that_loses_the_database_goes_on_when_it_is_back(work, caplog, monkeypatch):
    """Each other job would be one more failure, and one more traceback."""
    address, ended = connection.settings_dict, []

    def end(args):
        ended.append(args)
        if len(ended) == 1:
            monkeypatch.setitem(address, "PORT", "9")  # where nobody answers
            execute("SELECT pg_terminate_backend(pg_backend_pid())")

    add_lost(3)
    work.dead, port = mock.Mock(append=end), address["PORT"]
    monkeypatch.setattr(relay, "DATABASE_PAUSE_SECONDS", 0.05)
    with running_relay():
        while "the database is unavailable, trying again" not in caplog.text:
            time.sleep(0.01)
        monkeypatch.setitem(address, "PORT", port)
        while states() != [JobState.DEAD] * 3:
            time.sleep(0.01)
    assert len(ended) == 4, "the first one once more"
    assert "could not be requeued" not in caplog.text


def test_a_long_sweep_is_no_hang(work, alive_file):
    seen = []

    def end(args):
        seen.append(alive_file.exists())
        alive_file.unlink()

    add_lost(3)
    work.dead = mock.Mock(append=end)
    relay.Relay().tick()
    assert seen == [True] * 3


def newer_release():
    """The release that declares a job more."""
    added = {"test.of_a_newer_release": registry.declared[NAME]}
    return mock.patch.dict(registry.declared, added)


def test_a_lost_job_of_a_newer_release_is_left_to_its_relay(work):
    (strange,) = add_lost(name="test.of_a_newer_release")
    assert relay.sweep() == 0
    assert states() == [JobState.RUNNING]
    with newer_release():
        assert relay.sweep() == 1
    assert (states(), work.dead) == ([JobState.DEAD], [strange.args])


def test_a_job_with_a_valid_lease_is_not_swept(work):
    job = add()
    leases.claim(job.pk)
    assert relay.sweep() == 0
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_a_job_that_is_being_committed_is_not_swept(work, caplog):
    job = add()
    assert leases.claim(job.pk)
    expire_lease(job)
    with transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=job.pk)
        at_once(relay.sweep)
    assert not caplog.records, "the sweep waited for the lock"
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    relay.sweep()
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_a_job_is_dispatched_once(work):
    job = add()
    assert relay.take_due() == [(job.pk, NAME)]
    assert relay.take_due() == []


def test_a_lost_message_is_dispatched_again_ever_later(work):
    job = add()
    relay.take_due()
    for dispatches, seconds in ((1, 11), (2, 21)):
        job.refresh_from_db()
        assert job.dispatches == dispatches
        Job.objects.update(dispatched_at=Now() - timedelta(seconds=seconds - 3))
        assert relay.take_due() == []
        Job.objects.update(dispatched_at=Now() - timedelta(seconds=seconds))
        assert len(relay.take_due()) == 1


def test_after_a_broker_restart_everything_is_dispatched_again(work):
    add()
    add()
    relay.take_due()
    assert relay.reset_dispatches() == 2
    assert len(relay.take_due()) == 2


def test_two_relays_never_take_the_same_job(work):
    Job.objects.bulk_create(Job(name=NAME, args={}, client_id=pk % 5) for pk in range(30))

    def take_all():
        taken = []
        while due := relay.take_due():
            taken += [pk for pk, _ in due]
        return taken

    first, second = at_once(take_all, take_all)
    assert len(first) + len(second) == 30
    assert not set(first) & set(second)


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def queue_of_one_key() -> list[Job]:
    return Job.objects.bulk_create(Job(name=NAME, args={}, ordering_key="a") for _ in range(2_000))


@pytest.mark.full
@pytest.mark.parametrize("statistics", ["of one row", "of now"])
def test_a_long_queue_of_one_key_does_not_hold_up_the_others(work, statistics):
    """A look at the queue reads its rows once: reading all of them for each took minutes."""
    if statistics == "of one row":
        *ended, only = queue_of_one_key()
        Job.objects.filter(pk__in=[job.pk for job in ended]).delete()
        execute("VACUUM ANALYZE chatplatform_job")
        only.delete()
    queue = queue_of_one_key()
    other = add(ordering_key="b")
    if statistics == "of now":
        execute("ANALYZE chatplatform_job")
    with transaction.atomic(), connection.cursor() as cursor:
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {relay._DUE}"
        cursor.execute(explain, relay.due_values())
        ((plans,),) = cursor.fetchall()
        transaction.set_rollback(True)
    assert plans[0]["Plan"]["Shared Hit Blocks"] < len(queue)
    assert sorted(relay.take_due()) == [(queue[0].pk, NAME), (other.pk, NAME)]


@pytest.mark.full
def test_clients_take_turns_in_each_queue(work):
    """Behind a thousand jobs of each of four clients, another's is the next."""
    for client in range(4):
        Job.objects.bulk_create(Job(name=NAME, args={}, client_id=client) for _ in range(1_000))
    first = [pk for pk, _ in relay.take_due()]
    assert len(first) == relay.JOBS_IN_BROKER
    assert relay.take_due() == [], "more than few were given to the broker"
    others = Job.objects.bulk_create(Job(name=NAME, args={}, client_id=pk) for pk in (5, 6))
    Job.objects.filter(pk__in=first[:2]).update(state=JobState.DONE)
    assert {pk for pk, _ in relay.take_due()} == {job.pk for job in others}
    Job.objects.filter(pk__in=first[2:4]).update(state=JobState.RUNNING)
    later = [pk for pk, _ in relay.take_due()]
    assert len(later) == 2
    assert not {*later} & {*first}


def test_one_client_leaves_room_in_the_broker(work):
    Job.objects.bulk_create(Job(name=NAME, args={}, client_id=1) for _ in range(1_000))
    assert len(relay.take_due()) == relay.CLIENT_JOBS[registry.Queue.REPLY]
    assert relay.take_due() == []
    (other,) = Job.objects.bulk_create([Job(name=NAME, args={}, client_id=2)])
    assert relay.take_due() == [(other.pk, NAME)]


def test_one_client_leaves_threads_to_others(work):
    Job.objects.bulk_create(Job(name=NAME, args={}, client_id=1) for _ in range(1_000))
    first = [pk for pk, _ in relay.take_due()]
    Job.objects.filter(pk__in=first).update(state=JobState.RUNNING)
    assert relay.take_due() == [], "running jobs are forgotten"
    (other,) = Job.objects.bulk_create([Job(name=NAME, args={}, client_id=2)])
    assert relay.take_due() == [(other.pk, NAME)]
    Job.objects.filter(pk=first[0]).update(state=JobState.DONE)
    assert len(relay.take_due()) == 1


def test_a_job_that_goes_first_finds_room_beside_the_jobs_of_its_client(work):
    rows = Job.objects.bulk_create(Job(name=NAME, args={}, client_id=1) for _ in range(100))
    first = [pk for pk, _ in relay.take_due()]
    Job.objects.filter(pk__in=first).update(state=JobState.RUNNING)
    (urgent,) = Job.objects.bulk_create([Job(name=NAME, args={}, client_id=1, priority=-1)])
    assert relay.take_due() == [(urgent.pk, NAME)]
    assert len(rows) > len(first)


def test_clients_at_their_limit_keep_no_place_from_others(work):
    """Forty clients, whose jobs run and wait, leave the broker empty for the next one."""
    for client in range(1, 41):
        Job.objects.bulk_create(Job(name=NAME, args={}, client_id=client) for _ in range(9))
    while due := [pk for pk, _ in relay.take_due()]:
        Job.objects.filter(pk__in=due).update(state=JobState.RUNNING)
    (other,) = Job.objects.bulk_create([Job(name=NAME, args={}, client_id=50)])
    assert relay.take_due() == [(other.pk, NAME)]


def test_of_many_channel_messages_the_newest_go_before_most_and_so_do_the_oldest(work, monkeypatch):
    rows = Job.objects.bulk_create(Job(name=NAME, args={}, client_id=1) for _ in range(100))
    dispatched = []
    monkeypatch.setattr(relay.Relay, "_dispatch", lambda _, job_id, __: dispatched.append(job_id))
    channel = dataclasses.replace(registry.declared[NAME], queue=registry.Queue.CHANNEL)
    looks = relay.Relay()
    with mock.patch.dict(registry.declared, {NAME: channel}):
        while looks.tick():
            pass
        before = len(dispatched)
        for pk in dispatched[:4]:
            Job.objects.filter(pk=pk).update(state=JobState.DONE)
            looks.tick()
    left = sorted({job.pk for job in rows} - {*dispatched[:before]})
    assert sorted(dispatched[before:]) == [*left[:2], *left[-2:]]


def test_a_full_queue_fills_no_other(work):
    Job.objects.bulk_create(Job(name=NAME, args={}, client_id=1) for _ in range(100))
    relay.take_due()
    job = Job.objects.create(name="chatplatform.remove_files", client_id=1)
    assert registry.queue_of(job.name) != registry.queue_of(NAME)
    assert relay.take_due() == [(job.pk, job.name)]


def test_a_job_of_a_newer_release_waits_for_its_relay(work):
    strange = Job.objects.create(name="test.of_a_newer_release", due_at=Now() - timedelta(hours=1))
    assert relay.take_due() == []
    strange.refresh_from_db()
    assert (strange.state, strange.dispatched_at, strange.dispatches) == ("queued", None, 0)
    assert relay.seconds_to_next() == relay.IDLE_SECONDS, "an old relay looks at it all the time"
    with newer_release():
        assert relay.seconds_to_next() == relay.POLL_SECONDS
        assert relay.take_due() == [(strange.pk, strange.name)]


def test_an_idle_relay_waits_until_a_job_is_signalled(work, monkeypatch):
    asleep, stop, sent = threading.Event(), Stop(), threading.Event()

    def forever():
        asleep.set()
        return 3600

    def run():
        relay.Relay().run(stop)
        connection.close()

    monkeypatch.setattr(relay, "seconds_to_next", forever)
    monkeypatch.setattr(relay.Relay, "_dispatch", lambda *_: sent.set())
    before = _listeners()
    thread = threading.Thread(target=run)
    thread.start()
    try:
        while _listeners() == before or not asleep.is_set():
            time.sleep(0.01)
        enqueue(NAME, client_id=None)
        assert sent.wait(30)
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def alive_file(settings, tmp_path, monkeypatch):
    """What a relay touches at each heartbeat, which it writes each time round."""
    settings.HEARTBEAT_FILE = str(tmp_path / "alive")
    monkeypatch.setattr(heartbeat, "EVERY_SECONDS", 0)
    monkeypatch.setattr(relay, "IDLE_SECONDS", 0.05)
    return tmp_path / "alive"


@contextmanager
def running_relay():
    stop = Stop()

    def run():
        relay.Relay().run(stop)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


def wait_for_heartbeats(alive_file):
    for _ in range(2):
        alive_file.unlink(missing_ok=True)
        while not alive_file.exists():
            time.sleep(0.01)


@pytest.mark.full
def test_a_relay_is_alive_while_its_loop_turns(work, alive_file):
    with running_relay():
        wait_for_heartbeats(alive_file)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE chatplatform_job IN ACCESS EXCLUSIVE MODE")
            waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while cursor.execute(waits).fetchone() == (0,):
                time.sleep(0.01)
            alive_file.unlink()
            time.sleep(0.5)  # ten times the pause between two heartbeats
            assert not alive_file.exists(), "it hangs in a statement, and says that it works"
        wait_for_heartbeats(alive_file)


def test_a_relay_without_database_and_broker_is_alive(work, alive_file, settings, monkeypatch):
    def fail(**_):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(relay, "take_due", fail)
    monkeypatch.setattr(relay, "DATABASE_PAUSE_SECONDS", 0.05)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with running_relay():
        wait_for_heartbeats(alive_file)


def test_a_batch_that_meets_a_silent_broker_is_no_hang(work, alive_file, monkeypatch):
    """Each job of it may take seconds."""
    seen = []

    def fail(**_):
        seen.append(alive_file.exists())
        alive_file.unlink()
        raise kombu.exceptions.OperationalError("no answer")

    monkeypatch.setattr(relay, "BROKER_PAUSE_SECONDS", 0)
    task = mock.Mock(apply_async=fail)
    declaration = dataclasses.replace(registry.declared[NAME], task=task)
    for _ in range(3):
        add()
    with mock.patch.dict(registry.declared, {NAME: declaration}):
        assert relay.Relay().tick()
    assert seen == [True] * 3


def _listeners() -> int:
    ((_, count),) = valkey.shared().pubsub_numsub("live:jobs")
    return int(count)


def test_the_next_look_is_when_the_next_job_is_due(work):
    assert relay.seconds_to_next() == relay.IDLE_SECONDS
    later = add()
    Job.objects.filter(pk=later.pk).update(due_at=Now() + timedelta(hours=1))
    assert relay.seconds_to_next() == relay.IDLE_SECONDS
    Job.objects.filter(pk=later.pk).update(due_at=Now() + timedelta(seconds=0.9))
    assert relay.POLL_SECONDS <= relay.seconds_to_next() < relay.IDLE_SECONDS
    Job.objects.filter(pk=later.pk).update(due_at=Now())
    assert relay.seconds_to_next() == relay.POLL_SECONDS, "it waits for another one: any moment"
    assert relay.take_due()
    assert relay.seconds_to_next() == relay.WATCH_SECONDS, "its message may be lost"
    Job.objects.filter(pk=later.pk).update(state=JobState.RUNNING, lease_until=Now())
    assert relay.seconds_to_next() == relay.WATCH_SECONDS, "its worker may be gone"
    Job.objects.filter(pk=later.pk).update(state=JobState.DONE)
    assert relay.seconds_to_next() == relay.IDLE_SECONDS
