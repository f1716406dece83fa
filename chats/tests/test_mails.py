"""Mails about chats go to the client's recipients, and to the chat's agent."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation
from chats.services.desk import timers
from identity.models import User


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


@pytest.mark.parametrize("to_assignee", [True, False])
def test_an_assignment_reaches_the_agent(ann, ben, server, to_assignee):
    configure(ann, on_assigned=True, to_assignee=to_assignee)
    User.objects.filter(pk=ben.user.pk).update(language="vi")
    path = f"/ai/chat/{open_chat(server).pk}/assign"
    assert ann.post(path, {"assign_type": "agent", "user_id": ben.user.pk}).status_code == 200
    queued = Job.objects.filter(name="identity.send_mail").order_by("pk")
    sent_to = [(job.args["to"], job.args["language"]) for job in queued]
    to_agent = ([ben.user.email], "vi")
    assert sent_to == [(["desk@acme.example"], "en"), *([to_agent] if to_assignee else [])]


def test_an_agent_who_is_a_recipient_gets_one_mail(ann, ben, server):
    configure(ann, on_assigned=True, recipients=[ben.user.email])
    path = f"/ai/chat/{open_chat(server).pk}/assign"
    assert ann.post(path, {"assign_type": "agent", "user_id": ben.user.pk}).status_code == 200
    assert mails_queued() == 1


@pytest.mark.parametrize("has_agent", [True, False])
def test_an_unanswered_customer_reaches_the_agent(ann, ben, server, has_agent):
    configure(ann, on_unanswered=True, recipients=[])
    waiting = {"waiting_since": timezone.now() - timedelta(hours=1), "assign_type": "queue"}
    if has_agent:
        waiting |= {"assign_type": "agent", "assignee": ben.user}
    Conversation.objects.filter(pk=open_chat(server).pk).update(**waiting)
    timers.warn_unanswered()
    queued = Job.objects.filter(name="identity.send_mail")
    assert [job.args["to"] for job in queued] == ([[ben.user.email]] if has_agent else [])


def test_without_the_flag_nothing_is_mailed(ann, server):
    configure(ann, on_handoff=False)
    chat = open_chat(server)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": "I want a human", "reply": "async"})
    run_jobs()
    assert mail.outbox == []
