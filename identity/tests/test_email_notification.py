"""Update Email Notification, and the mails that it chooses."""

import pytest
from django.core import mail
from django.db import transaction

from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.models import AuditEvent, Client, EmailNotification
from identity.services import mails

DESK = ["desk@acme.example", "boss@acme.example"]


def path(client):
    return f"/config/{client.pk}/email-notification"


def test_fields_left_out_keep_their_value(ann):
    first = ann.post(path(ann.client), {"recipients": DESK, "on_handoff": True})
    assert first.status_code == 200
    assert first.json() == {
        "recipients": DESK, "on_assigned": False, "on_unanswered": False, "on_handoff": True,
        "on_channel_error": False, "on_low_credit": False,
        "to_assignee": True, "unanswered_after_minutes": 15,
    }  # fmt: skip
    second = ann.post(path(ann.client), {"unanswered_after_minutes": 5, "on_unanswered": True})
    assert second.json() == first.json() | {
        "unanswered_after_minutes": 5, "on_unanswered": True,
    }  # fmt: skip
    assert ann.get(path(ann.client)).json() == second.json()
    assert EmailNotification.objects.get().recipients == DESK
    changes = [event.changes for event in AuditEvent.objects.order_by("pk")]
    assert changes[0] == {"recipients": [[], DESK], "on_handoff": [False, True]}


def test_a_repeated_address_is_stored_once(ann):
    reply = ann.post(path(ann.client), {"recipients": [DESK[0], DESK[0].upper()]})
    assert reply.json()["recipients"] == DESK[:1]


@pytest.mark.parametrize(
    "body",
    [
        {"recipients": ["no"]},
        {"recipients": "desk@acme.example"},
        {"recipients": [f"a{n}@acme.example" for n in range(21)]},
        {"recipients": ["a@b.example\nBcc: c@d.example"]},
        {"on_handoff": "perhaps"},
        {"unanswered_after_minutes": 0},
        {"unanswered_after_minutes": 10_081},
        {"on_everything": True},
    ],
)
def test_wrong_body(ann, body):
    assert ann.post(path(ann.client), body).status_code == 422
    assert not EmailNotification.objects.exists()


def test_before_anything_was_chosen_nobody_gets_mails(ann, cara):
    reply = ann.get(path(ann.client))
    assert (reply.status_code, reply.json()["recipients"]) == (200, [])
    assert not any(value for name, value in reply.json().items() if name.startswith("on_"))
    assert cara.get(path(ann.client)).status_code == 404
    assert not EmailNotification.objects.exists()


def test_a_test_is_mailed_at_once(ann, cara):
    ann.post(path(ann.client), {"recipients": DESK})
    Client.objects.update(default_language="vi")
    reply = ann.post(f"{path(ann.client)}/test")
    assert (reply.status_code, reply.json()) == (200, {"recipients": DESK})
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (DESK, "Thư thử thông báo của Acme")
    assert cara.post(f"{path(ann.client)}/test").status_code == 404
    for _ in range(9):
        ann.post(f"{path(ann.client)}/test")
    limited = ann.post(f"{path(ann.client)}/test")
    assert (limited.status_code, len(mail.outbox)) == (429, 10)
    assert limited["Retry-After"]


def test_a_test_that_cannot_be_mailed_says_why(ann, settings):
    reply = ann.post(f"{path(ann.client)}/test")
    assert (reply.status_code, reply.json()["code"]) == (409, "no_recipients")
    ann.post(path(ann.client), {"recipients": DESK})
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    reply = ann.post(f"{path(ann.client)}/test")
    assert (reply.status_code, reply.json()["code"]) == (502, "mail_failed")
    settings.EMAIL_BACKEND = settings.NO_EMAIL
    reply = ann.post(f"{path(ann.client)}/test")
    assert (reply.status_code, reply.json()["code"]) == (503, "mail_not_configured")
    assert reply.json()["setting"] == "EMAIL_URL"
    assert mail.outbox == []


@pytest.fixture
def notified(client_a):
    return EmailNotification.objects.create(
        client=client_a,
        recipients=DESK,
        **{f"on_{kind}": True for kind in mails.NOTIFICATIONS if kind != "channel_notice"},
    )


@pytest.mark.parametrize("kind", sorted(mails.NOTIFICATIONS))
@pytest.mark.parametrize("language", ["en", "vi"])
@pytest.mark.django_db(transaction=True)
def test_each_kind_is_mailed_in_the_clients_language(notified, kind, language):
    Client.objects.update(default_language=language)
    context = {name: f"<{name}> & co" for name in mails.NOTIFICATIONS[kind]}
    mails.notify(notified.client_id, kind, context)
    assert run_jobs() == 1
    (sent,) = mail.outbox
    assert sent.to == DESK
    assert (sent.subject, sent.body) == mails.render(kind, language, context)
    written = f"{sent.subject}\n{sent.body}"
    assert all(value in written for value in context.values())
    assert "{" not in written
    assert mails.render(kind, language, {})[0]


def test_nothing_is_sent_unless_chosen(notified, client_b):
    EmailNotification.objects.update(on_handoff=False)
    mails.notify(notified.client_id, "handoff", {"customer": "Zoe"})
    mails.notify(client_b.pk, "assigned", {"customer": "Zoe"})
    EmailNotification.objects.update(recipients=[])
    mails.notify(notified.client_id, "assigned", {"customer": "Zoe"})
    assert not Job.objects.exists()


def test_a_rollback_sends_nothing(notified):
    with transaction.atomic():
        mails.notify(notified.client_id, "handoff", {"customer": "Zoe"})
        transaction.set_rollback(True)
    assert not Job.objects.exists()


def test_unknown_context_is_an_error(notified):
    with pytest.raises(ValueError, match="password"):
        mails.notify(notified.client_id, "handoff", {"password": "x"})


def test_a_customers_name_is_cut_to_one_short_line():
    name = "Zoe\r\nBcc: c@d.example\n<img src=x>" + "x" * 1000
    subject, text = mails.render("handoff", "en", {"customer": name})
    assert subject.startswith("“Zoe Bcc: c@d. example <img src=x>xxx")
    assert len(subject) < 350
    assert "\nBcc" not in text


def test_an_unknown_language_gets_english():
    assert mails.render("welcome", "pt-BR", {"company": "Acme"})[0] == "Your account at Acme"
    assert mails.render("welcome", "vi-VN", {"company": "Acme"})[0].startswith("Tài khoản")


def test_a_strangers_name_does_not_turn_a_subject_around():
    name = "\u202eevil \u2067Ltd\u2069\u200f\u061c"
    subject, text = mails.render("handoff", "en", {"customer": name, "reason": "\u202dx\u202c"})
    assert subject.startswith("evil Ltd")
    assert not any(mark in subject + text for mark in "\u061c\u200f\u202c\u202d\u202e\u2067\u2069")
