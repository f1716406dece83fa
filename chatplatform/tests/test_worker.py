"""A real worker and a real broker, with faults: which jobs end, go on, or return to the queue."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from celery import Celery
from django.conf import settings as django_settings
from django.utils import timezone

from chatplatform import celery_worker, jobs
from chatplatform.models import Job, JobState
from chatplatform.testing.web_process import database_url
from local.data_dir import make_data_dir
from local.parts import Config, parts
from local.valkey import Valkey

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
# Children are the harder case.
POOLS = ["prefork", pytest.param("threads", marks=pytest.mark.drill)]


@pytest.fixture
def broker(tmp_path):
    server = Valkey(make_data_dir(tmp_path / "broker"))
    server.start()
    yield server
    server.stop(secs=3)


@contextmanager
def worker(broker, pool):
    """A worker of the queue `train`, with the tasks of worker_app.py, that takes messages."""
    command = [
        "worker", "--without-gossip", "--without-mingle", "--without-heartbeat",
        "-n", "worker-bulk@%h", "--pool", pool, "--concurrency", "4", "-Q", "train",
    ]  # fmt: skip
    with celery(broker, command) as process:
        wait_until(lambda: is_alive(broker) or process.poll() is not None)
        assert process.poll() is None, "the worker ended"
        yield process


@contextmanager
def beat(broker):
    schedule = str(broker.data_dir / "beat-schedule")
    with celery(
        broker, ["beat", "--schedule", schedule, "--pidfile=", "--max-interval", "1"]
    ) as process:
        yield process


@contextmanager
def celery(broker, command):
    """A process of worker_app.py."""
    command = [
        sys.executable, "-m", "celery", "--quiet", "-A", "chatplatform.tests.worker_app",
        *command, "--loglevel", "warning",
    ]  # fmt: skip
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings",
        "DATABASE_URL": database_url(),
        "REDIS_URL": broker.url,
        "SECRET_KEY": django_settings.SECRET_KEY,
        "REMAP_SIGTERM": "SIGQUIT",
        "HANGS_NOTE": str(hangs_note(broker)),
        "WARM_NOTE": str(broker.data_dir / "warm"),
        "LOOP_HANGS": str(broker.data_dir / "loop-hangs"),
        "HEARTBEAT_FILE": str(alive_file(broker)),
    }
    process = subprocess.Popen(command, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def hangs_note(broker):
    """The file that the worker creates when its consumer hangs."""
    return broker.data_dir / "hangs"


def alive_file(broker):
    """The file that the worker touches with each heartbeat."""
    return broker.data_dir / "alive"


def is_alive(broker, name="worker-bulk"):
    """Whether the process has written its heartbeat since the last look."""
    with redis.Redis.from_url(broker.url) as client:
        return bool(client.delete(f"alive:{name}"))


def wait_for_heartbeats(broker):
    """Wait until the file was touched and touched again."""
    for _ in range(2):
        alive_file(broker).unlink(missing_ok=True)
        wait_until(alive_file(broker).exists)


def stop_broker(broker):
    broker.process.kill()
    broker.process.wait()


def assert_no_heartbeat(broker, process):
    """What hangs touches no file from now on, while its process lives."""
    wait_until(hangs_note(broker).exists)
    time.sleep(1)  # what had begun; and HANG_TIMEOUT_SECONDS
    alive_file(broker).unlink(missing_ok=True)
    time.sleep(
        1.5
    )  # more than the pause between two heartbeats, and between two looks for a broker
    assert not alive_file(broker).exists()
    assert process.poll() is None


def wait_until(condition):
    """Wait for as long as a test may last: how fast the machine is decides nothing."""
    while not condition():
        time.sleep(0.02)


def send(broker, name, **arguments):
    sender = Celery(broker=broker.url, set_as_current=False)
    with sender.connection_for_write() as connection:
        sender.send_task(name, kwargs=arguments, queue="train", connection=connection)


def nap(broker, note, seconds):
    send(broker, "test.nap", seconds=seconds, note=str(note))


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def running_job(broker):
    """A job of a minute that the worker has claimed."""
    jobs.enqueue("test.work", client_id=None)
    job = Job.objects.get()
    send(broker, "test.work", job_id=job.pk)
    wait_until(lambda: Job.objects.filter(state=JobState.RUNNING).exists())
    return job


@pytest.mark.parametrize("pool", POOLS)
def test_a_worker_survives_a_broker_that_is_killed_while_tasks_run(broker, pool, tmp_path):
    with worker(broker, pool) as process:
        for number in range(3):
            nap(broker, tmp_path / f"during-{number}", 1)
            wait_until((tmp_path / f"during-{number}.started").exists)
            stop_broker(broker)
            wait_until((tmp_path / f"during-{number}").exists)
            broker.start()
            nap(broker, tmp_path / f"after-{number}", 0)
            wait_until((tmp_path / f"after-{number}").exists)
        assert process.poll() is None
        wait_until(lambda: is_alive(broker))


def test_a_worker_takes_jobs_after_its_warm_up_and_writes_no_heartbeat_while_it_takes_none(
    broker, tmp_path
):
    nap(broker, note := tmp_path / "note", 0)
    with worker(broker, "threads") as process:
        wait_until(note.exists)
        assert (broker.data_dir / "warm").stat().st_mtime <= note.stat().st_mtime
        process.send_signal(signal.SIGWINCH)  # the consumer hangs; the process lives
        wait_until(hangs_note(broker).exists)
        is_alive(broker)  # deletes what was written before
        assert_no_heartbeat(broker, process)
        assert not is_alive(broker)


@pytest.mark.parametrize("pool", POOLS)
def test_a_worker_ends_at_once_if_its_consumer_fails(broker, pool):
    with worker(broker, pool) as process:
        job = running_job(broker)
        pids = children(process)
        process.send_signal(signal.SIGUSR2)
        assert process.wait() == 1
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert bool(pids) == (pool == "prefork")
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.RUNNING, 1), "a crash counts"


def test_children_of_a_killed_worker_end(broker):
    with worker(broker, "prefork") as process:
        running_job(broker)
        pids = children(process)
        process.kill()
        process.wait()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert pids


@pytest.mark.parametrize("pool", POOLS)
def test_a_worker_whose_broker_goes_away_is_alive_unless_it_hangs(broker, pool):
    with worker(broker, pool) as process:
        stop_broker(broker)
        wait_for_heartbeats(broker)
        process.send_signal(signal.SIGWINCH)
        assert_no_heartbeat(broker, process)


@pytest.mark.drill
def test_a_worker_whose_loop_hangs_is_not_alive(broker):
    with worker(broker, "threads") as process:
        wait_for_heartbeats(broker)
        (broker.data_dir / "loop-hangs").touch()
        assert_no_heartbeat(broker, process)


def test_a_worker_is_alive_without_a_broker_until_its_loop_hangs(broker):
    command = ["worker", "-n", "worker-bulk@%h", "--pool", "threads", "-Q", "train"]
    stop_broker(broker)
    with celery(broker, command) as process:
        wait_for_heartbeats(broker)
        broker.start()
        wait_until(lambda: is_alive(broker))
        stop_broker(broker)
        wait_for_heartbeats(broker)
        (broker.data_dir / "loop-hangs").touch()
        assert_no_heartbeat(broker, process)


def test_beat_is_alive_while_it_ticks_or_waits_for_the_broker(broker):
    stop_broker(broker)
    with beat(broker) as process:
        wait_for_heartbeats(broker)
        broker.start()
        wait_until(lambda: is_alive(broker, "beat"))
        wait_for_heartbeats(broker)
        process.send_signal(signal.SIGWINCH)
        assert_no_heartbeat(broker, process)


@pytest.mark.parametrize("pool", POOLS)
def test_a_stop_returns_interrupted_jobs_to_the_queue(broker, pool):
    with worker(broker, pool) as process:
        job = running_job(broker)
        pids = children(process)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not Job.objects.filter(state=JobState.RUNNING).exists())
        job.refresh_from_db()
        assert (job.state, job.attempts, job.dispatched_at) == (JobState.QUEUED, 0, None)
        assert job.due_at <= timezone.now()
        process.wait()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_a_stop_that_hangs_ends_in_time(broker):
    with worker(broker, "prefork") as process:
        (broker.data_dir / "loop-hangs").touch()
        wait_until(hangs_note(broker).exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) != 0


def test_a_worker_is_killed_only_after_the_time_for_its_stop(tmp_path):
    started = parts(Config("127.0.0.1", 8000, tmp_path))
    soft = [part for part in started if part.environ.get("REMAP_SIGTERM") == "SIGQUIT"]
    assert soft
    limit = django_settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT + celery_worker.STOP_SECONDS
    for part in soft:
        assert part.patience > limit
