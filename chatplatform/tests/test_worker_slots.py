"""While other clients' jobs run, one client's jobs leave a worker, and a pause, to them."""

import time
from collections import deque

import pytest
import redis

from chatplatform import cpu_slots, jobs
from chatplatform.jobs import leases, worker_slots
from chatplatform.live import valkey
from chatplatform.models import Job, JobState
from chatplatform.testing import in_thread
from chatplatform.tests.job_work import NAME as WORK

pytestmark = pytest.mark.django_db(transaction=True)
SECONDS = 0.5


@pytest.fixture
def two_workers(settings):
    """A host with two workers of replies, which ran no job lately."""
    settings.REPLY_WORKERS = 2
    valkey.shared().delete(worker_slots._ACTIVE)


def in_other_worker(client):
    """The slot of a client's job in a worker process other than this one."""
    slot = worker_slots.slot_for(client.pk, jobs.Queue.REPLY)
    assert slot
    slot.acquire()
    return slot


def started(client):
    """A job of the client, which has begun to run in a thread of this worker."""
    jobs.enqueue(WORK, client_id=client.pk)
    job = Job.objects.latest("pk")
    thread, _ = in_thread(lambda: leases.run(job.pk))
    return thread


def states():
    return list(Job.objects.order_by("pk").values_list("state", flat=True))


@pytest.mark.full
@pytest.mark.usefixtures("two_workers")
def test_a_client_leaves_a_worker_and_a_pause_to_an_active_client(work, client_a, client_b):
    in_other_worker(client_b)
    slot = in_other_worker(client_a)
    waiting = started(client_a)
    started(client_b).join()
    while states()[0] == JobState.QUEUED:
        time.sleep(SECONDS / 10)
    time.sleep(SECONDS)
    assert states() == [JobState.RUNNING, JobState.DONE]
    slot.release()
    began = time.monotonic()
    waiting.join()
    assert states() == [JobState.DONE, JobState.DONE]
    assert time.monotonic() - began > SECONDS / 2


@pytest.mark.usefixtures("two_workers")
def test_a_client_alone_computes_in_all_workers(work, client_a):
    in_other_worker(client_a)
    began = time.monotonic()
    started(client_a).join()
    assert states() == [JobState.DONE]
    assert time.monotonic() - began < cpu_slots.LONGEST_WAIT_SECONDS


@pytest.mark.usefixtures("two_workers")
def test_a_job_that_waits_for_a_server_holds_no_slot(work, client_a, client_b):
    in_other_worker(client_b)
    seconds = []

    def wait_for_a_server(**_):
        cpu_slots.release()
        began = time.monotonic()
        in_other_worker(client_a)
        seconds.append(time.monotonic() - began)

    work.act = wait_for_a_server
    started(client_a).join()
    assert seconds[0] < cpu_slots.LONGEST_WAIT_SECONDS / 2


@pytest.mark.usefixtures("two_workers")
def test_the_slot_of_a_crashed_worker_expires(client_a, client_b):
    in_other_worker(client_b)
    in_other_worker(client_a)
    milliseconds = valkey.shared().pttl(f"worker-slot:{client_a.pk}:0")
    assert 0 < milliseconds <= 1000 * cpu_slots.LONGEST_WAIT_SECONDS


@pytest.mark.usefixtures("two_workers")
def test_without_valkey_no_job_waits(work, client_a, client_b, monkeypatch):
    in_other_worker(client_b)
    in_other_worker(client_a)
    monkeypatch.setattr(valkey, "shared", lambda: redis.Redis(port=1, socket_connect_timeout=1))
    monkeypatch.setattr(valkey, "_idle", deque())
    monkeypatch.setattr(worker_slots, "_in_valkey", valkey.BestEffort("away"))
    began = time.monotonic()
    started(client_a).join()
    assert states() == [JobState.DONE]
    assert time.monotonic() - began < cpu_slots.LONGEST_WAIT_SECONDS
