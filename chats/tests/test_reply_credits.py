"""What replies cost, and what customers see when the credits are used up."""

import pytest
from django.db.models import F

from bots.testing import trained
from chatplatform import jobs
from chatplatform.models import Job, JobState
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation, Message
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


def left(chat):
    return Subscription.objects.get(client=chat.client_id).credits_left


def entries():
    found = CreditEntry.objects.filter(reference__startswith="reply:").order_by("pk")
    return list(found.values_list("kind", "amount"))


def test_a_quoted_reply_costs_one_credit(server, chat):
    message_id = ask(server, chat)
    run_jobs()
    assert left(chat) == 999
    assert entries() == [("reserve", -1), ("settle", 0)]
    assert reply().receipt["credits"] == 1
    held = CreditEntry.objects.get(kind="reserve")
    assert (held.reference, held.job_id) == (f"reply:{message_id}", Job.objects.get().pk)


def test_a_models_reply_costs_by_its_tokens(server, chat, stub):
    ask(server, chat)
    run_jobs()
    usage = reply().receipt["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] <= 1000
    assert entries() == [("reserve", -10), ("settle", 9)]
    assert reply().receipt["credits"] == 1


def test_a_model_that_refuses_has_thought_all_the_same(server, chat, stub):
    stub.play("no_answer")
    ask(server, chat)
    run_jobs()
    assert reply().receipt["decision"] == "model_refused"
    assert left(chat) == 999


def test_where_the_model_fails_the_quotation_is_paid(server, chat, stub):
    stub.play("500")
    ask(server, chat)
    run_jobs()
    assert reply().receipt["model"] == "extractive"
    assert entries() == [("reserve", -10), ("settle", 9)]


def test_where_nothing_answers_nothing_is_paid(server, chat, stub):
    chat.client.config.fallback_to_extractive = False
    chat.client.config.save()
    stub.play("500")
    ask(server, chat)
    run_jobs()
    assert reply().receipt["handoff_reason"] == "engine_failed"
    assert entries() == [("reserve", -10), ("release", 10)]


@pytest.mark.parametrize("text", ["Hello!", "I want to talk to a human agent"])
def test_what_needs_no_thought_is_free(server, chat, text):
    Subscription.objects.update(credits_left=0)
    ask(server, chat, text)
    run_jobs()
    assert entries() == []
    assert reply().receipt.get("handoff_reason") in {None, "customer_asked"}


def test_what_the_documents_do_not_say_is_free(server, chat):
    ask(server, chat, UNKNOWN)
    run_jobs()
    assert entries() == [("reserve", -1), ("release", 1)]
    assert left(chat) == 1000


@pytest.mark.parametrize("state", [{"credits_left": 0}, {"is_active": False}])
def test_without_credits_a_person_answers_and_the_customer_hears_of_it_once(server, chat, state):
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


def test_a_reply_that_nobody_gets_is_free(server, chat, ben):
    def take_over():
        Conversation.objects.update(
            assign_type="agent", assignee=ben.user, version=F("version") + 1
        )

    ask(server, chat)
    with run_before("chats.services.core.conversations.lock", take_over):
        run_jobs()
    assert entries() == [("reserve", -1), ("release", 1)]


def test_a_worker_that_dies_before_the_reply_charges_once(server, chat):
    message_id = ask(server, chat)
    credits.reserve(chat.client_id, cost=1, reference=f"reply:{message_id}")
    run_jobs()
    assert entries() == [("reserve", -1), ("settle", 0)]
    Job.objects.update(state=JobState.QUEUED)
    run_jobs()
    assert left(chat) == 999
    assert entries() == [("reserve", -1), ("settle", 0)]


def test_a_job_that_dies_for_good_gives_back_what_it_holds(server, chat, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no index")

    monkeypatch.setattr("bots.services.retrieval.search", fail)
    ask(server, chat)
    Job.objects.update(max_attempts=1)
    run_jobs()
    assert Job.objects.get(name="chats.generate_reply").state == JobState.DEAD
    assert reply().receipt["handoff_reason"] == "engine_failed"
    assert entries() == [("reserve", -1), ("release", 1)]
    assert jobs.current_job() is None


def test_a_long_reply_costs_no_more_than_what_it_held(server, chat, stub, monkeypatch):
    monkeypatch.setattr("identity.services.credits.TOKENS_A_CREDIT", 1)
    ask(server, chat)
    run_jobs()
    assert entries() == [("reserve", -10), ("settle", 0)]
    assert reply().receipt["credits"] == 10
