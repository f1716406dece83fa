"""Mails about chats go to the client's recipients only."""

from django.core import mail

from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation


def configure(ann, **flags):
    path = f"/config/{ann.client.pk}/email-notification"
    body = {"recipients": ["desk@acme.example"], **flags}
    assert ann.post(path, body).status_code == 200


def open_chat(server):
    chat_id = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]
    return Conversation.objects.get(pk=chat_id)


def mails_queued():
    return Job.objects.filter(name="identity.send_mail").count()


def test_a_handover_is_mailed(ann, server):
    configure(ann, on_handoff=True)
    chat = open_chat(server)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": "I want a human", "reply": "async"})
    run_jobs()
    (sent,) = mail.outbox
    assert sent.to == ["desk@acme.example"]
    assert "Zoe" in sent.subject
    assert str(chat.pk) in sent.body
    assert "customer_asked" in sent.body


def test_an_own_assignment_is_not_mailed(ann, ben, server):
    configure(ann, on_assigned=True)
    chat = open_chat(server)
    path = f"/ai/chat/{chat.pk}/assign"
    assert ben.post(path, {"assign_type": "agent"}).status_code == 200
    assert mails_queued() == 0
    reply = ann.post(path, {"assign_type": "agent", "user_id": ann.user.pk})
    assert reply.status_code == 200
    assert mails_queued() == 0
    assert ann.post(path, {"assign_type": "agent", "user_id": ben.user.pk}).status_code == 200
    assert mails_queued() == 1


def test_without_the_flag_nothing_is_mailed(ann, server):
    configure(ann, on_handoff=False)
    chat = open_chat(server)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": "I want a human", "reply": "async"})
    run_jobs()
    assert mail.outbox == []
