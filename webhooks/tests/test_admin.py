"""Endpoints, events and deliveries in the admin site."""

import pytest
from django.urls import reverse
from django.utils import timezone

from identity.models import AuditEvent, User
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, WebhookConfig
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
        assert "<time datetime=" in reply.content.decode()


def test_attempts_stand_beside_a_delivery(staff, failed):
    page = staff.get(reverse("admin:webhooks_event_change", args=[failed.event_id]))
    assert "1: Your server didn&#x27;t respond in time (15000 ms)" in page.content.decode()


def send_again(staff, row):
    return staff.post(
        reverse("admin:webhooks_delivery_changelist"),
        {"action": "send_again", "_selected_action": [row.pk]},
        follow=True,
    )


def test_sent_again_by_hand(staff, failed):
    assert "1 delivery will be resent." in send_again(staff, failed).content.decode()
    failed.refresh_from_db()
    assert (failed.state, failed.attempts_before_replay) == (DeliveryState.PENDING, 10)
    assert failed.due_at


def test_not_to_an_endpoint_that_is_off(staff, failed):
    type(failed.config).objects.update(is_active=False)
    answer = send_again(staff, failed).content.decode()
    assert "1 delivery was skipped because its webhook is off." in answer
    failed.refresh_from_db()
    assert failed.due_at is None


@pytest.fixture
def ann_at_site(client, ann):
    client.force_login(ann.user)
    return client


def act(browser, name, row, **more):
    form = {"action": name, "_selected_action": [row.pk], **more}
    return browser.post(reverse("admin:webhooks_webhookconfig_changelist"), form, follow=True)


def test_an_endpoint_that_the_platform_switched_off_is_switched_on(ann_at_site, ann, listening):
    WebhookConfig.objects.update(
        is_active=False, disabled_reason="failing", disabled_at=timezone.now(),
        consecutive_failures=50, event_types=["message.created"],
    )  # fmt: skip
    assert "is on." in act(ann_at_site, "switch_on", listening).content.decode()
    row = WebhookConfig.objects.get()
    assert (row.is_active, row.disabled_reason, row.consecutive_failures) == (True, None, 0)
    assert (row.url, row.event_types) == (listening.url, ["message.created"])
    assert AuditEvent.objects.get(action="webhook.updated").user == ann.user
    assert "was already on." in act(ann_at_site, "switch_on", listening).content.decode()
    assert AuditEvent.objects.filter(action="webhook.updated").count() == 1
    page = ann_at_site.get(reverse("admin:webhooks_webhookconfig_change", args=[row.pk]))
    _, activity = page.content.decode().split('id="activity"')
    assert "Webhook changed" in activity
    assert ann.user.full_name in activity


def test_a_test_is_sent_and_no_second_one_meanwhile(ann_at_site, endpoint):
    assert "Test sent to" in act(ann_at_site, "send_test", endpoint).content.decode()
    assert Delivery.objects.get().is_test
    assert "one test at a time" in act(ann_at_site, "send_test", endpoint).content.decode()
    assert Delivery.objects.count() == 1


def test_the_secret_is_rolled_after_a_question_and_shown_once(ann_at_site, endpoint):
    asked = act(ann_at_site, "roll_secret", endpoint)
    assert WebhookConfig.objects.get().secret == endpoint.secret
    assert "whsec_" not in asked.content.decode()
    reply = act(ann_at_site, "roll_secret", endpoint, confirmed="yes")
    row = WebhookConfig.objects.get()
    assert row.secret != endpoint.secret == row.previous_secret
    assert row.secret in reply.content.decode()
    assert "no-store" in reply["Cache-Control"]
    assert AuditEvent.objects.filter(action="webhook.secret_rotated").count() == 1
    listed = ann_at_site.get(reverse("admin:webhooks_webhookconfig_changelist"))
    assert "whsec_" not in listed.content.decode()


@pytest.mark.parametrize("name", ["switch_on", "send_test", "roll_secret"])
def test_nobody_acts_on_another_clients_endpoint(client, cara, endpoint, name):
    WebhookConfig.objects.update(is_active=False)
    client.force_login(cara.user)
    act(client, name, endpoint, confirmed="yes")
    row = WebhookConfig.objects.get()
    assert (row.is_active, row.secret) == (False, endpoint.secret)
    assert not Delivery.objects.exists()
