"""Deliveries are counted by their outcome, and read while they wait."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chatplatform.observing import metrics
from webhooks.models import Delivery, WebhookConfig
from webhooks.services import announce, backlog_metrics
from webhooks.transport import Fault

pytestmark = pytest.mark.django_db(transaction=True)


def read():
    return [row.value for row in backlog_metrics.read()]


def test_attempts_are_counted_by_their_outcome(client_a, listening, receiver, deliver, counts):
    announce(client_a.pk, "message.created", {})
    deliver()
    receiver.script = "status:500"
    announce(client_a.pk, "message.created", {})
    deliver()
    seen = counts().by("delivery_seconds_count", "outcome")
    assert seen == {"delivered": 1, "bad_status": 1}


def test_every_outcome_is_there_from_the_start():
    assert set(metrics.DELIVERY_SECONDS.values) == {"delivered", *Fault}


def test_deliveries_are_read_while_they_wait(client_a, listening):
    assert read() == [0, 0]
    announce(client_a.pk, "message.created", {})
    announce(client_a.pk, "message.created", {})
    Delivery.objects.filter(pk=Delivery.objects.earliest("pk").pk).update(
        due_at=timezone.now() - timedelta(minutes=5)
    )
    waiting, oldest = read()
    assert (waiting, 299 < oldest < 400) == (2, True)
    WebhookConfig.objects.update(paused_until=timezone.now() + timedelta(minutes=1))
    assert read() == [2, 0]
