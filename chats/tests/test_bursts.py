"""Messages that a customer sends shortly after each other share one reply."""

import functools
from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import trained
from chatplatform.jobs import leases
from chatplatform.live import pubsub
from chatplatform.models import Job, JobState
from chatplatform.testing import at_once, run_before, run_jobs
from chats.models import Message
from chats.services.reply import incoming, pipeline
from chats.testing import make_chat

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
KNOWN = "Within how many days may I return damaged goods?"


@pytest.fixture
def chat(bot, client_a):
    client_a.config.burst_wait_ms = 60_000
    client_a.config.save()
    trained(bot, SHOP)
    return make_chat(bot)


def ask(person, chat, text, **more):
    reply = person.post(
        f"/ai/client/chat/{chat.pk}", {"text": text, "reply": "async", **more}
    ).json()
    assert reply["status"] == "pending"
    return reply["message"]["id"]


def describe_turn(message_id):
    return incoming.turn_of(Message.objects.get(pk=message_id)).shown


def make_jobs_due():
    Job.objects.filter(state=JobState.QUEUED).update(due_at=timezone.now())


def replies():
    return list(Message.objects.exclude(sender_type="customer").order_by("seq"))


def test_a_burst_gets_one_reply(server, chat):
    message_ids = [ask(server, chat, text) for text in ("Hello!", KNOWN, "Thanks")]
    job = Job.objects.get()
    assert job.args == {"message_id": message_ids[2], "earlier": message_ids[:2]}
    assert run_jobs() == 0, "the customer may still be writing"
    make_jobs_due()
    assert run_jobs() == 1
    (reply,) = replies()
    assert "thirty days" in reply.text
    assert str(reply.in_reply_to_id) == message_ids[2]
    turns = [describe_turn(message_id) for message_id in message_ids]
    assert {turn["status"] for turn in turns} == {"answered"}
    assert {turn["reply"]["id"] for turn in turns} == {str(reply.pk)}


def test_each_message_delays_the_reply_up_to_a_limit(server, chat):
    ask(server, chat, KNOWN)
    first = Job.objects.get()
    Job.objects.update(due_at=timezone.now() + timedelta(seconds=1), dispatched_at=timezone.now())
    ask(server, chat, "please")
    moved = Job.objects.get()
    assert moved.due_at > timezone.now() + timedelta(seconds=50)
    assert moved.dispatched_at is None
    Job.objects.update(created_at=first.created_at - timedelta(seconds=299))
    ask(server, chat, "quickly")
    assert Job.objects.get().due_at < timezone.now() + timedelta(seconds=5)


def test_a_burst_of_small_talk_is_small_talk(server, chat):
    for text in ("Hello!", "Thanks"):
        ask(server, chat, text)
    make_jobs_due()
    run_jobs()
    (reply,) = replies()
    assert reply.receipt["decision"] == "small_talk"


def test_a_request_for_a_person_in_a_burst_is_handed_over(server, chat):
    message_ids = [ask(server, chat, text) for text in ("I want to talk to a human agent", KNOWN)]
    make_jobs_due()
    run_jobs()
    (reply,) = replies()
    assert reply.sender_type == "system"
    for message_id in message_ids:
        turn = describe_turn(message_id)
        assert (turn["status"], turn["handoff_reason"]) == ("handed_off", "customer_asked")


def test_a_message_during_the_reply_gets_its_own_reply(server, chat):
    message_ids = [ask(server, chat, KNOWN)]
    make_jobs_due()
    with run_before(
        "chats.services.reply.publishing.publish_reply",
        lambda: message_ids.append(ask(server, chat, "Hello!")),
    ):
        run_jobs()
    assert [str(reply.in_reply_to_id) for reply in replies()] == message_ids[:1]
    make_jobs_due()
    run_jobs()
    assert [str(reply.in_reply_to_id) for reply in replies()] == message_ids


def test_a_retried_reply_takes_no_further_messages(server, chat):
    message_ids = [ask(server, chat, KNOWN)]
    Job.objects.update(attempts=1)
    message_ids.append(ask(server, chat, "Hello!"))
    make_jobs_due()
    run_jobs()
    assert [str(reply.in_reply_to_id) for reply in replies()] == message_ids


def test_a_crashed_worker_makes_no_second_reply(server, chat):
    message_ids = [ask(server, chat, text) for text in ("Hello!", KNOWN)]
    make_jobs_due()
    leases.run(Job.objects.get().pk)
    # It stored its reply and died before the end of its job.
    Job.objects.update(state=JobState.QUEUED)
    run_jobs()
    # Another worker answers the whole burst again.
    pipeline.answer(message_ids[1], earlier=message_ids[:1])
    assert len(replies()) == 1


def test_a_burst_is_handed_over_after_the_last_attempt(server, chat, monkeypatch):
    def fail(*args, **more):
        raise RuntimeError("broken index")

    monkeypatch.setattr("bots.services.retrieval.find", fail)
    message_ids = [ask(server, chat, text) for text in (KNOWN, "Please")]
    for _ in range(5):
        make_jobs_due()
        leases.run(Job.objects.get().pk)
    assert Job.objects.get(name="chats.generate_reply").state == JobState.DEAD
    assert {describe_turn(message_id)["handoff_reason"] for message_id in message_ids} == {
        "engine_failed"
    }


def test_requests_for_earlier_messages_follow_the_last_one(server, chat, monkeypatch):
    appended = []
    monkeypatch.setattr(pubsub, "append", lambda *event: appended.append(event))
    first, second = ask(server, chat, KNOWN), ask(server, chat, "please")
    assert appended == [(f"reply:{first}", "joined", {"message_id": second})]


def test_a_repeated_message_delays_nothing(server, chat):
    ask(server, chat, KNOWN, client_message_id="m-1")
    before = Job.objects.get()
    ask(server, chat, KNOWN, client_message_id="m-1")
    again = Job.objects.get()
    assert (again.args, again.due_at) == (before.args, before.due_at)


def test_concurrent_messages_share_one_reply(server, chat):
    at_once(*[functools.partial(ask, server, chat, f"{KNOWN} {n}") for n in range(6)])
    job = Job.objects.get()
    in_order = [str(pk) for pk in Message.objects.order_by("seq").values_list("pk", flat=True)]
    assert [*job.args["earlier"], job.args["message_id"]] == in_order
    make_jobs_due()
    run_jobs()
    assert len(replies()) == 1
