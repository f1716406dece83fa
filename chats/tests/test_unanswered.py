"""Questions without an answer are listed in the site, answered there, and then known."""

import re

import pytest
from django.test import Client as Browser
from django.urls import reverse

from bots.models import Document
from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.models import Conversation
from chats.testing import make_chat
from identity.testing import make_person, signed_in

LIST = reverse("admin:chats_unanswered")
QUESTION = "May I bring my dog into the shop?"


@pytest.fixture
def without_answer(bot, add_message):
    """A question that the bot had no answer to, and what it said instead."""
    chat = make_chat(bot)
    asked = add_message(chat, "customer", QUESTION)
    receipt = {"decision": "below_gate", "confidence": 0.1, "threshold": 0.5, "chunks": []}
    return add_message(chat, "system", "A colleague answers.", in_reply_to=asked, receipt=receipt)


def test_each_question_leads_to_its_chat_and_its_receipt(site, without_answer, bot, add_message):
    chat = without_answer.conversation
    other = add_message(chat, "customer", "When do you open?")
    add_message(chat, "bot", "At nine.", in_reply_to=other, receipt={"decision": "answered"})
    page = site.get(LIST).content.decode()
    assert QUESTION in page
    assert "When do you open?" not in page
    why = reverse("admin:chats_why", args=[chat.pk, without_answer.pk])
    assert why in page
    assert reverse("admin:chats_conversation_change", args=[chat.pk]) in page
    assert "10% (needs 50%)" in site.get(why).content.decode()
    Conversation.objects.update(is_preview=True)
    assert QUESTION not in site.get(LIST).content.decode()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_an_answer_is_written_and_the_question_asked_again_is_answered(site, without_answer, bot):
    trained(bot, "The shop is open from nine to five on weekdays.")
    path = reverse("admin:chats_answer", args=[without_answer.pk])
    page = site.get(path).content.decode()
    assert QUESTION in page
    assert re.search("<textarea[^>]+autofocus", page)
    form = {"question": QUESTION, "answer": "Yes, dogs are welcome.", "valid_until": "2040-12-24"}
    reply = site.post(path, form)
    assert QUESTION in site.get(reply.url).content.decode()
    run_jobs()
    asked = site.post(reply.url, {"question": QUESTION})
    run_jobs()
    assert "Yes, dogs are welcome." in site.get(asked.url).content.decode()
    page = site.get(LIST).content.decode()
    assert "Answered" in page
    assert path not in page
    document = Document.objects.get(source="question_answer")
    assert document.valid_to
    assert document.valid_to.date().isoformat() == "2040-12-25"
    edit = reverse("admin:bots_document_change", args=[document.pk])
    assert edit in site.post(path, form).content.decode()
    assert "Yes, dogs are welcome." in site.get(path).content.decode()
    changed = form | {"answer": "Small dogs are.", "edits": document.pk}
    assert site.post(path, changed).status_code == 302
    assert Document.objects.get(source="question_answer").content == "Small dogs are."


@pytest.mark.full
def test_a_long_list_goes_on_by_time(site, bot, add_message, without_answer):
    chat = without_answer.conversation
    for number in range(50):
        asked = add_message(chat, "customer", f"Question {number}?")
        add_message(chat, "system", "…", in_reply_to=asked, receipt={"decision": "no_answer"})
    first = site.get(LIST)
    assert first.content.count(b"data-why") == 50
    assert QUESTION not in first.content.decode()
    second = site.get(f"{LIST}?before={first.context['older']}").content
    assert second.count(b"data-why") == 1
    assert QUESTION in second.decode()
    assert site.get(f"{LIST}?before=nonsense").status_code == 200


def test_who_does_not_train_reads_and_strangers_see_nothing(ann, cara, without_answer, bot):
    path = reverse("admin:chats_answer", args=[without_answer.pk])
    form = {"question": QUESTION, "answer": "Yes."}
    for role in ("agent", "viewer"):
        browser = Browser()
        browser.force_login(make_person(ann.client, role, "Tim").user)  # type: ignore[arg-type]
        page = browser.get(LIST).content.decode()
        assert QUESTION in page
        assert path not in page
        assert browser.post(path, form).status_code == 403
    browser = signed_in(cara.user)
    assert QUESTION not in browser.get(LIST).content.decode()
    assert browser.post(path, form).status_code == 404
    assert not Document.objects.exists()
