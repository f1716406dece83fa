"""Days of failures: first a warning, then the endpoint is switched off; owners get mails."""

from datetime import timedelta
from smtplib import SMTPException

import pytest
from django.core import mail
from django.utils import timezone

from chatplatform.models import Job, JobState
from chatplatform.testing import make_month, run_jobs, written_at
from identity.models import AuditEvent, Role, User
from identity.testing import make_person
from webhooks.models import Delivery, DeliveryState, Payload, WebhookConfig
from webhooks.services import announce, deliveries
from webhooks.tasks import clean_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def failing(client_a, ann, ben, listening, receiver):
    receiver.script = "status:500"
    return listening


def failed_for(config, **time):
    WebhookConfig.objects.filter(pk=config.pk).update(
        failing_since=timezone.now() - timedelta(**time), consecutive_failures=1
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
    assert "turned off" in sent.body
    audited = AuditEvent.objects.get(action="webhook.disabled")
    assert (audited.user, audited.changes) == (None, {"reason": "failing"})


def test_each_owner_is_mailed_in_their_language(client_a, ann, failing, deliver):
    make_person(client_a, Role.OWNER, "Linh")
    make_person(client_a, Role.OWNER, "Gus")
    User.objects.filter(full_name="Linh").update(language="vi")
    User.objects.filter(full_name="Gus").update(is_disabled=True)
    failed_for(failing, days=3, minutes=1)
    announce(client_a.pk, "message.created", {})
    deliver()
    run_jobs()
    english, vietnamese = sorted(mail.outbox, key=lambda message: message.to)
    linh = User.objects.get(full_name="Linh")
    assert (english.to, vietnamese.to) == ([ann.user.email], [linh.email])
    assert english.subject == "Your webhook has been failing for three days"
    assert english.body.startswith("Hi Ann,")
    assert vietnamese.subject == "Điểm nhận webhook của bạn đã lỗi suốt ba ngày"
    assert vietnamese.body.startswith("Xin chào Linh,")
    since = WebhookConfig.objects.get().failing_since
    for message in (english, vietnamese):
        assert f"{since:%Y-%m-%d %H:%M} UTC" in message.body
        assert failing.url in message.body


def test_the_vietnamese_mail_about_an_endpoint_that_is_gone(
    client_a, ann, receiver, listening, deliver
):
    User.objects.filter(pk=ann.user.pk).update(language="vi-VN")
    WebhookConfig.objects.update(url=f"{receiver.url}?token=hidden")
    receiver.script = "status:410"
    announce(client_a.pk, "message.created", {})
    deliver()
    run_jobs()
    (message,) = mail.outbox
    assert message.subject == "Điểm nhận webhook của bạn đã bị tắt"
    assert "410" in message.body
    assert f"/webhook/config/{listening.pk}" in message.body
    assert receiver.url in message.body
    assert "hidden" not in message.body


def test_a_refused_address_does_not_repeat_the_mails_of_others(
    client_a, ann, failing, deliver, monkeypatch
):
    make_person(client_a, Role.OWNER, "Bea")
    broken = User.objects.get(full_name="Bea").email
    failed_for(failing, days=3, minutes=1)
    announce(client_a.pk, "message.created", {})
    deliver()
    send = mail.EmailMessage.send

    def refuse_broken(message, *args, **kwargs):
        if message.to == [broken]:
            raise SMTPException("try later")
        return send(message, *args, **kwargs)

    monkeypatch.setattr(mail.EmailMessage, "send", refuse_broken)
    run_jobs()
    for _ in range(3):
        Job.objects.filter(name="identity.send_mail").update(due_at=timezone.now())
        run_jobs()
    assert [message.to for message in mail.outbox] == [[ann.user.email]]
    waiting = Job.objects.get(name="identity.send_mail", state=JobState.QUEUED)
    assert waiting.args["to"] == [broken]
    assert waiting.attempts == 4


def test_before_three_days_nothing_happens(client_a, failing, deliver):
    failed_for(failing, days=2, hours=23)
    announce(client_a.pk, "message.created", {})
    deliver()
    run_jobs()
    failing.refresh_from_db()
    assert failing.is_active
    assert failing.warned_at is None
    assert mail.outbox == []


def test_one_success_resets_the_health(client_a, failing, receiver, deliver):
    failed_for(failing, days=4)
    receiver.script = "fine"
    announce(client_a.pk, "message.created", {})
    deliver()
    failing.refresh_from_db()
    assert (failing.failing_since, failing.consecutive_failures) == (None, 0)


def test_old_deliveries_are_purged_and_events_stay(client_a, listening, deliver):
    long_ago = timezone.now() - deliveries.RETENTION - timedelta(days=32)
    longer_ago = long_ago - timedelta(days=32)
    for moment in (long_ago, longer_ago):
        make_month(moment, Delivery, Payload)
    with written_at(long_ago):
        event = announce(client_a.pk, "message.created", {})
    deliver()
    clean_up()
    assert Delivery.objects.count() == 1, "its delivery is of today"
    with written_at(longer_ago):
        waiting = announce(client_a.pk, "message.created", {})
    Delivery.objects.update(created_at=longer_ago)
    clean_up()
    assert list(Delivery.objects.values_list("event_id", flat=True)) == [waiting.pk]
    assert list(Payload.objects.values_list("event_id", flat=True)) == [waiting.pk]
    assert set(type(event).objects.values_list("pk", flat=True)) == {event.pk, waiting.pk}
    Delivery.objects.update(due_at=None)
    clean_up()
    assert not Delivery.objects.exists()
