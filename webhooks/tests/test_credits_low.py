"""credits.low: announced when a client's credits run low."""

import pytest

from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs
from identity.models import Subscription
from identity.services import credits
from webhooks.catalogue import EVENTS
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


def use(client, cost, reference="r"):
    with credits.charge(client.pk, cost=cost, reference=reference):
        pass


def test_the_event_holds_what_the_catalogue_lists(client_a, client_b):
    use(client_a, 801)
    assert run_jobs() == 1
    event = Event.objects.get()
    assert (event.client_id, event.type) == (client_a.pk, "credits.low")
    assert event.data == {"plan": "trial", "credits_left": 199, "threshold": 20}
    assert set(event.data) == set(EVENTS["credits.low"].data)


def test_used_up_credits_are_announced_too(client_a):
    use(client_a, 900, "r1")
    use(client_a, 100, "r2")
    run_jobs()
    thresholds = Event.objects.order_by("pk").values_list("data__threshold", flat=True)
    assert list(thresholds) == [20, 0]


def test_enough_credits_are_not_announced(client_a):
    use(client_a, 800)
    assert run_jobs() == 0
    assert not Event.objects.exists()


def test_a_worker_that_lost_its_lease_announces_nothing(client_a, monkeypatch):
    def lose(*_, **__):
        Job.objects.update(lease_token=None)
        return Subscription.objects.get(client=client_a)

    use(client_a, 801)
    monkeypatch.setattr("webhooks.tasks.Subscription.objects.get", lose)
    run_jobs()
    assert not Event.objects.exists()
    assert Job.objects.get().state == JobState.RUNNING, "the sweep gives it to another"
