"""The credits of replies, and chats of clients without credits."""

import re

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from bots.testing import trained
from chatplatform import jobs
from chatplatform.models import Job, JobState
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Message
from chats.services.core import reply_policy
from chats.testing import visit
from identity.models import CreditEntry, Subscription
from identity.services import credits
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
KNOWN = "Within how many days may I return damaged goods?"
UNKNOWN = "Who won the chess olympiad of 1972 in Skopje?"


@pytest.fixture
def chat(server, bot):
    trained(bot, SHOP)
    return Conversation.objects.get(pk=server.post("/ai/client/chat", {}).json()["id"])


def ask(server, chat, text=KNOWN):
    path = f"/ai/client/chat/{chat.pk}"
    return server.post(path, {"text": text, "reply": "async"}).json()["message"]["id"]


def reply():
    return Message.objects.exclude(sender_type="customer").get()


def credits_left(chat):
    return Subscription.objects.get(client=chat.client_id).credits_left


def entries():
    rows = CreditEntry.objects.filter(reference__startswith="reply:").order_by("pk")
    return list(rows.values_list("kind", "amount"))


def test_a_quoted_reply_costs_one_credit(server, chat):
    message_id = ask(server, chat)
    run_jobs()
    assert credits_left(chat) == 999
    assert entries() == [("reserve", -1), ("settle", 0)]
    assert reply().receipt["credits"] == 1
    entry = CreditEntry.objects.get(kind="reserve")
    assert (entry.reference, entry.job_id) == (f"reply:{message_id}", Job.objects.get().pk)


def test_a_models_reply_costs_by_its_tokens(server, chat, stub):
    ask(server, chat)
    run_jobs()
    usage = reply().receipt["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] <= 1000
    assert entries() == [("reserve", -10), ("settle", 9)]
    assert reply().receipt["credits"] == 1


def test_a_refusal_of_the_model_costs_credits(server, chat, stub):
    stub.play("no_answer")
    ask(server, chat)
    run_jobs()
    assert reply().receipt["engine_error"] == "The model found no answer in the snippets."
    assert credits_left(chat) == 999


def test_a_quotation_after_a_failed_model_costs_credits(server, chat, stub):
    stub.play("500")
    ask(server, chat)
    run_jobs()
    assert reply().receipt["model"] == "extractive"
    assert entries() == [("reserve", -10), ("settle", 9)]


def test_without_an_answer_nothing_is_charged(server, chat, stub):
    chat.client.config.fallback_to_extractive = False
    chat.client.config.save()
    stub.play("500")
    ask(server, chat)
    run_jobs()
    assert reply().receipt["handoff_reason"] == "engine_failed"
    assert entries() == [("reserve", -10), ("release", 10)]


@pytest.mark.parametrize("text", ["Hello!", "I want to talk to a human agent"])
def test_small_talk_and_requests_for_a_person_are_free(server, chat, text):
    Subscription.objects.update(credits_left=0)
    ask(server, chat, text)
    run_jobs()
    assert entries() == []
    assert reply().receipt.get("handoff_reason") in {None, "customer_asked"}


def test_a_question_without_an_answer_is_free(server, chat):
    ask(server, chat, UNKNOWN)
    run_jobs()
    assert entries() == [("reserve", -1), ("release", 1)]
    assert credits_left(chat) == 1000


@pytest.mark.parametrize("state", [{"credits_left": 0}, {"is_active": False}])
def test_without_credits_the_chat_is_handed_over_once(server, chat, state):
    Subscription.objects.update(**state)
    ask(server, chat)
    ask(server, chat)
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "credits_used_up")
    assert (reply().sender_type, reply().receipt["credits"]) == ("system", 0)
    assert "credit" not in reply().content[0]["text"].lower()
    assert Event.objects.get(type="conversation.handed_off").data["reason"] == "credits_used_up"
    assert entries() == []


