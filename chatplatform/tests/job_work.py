"""Rows of the job that the fixture `work` declares, for the tests of `chatplatform.jobs`."""

from datetime import timedelta

from django.db.models.functions import Now

from chatplatform import jobs
from chatplatform.models import Job

NAME = "test.work"


def add(*, client_id=None, **args):
    jobs.enqueue(NAME, client_id=client_id, **args)
    return Job.objects.latest("id")


def fail(error):
    """An `act` that raises."""

    def act(**args):
        raise error

    return act


def expire_lease(job):
    Job.objects.filter(pk=job.pk).update(lease_until=Now() - timedelta(seconds=1))
