"""Endpoints, events and deliveries in the admin site."""

import pytest
from django.urls import reverse

from identity.models import User
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState
from webhooks.services import announce


@pytest.fixture
def staff(client, db):
    client.force_login(User.objects.create_superuser("staff@example.com", "x", full_name="Staff"))
    return client


@pytest.fixture
def failed(client_a, endpoint):
    announce(client_a.pk, "message.created", {"a": 1})
    Delivery.objects.update(state=DeliveryState.GAVE_UP, due_at=None, attempts=10)
    row = Delivery.objects.get()
    DeliveryAttempt.objects.create(
        client=client_a, delivery=row, number=1, error="timeout", duration_ms=15000
    )
    return row


@pytest.mark.parametrize("name", ["event", "webhookconfig", "delivery"])
def test_lists_and_pages_show_no_secret(staff, failed, name):
    row = {"event": failed.event_id, "webhookconfig": failed.config_id, "delivery": failed.pk}
    for path in (
        reverse(f"admin:webhooks_{name}_changelist"),
        reverse(f"admin:webhooks_{name}_change", args=[row[name]]),
    ):
        reply = staff.get(path)
        assert reply.status_code == 200
        assert failed.config.secret not in reply.content.decode()
        assert "whsec_" not in reply.content.decode()


def test_attempts_stand_beside_a_delivery(staff, failed):
    page = staff.get(reverse("admin:webhooks_event_change", args=[failed.event_id]))
    assert "1: timeout (15000 ms)" in page.content.decode()


def send_again(staff, row):
    return staff.post(
        reverse("admin:webhooks_delivery_changelist"),
        {"action": "send_again", "_selected_action": [row.pk]},
        follow=True,
    )


def test_sent_again_by_hand(staff, failed):
    assert "1 queued; 0 skipped" in send_again(staff, failed).content.decode()
    failed.refresh_from_db()
    assert (failed.state, failed.attempts_before) == (DeliveryState.PENDING, 10)
    assert failed.due_at


def test_not_to_an_endpoint_that_is_off(staff, failed):
    type(failed.config).objects.update(is_active=False)
    assert "0 queued; 1 skipped" in send_again(staff, failed).content.decode()
    failed.refresh_from_db()
    assert failed.due_at is None