def test_who_writes_on_without_credits_keeps_no_account_waiting(server, chat):
    Subscription.objects.update(credits_left=0)
    for _ in range(4):
        ask(server, chat)
    with CaptureQueriesContext(connection) as statements:
        run_jobs()
    assert not Job.objects.exclude(state=JobState.DONE).exists()
    locks = r"identity_subscription.* FOR NO KEY UPDATE|identity_(reserve|end)_credits"
    own = [item["sql"] for item in statements if re.search(locks, item["sql"], re.DOTALL)]
    assert len(own) == 4, "for the first message: to reserve, twice in vain, and to give back"
    assert Message.objects.exclude(sender_type="customer").count() == 1, "the handover"


def test_who_writes_on_without_credits_gets_no_job_until_they_are_back(server, chat):
    Subscription.objects.update(credits_left=0)
    ask(server, chat)
    run_jobs()
    path, jobs = f"/ai/client/chat/{chat.pk}", Job.objects.count()
    turn = server.post(path, {"text": KNOWN, "reply": "async"})
    assert (turn.status_code, turn.json()["status"]) == (200, "handed_off")
    assert turn.json()["handoff_reason"] == "credits_used_up"
    assert Job.objects.count() == jobs
    Subscription.objects.update(credits_left=1)
    turn = server.post(path, {"text": KNOWN, "reply": "async"})
    assert (turn.status_code, turn.json()["status"]) == (202, "pending")
    run_jobs()
    assert entries() == [("reserve", -1), ("settle", 0)], "answered while the chat waits"
    assert Message.objects.filter(sender_type="bot").count() == 1


def test_a_page_that_is_short_is_not_looked_at_for_every_visitor(
    page, bot, django_assert_num_queries
):
    trained(bot, SHOP)
    Subscription.objects.update(credits_left=0)
    visitors = [visit(page, message=KNOWN) for _ in range(2)]
    run_jobs()

    def say(number):
        visitor, chat = visitors[number]
        turn = visitor.post(f"/ai/client/chat/{chat.pk}", {"text": KNOWN, "reply": "async"})
        return turn.json()["status"]

    assert say(0) == "handed_off"
    with django_assert_num_queries(2):
        assert say(1) == "handed_off"
    assert not Job.objects.exclude(state=JobState.DONE).exists()
    Subscription.objects.update(credits_left=9)
    reply_policy._lacking_until.clear()  # as after a second
    assert say(1) == "pending"


def test_a_dropped_reply_is_free(server, chat, ben):
    def take_over():
        Conversation.objects.update(
            assign_type="agent", assignee=ben.user, version=F("version") + 1
        )

    ask(server, chat)
    with run_before("chats.services.core.conversations.lock_for_reply", take_over):
        run_jobs()
    assert entries() == [("reserve", -1), ("release", 1)]


def test_a_reply_after_a_crash_is_charged_once(server, chat):
    message_id = ask(server, chat)
    credits.reserve(chat.client_id, cost=1, reference=f"reply:{message_id}")
    run_jobs()
    assert entries() == [("reserve", -1), ("settle", 0)]
    Job.objects.update(state=JobState.QUEUED)
    run_jobs()
    assert credits_left(chat) == 999
    assert entries() == [("reserve", -1), ("settle", 0)]


def test_a_dead_job_releases_its_reservation(server, chat, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no index")

    monkeypatch.setattr("bots.services.retrieval.find", fail)
    ask(server, chat)
    Job.objects.update(max_attempts=1)
    run_jobs()
    assert Job.objects.get(name="chats.generate_reply").state == JobState.DEAD
    assert reply().receipt["handoff_reason"] == "engine_failed"
    assert entries() == [("reserve", -1), ("release", 1)]
    assert jobs.current_job() is None


def test_a_long_reply_costs_at_most_its_reservation(server, chat, stub, monkeypatch):
    monkeypatch.setattr("identity.services.credits.TOKENS_PER_CREDIT", 1)
    ask(server, chat)
    run_jobs()
    assert entries() == [("reserve", -10), ("settle", 0)]
    assert reply().receipt["credits"] == 10
