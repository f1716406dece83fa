"""The relay: a due job is dispatched once, and again if its message is lost."""

from datetime import timedelta
from unittest import mock

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from chatplatform.jobs import leases, relay
from chatplatform.models import Job, JobState
from chatplatform.testing import at_once
from chatplatform.tests.job_work import NAME, add, expire_lease

# Claims and leases compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def test_one_job_that_cannot_be_ended_does_not_stop_the_sweep(work):
    bad, good = add(number=1), add(number=2)
    for job in (bad, good):
        assert leases.claim(job.pk)
    expire_lease(good)
    Job.objects.filter(pk=bad.pk).update(lease_until=Now() - timedelta(minutes=1), attempts=3)
    with mock.patch.object(work, "dead", None):  # on_dead raises
        relay.sweep()
    good.refresh_from_db()
    assert good.state == JobState.QUEUED


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
    assert relay.forget_dispatches() == 2
    assert len(relay.take_due()) == 2


def test_two_relays_never_take_the_same_job(work):
    for _ in range(60):
        add()

    def take_all():
        taken = []
        while due := relay.take_due(7):
            taken += [pk for pk, _ in due]
        return taken

    first, second = at_once(take_all, take_all)
    assert len(first) + len(second) == 60
    assert not set(first) & set(second)


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def queue_of_one_key() -> list[Job]:
    return Job.objects.bulk_create(Job(name=NAME, args={}, ordering_key="a") for _ in range(2_000))


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
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {relay._DUE}", [200])
        ((plans,),) = cursor.fetchall()
        transaction.set_rollback(True)
    assert plans[0]["Plan"]["Shared Hit Blocks"] < len(queue)
    assert sorted(relay.take_due()) == [(queue[0].pk, NAME), (other.pk, NAME)]
