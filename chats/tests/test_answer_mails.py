"""A website's visitor who has left gets an agent's answer by mail."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from bots.language import phrasebook
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.services.core import answer_mails
from identity.services import mails
from identity.testing import Person

CHAT = "/ai/client/chat"


@pytest.fixture
def visitor(page):
    """A visitor, with a chat in which they wrote."""
    made = page.post(CHAT, {"customer": {"name": "Zoe"}, "message": "Is my parcel lost?"}).json()
    token = {"Visitor-Token": made["visitor_token"]}
    return Person({**page.headers, **token}, key=page.key), made["id"]


def leave_mail(visitor, email="zoe@example.com"):
    person, chat_id = visitor
    return person.post(f"{CHAT}/customer/{chat_id}", {"email": email})


def answer(ben, chat_id, text="It is on its way.", **more):
    assert ben.post(f"/ai/chat/{chat_id}/manual", {"text": text, **more}).status_code == 201


def later():
    """The time passes in which the visitor could have read it."""
    Job.objects.filter(name="chats.mail_answers").update(due_at=timezone.now())
    mail.outbox.clear()
    run_jobs()
    return [(sent.to, sent.body) for sent in mail.outbox]


def test_answers_that_are_not_read_are_mailed_together_once(visitor, ben):
    assert leave_mail(visitor).status_code == 200
    _, chat_id = visitor
    answer(ben, chat_id, "It is on its way.\nTrack it at shop.example/track")
    answer(ben, chat_id, "Between us", is_note=True)
    answer(ben, chat_id, "You get it tomorrow.")
    job = Job.objects.get(name="chats.mail_answers")
    assert job.due_at - timezone.now() > answer_mails.WAIT - timedelta(minutes=1)
    ((to, body),) = later()
    assert to == ["zoe@example.com"]
    assert "It is on its way.\nTrack" in body
    assert "You get it tomorrow." in body
    assert "Between us" not in body
    assert "shop.example" not in body, "no stranger's address becomes a link"
    agents = Message.objects.filter(conversation=chat_id, sender_type="agent", is_note=False)
    assert set(agents.values_list("status", flat=True)) == {"delivered"}
    answer(ben, chat_id, "One thing more")
    ((_, body),) = later()
    assert "One thing more" in body
    assert "on its way" not in body


def test_who_reads_it_gets_no_mail(visitor, ben):
    leave_mail(visitor)
    person, chat_id = visitor
    answer(ben, chat_id)
    assert person.post(f"{CHAT}/{chat_id}/read", {}).status_code == 204
    assert later() == []


def test_without_an_address_or_on_other_channels_nothing_is_mailed(visitor, server, ben):
    answer(ben, visitor[1])
    chat = server.post(CHAT, {"customer": {"email": "zoe@example.com"}}).json()["id"]
    answer(ben, chat)
    assert not Job.objects.filter(name="chats.mail_answers").exists()


def test_a_bot_may_mail_none(visitor, ann, ben, bot):
    leave_mail(visitor)
    answer(ben, visitor[1])
    path = f"/ai/bot/{bot.pk}/update-bot"
    assert ann.put(path, {"mail_answers": False}).status_code == 200
    assert later() == []
    answer(ben, visitor[1])
    assert not Job.objects.filter(name="chats.mail_answers", state="queued").exists()
    assert visitor[0].get("/ai/bot/config").json()["answers_by_mail"] is False
    assert ann.put(path, {"mail_answers": True}).status_code == 200
    assert visitor[0].get("/ai/bot/config").json()["answers_by_mail"] is True


def test_it_is_in_the_chats_language(visitor, ben):
    leave_mail(visitor)
    Conversation.objects.update(language="pt-BR")
    answer(ben, visitor[1])
    ((_, body),) = later()
    assert "respondeu" in body


@pytest.mark.parametrize("kind", mails.CUSTOMERS_MAILS)
@pytest.mark.parametrize("language", phrasebook.all_books())
def test_customers_are_mailed_in_every_language_of_the_bots(kind, language):
    values = {"agent": "Ben", "company": "Acme", "bot": "Helper", "chat_code": "ABCD-EFGH",
              "answer": "On its way."}  # fmt: skip
    mail_in = mails.render(kind, language, values)
    said = {"answer": ("Ben", "Acme", "On its way."), "transcript": ("Helper", "ABCD-EFGH")}
    for words in said[kind]:
        assert words in "".join(mail_in)
    assert language == "en" or mail_in != mails.render(kind, "en", values)


def test_one_mailbox_gets_few_mails_a_day(visitor, ben):
    leave_mail(visitor)
    mailed = 0
    for number in range(7):
        answer(ben, visitor[1], f"Answer {number}")
        mailed += len(later())
    assert mailed == 5


def test_an_erased_chat_is_not_mailed(visitor, ben):
    leave_mail(visitor)
    answer(ben, visitor[1])
    Message.objects.filter(conversation=visitor[1]).delete()
    Conversation.objects.filter(pk=visitor[1]).update(last_message=None)
    assert later() == []
