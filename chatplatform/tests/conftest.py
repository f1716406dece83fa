"""A job whose function a test sets, for the tests of `chatplatform.jobs`."""

from unittest import mock

import pytest

from chatplatform import jobs
from chatplatform.jobs import registry
from chatplatform.tests.job_work import NAME


class Work:
    """A declared job that records its calls and does what the test sets as `act`."""

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
    job = Work()
    declared = registry.Declaration(job.run, jobs.Queue.REPLY, 3, None, job.on_dead)
    with mock.patch.dict(registry.declared, {NAME: declared}):
        yield job
