"""Days of failures: a warning, then the end; owners hear of both."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from chatplatform.testing import run_jobs
from identity.models import AuditEvent, Role
from identity.testing import make_person
from webhooks.models import Delivery, DeliveryState, WebhookConfig
from webhooks.services import announce, deliveries
from webhooks.tasks import clean_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def failing(client_a, ann, ben, listening, receiver):
    receiver.script = "status:500"
    return listening


def failed_for(config, **time):
    WebhookConfig.objects.filter(pk=config.pk).update(
        failing_since=timezone.now() - timedelta(**time), failures_in_row=1
    )


def test_after_three_days_the_owners_are_warned_once(client_a, failing, deliver):
    failed_for(failing, days=3, minutes=1)
    for _ in range(2):
        announce(client_a.pk, "message.created", {})
        WebhookConfig.objects.update(paused_until=None)
        deliver()
        run_jobs()
    failing.refresh_from_db()
    assert failing.is_active
    assert failing.warned_at
    (sent,) = mail.outbox
    assert sent.to[0].startswith("ann-")
    assert failing.url in sent.body
    assert failing.secret not in sent.body


def test_after_five_days_it_is_switched_off(client_a, failing, deliver, client_b):
    make_person(client_b, Role.OWNER, "Cara")
    failed_for(failing, days=5, minutes=1)
    announce(client_a.pk, "message.created", {})
    deliver()
    run_jobs()
    failing.refresh_from_db()
    assert (failing.is_active, failing.disabled_reason) == (False, "failing")
    assert Delivery.objects.get().state == DeliveryState.GAVE_UP
    (sent,) = mail.outbox
    assert [address.split("-")[0] for address in sent.to] == ["ann"]
    assert "switched off" in sent.body
    audited = AuditEvent.objects.get(action="webhook.disabled")
    assert (audited.user, audited.changes) == (None, {"reason": "failing"})


def test_before_three_days_nothing_happens(client_a, failing, deliver):
    failed_for(failing, days=2, hours=23)
    announce(client_a.pk, "message.created", {})
    deliver()
    run_jobs()
    failing.refresh_from_db()
    assert failing.is_active
    assert failing.warned_at is None
    assert mail.outbox == []


def test_one_success_begins_anew(client_a, failing, receiver, deliver):
    failed_for(failing, days=4)
    receiver.script = "fine"
    announce(client_a.pk, "message.created", {})
    deliver()
    failing.refresh_from_db()
    assert (failing.failing_since, failing.failures_in_row) == (None, 0)


def test_old_deliveries_are_forgotten_and_events_stay(client_a, listening, deliver):
    announce(client_a.pk, "message.created", {})
    deliver()
    clean_up()
    assert Delivery.objects.count() == 1
    event = Delivery.objects.get().event
    long_ago = timezone.now() - deliveries.RETENTION - timedelta(hours=1)
    Delivery.objects.update(created_at=long_ago)
    type(event).objects.update(created_at=long_ago)
    waiting = announce(client_a.pk, "message.created", {})
    Delivery.objects.filter(event_id=waiting.pk).update(created_at=long_ago)
    clean_up()
    assert [one.event_id for one in Delivery.objects.all()] == [waiting.pk]
    assert type(event).objects.count() == 2
    assert (
        not hasattr(event, "payload")
        or not type(event.payload).objects.filter(pk=event.pk).exists()
    )
