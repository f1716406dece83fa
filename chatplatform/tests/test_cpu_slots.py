"""A worker computes few jobs of one client at once, so that others have time too."""

import threading
import time

import pytest

from chatplatform import egress, jobs
from chatplatform.egress import ConnectionFailed
from chatplatform.jobs import leases
from chatplatform.models import Job
from chatplatform.testing import in_thread
from chatplatform.tests.job_work import NAME

pytestmark = pytest.mark.django_db(transaction=True)
HANGS_AFTER_SECONDS = 30
CLIENT, OTHER = 1, 2
# Long enough for a job that does not wait to begin.
SOON_SECONDS = 0.5


class Computing:
    """Jobs that compute until they may end, or call another server first."""

    def __init__(self):
        self.begun, self.may_end = [], threading.Event()
        self._began, self._threads = threading.Condition(), []

    def start(self, client, number, **args):
        jobs.enqueue(NAME, client_id=client, number=number, **args)
        row = Job.objects.latest("id")
        self._threads.append(in_thread(lambda: leases.run(row.pk))[0])

    def act(self, *, number, calls=False):
        if calls:
            with pytest.raises(ConnectionFailed):
                egress.request("GET", "http://127.0.0.1:9/", purpose="model", allow=["127.0.0.1:9"])
        with self._began:
            self.begun.append(number)
            self._began.notify_all()
        assert self.may_end.wait(HANGS_AFTER_SECONDS)

    def wait_for(self, count):
        with self._began:
            assert self._began.wait_for(lambda: len(self.begun) >= count, HANGS_AFTER_SECONDS)

    def end(self):
        self.may_end.set()
        for thread in self._threads:
            thread.join(HANGS_AFTER_SECONDS)
            assert not thread.is_alive()


@pytest.fixture
def computing(work):
    computing = Computing()
    work.act = computing.act
    yield computing
    computing.end()


def test_one_job_of_a_client_computes_at_a_time_and_those_of_others_do_not_wait_for_them(computing):
    for number in range(5):
        computing.start(CLIENT, number)
    computing.wait_for(1)
    computing.start(OTHER, 10)
    computing.start(None, 11)
    computing.wait_for(3)
    time.sleep(SOON_SECONDS)
    assert len(computing.begun) == 3
    assert {*computing.begun} >= {10, 11}
    computing.may_end.set()
    computing.wait_for(7)


def test_a_job_that_calls_another_server_lets_the_next_one_begin(computing):
    for number in range(5):
        computing.start(CLIENT, number, calls=True)
    computing.wait_for(5)
