"""Messages of a customer that come close together share one reply."""

import functools
from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import trained
from chatplatform.jobs import leases
from chatplatform.models import Job, JobState
from chatplatform.testing import at_once, run_before, run_jobs
from chatplatform.web import live
from chats.models import Message
from chats.services.reply import chat_turns, pipeline
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


def turn(message_id):
    return chat_turns.describe(Message.objects.get(pk=message_id), reply_requested=True)


def time_passes():
    Job.objects.filter(state=JobState.QUEUED).update(due_at=timezone.now())


def replied():
    return list(Message.objects.exclude(sender_type="customer").order_by("seq"))


def test_one_reply_for_all_of_them(server, chat):
    asked = [ask(server, chat, text) for text in ("Hello!", KNOWN, "Thanks")]
    job = Job.objects.get()
    assert job.args == {"message_id": asked[2], "earlier": asked[:2]}
    assert run_jobs() == 0, "the customer may still be writing"
    time_passes()
    assert run_jobs() == 1
    (reply,) = replied()
    assert "thirty days" in reply.text
    assert str(reply.in_reply_to_id) == asked[2]
    turns = [turn(message_id) for message_id in asked]
    assert {found["status"] for found in turns} == {"answered"}
    assert {found["reply"]["id"] for found in turns} == {str(reply.pk)}


def test_each_message_moves_the_reply_but_not_for_ever(server, chat):
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


def test_small_talk_alone_is_small_talk(server, chat):
    for text in ("Hello!", "Thanks"):
        ask(server, chat, text)
    time_passes()
    run_jobs()
    (reply,) = replied()
    assert reply.receipt["decision"] == "small_talk"


def test_who_asks_for_a_person_anywhere_in_it_gets_one(server, chat):
    asked = [ask(server, chat, text) for text in ("I want to talk to a human agent", KNOWN)]
    time_passes()
    run_jobs()
    (told,) = replied()
    assert told.sender_type == "system"
    for message_id in asked:
        found = turn(message_id)
        assert (found["status"], found["handoff_reason"]) == ("handed_off", "customer_asked")


def test_what_comes_while_the_reply_is_made_gets_its_own(server, chat):
    asked = [ask(server, chat, KNOWN)]
    time_passes()
    with run_before(
        "chats.services.reply.say.publish", lambda: asked.append(ask(server, chat, "Hello!"))
    ):
        run_jobs()
    assert [str(reply.in_reply_to_id) for reply in replied()] == asked[:1]
    time_passes()
    run_jobs()
    assert [str(reply.in_reply_to_id) for reply in replied()] == asked


def test_a_reply_that_was_begun_once_takes_nothing_more(server, chat):
    asked = [ask(server, chat, KNOWN)]
    Job.objects.update(attempts=1)
    asked.append(ask(server, chat, "Hello!"))
    time_passes()
    run_jobs()
    assert [str(reply.in_reply_to_id) for reply in replied()] == asked


def test_a_worker_that_dies_doubles_nothing(server, chat):
    asked = [ask(server, chat, text) for text in ("Hello!", KNOWN)]
    time_passes()
    leases.run(Job.objects.get().pk)
    # It said its reply, and died before it could finish its job.
    Job.objects.update(state=JobState.QUEUED)
    run_jobs()
    # And one that never came so far: another takes the whole burst.
    pipeline.answer(asked[1], earlier=asked[:1])
    assert len(replied()) == 1


def test_no_attempt_left_hands_all_of_them_over(server, chat, monkeypatch):
    def fail(*args, **more):
        raise RuntimeError("broken index")

    monkeypatch.setattr("bots.services.retrieval.search", fail)
    asked = [ask(server, chat, text) for text in (KNOWN, "Please")]
    for _ in range(5):
        time_passes()
        leases.run(Job.objects.get().pk)
    assert Job.objects.get(name="chats.generate_reply").state == JobState.DEAD
    assert {turn(message_id)["handoff_reason"] for message_id in asked} == {"engine_failed"}


def test_waiters_of_earlier_messages_are_sent_to_the_last(server, chat, monkeypatch):
    appended = []
    monkeypatch.setattr(live, "append", lambda *event: appended.append(event))
    first, second = ask(server, chat, KNOWN), ask(server, chat, "please")
    assert appended == [(f"reply:{first}", "joined", {"message_id": second})]


def test_the_same_message_twice_moves_nothing(server, chat):
    ask(server, chat, KNOWN, client_message_id="m-1")
    before = Job.objects.get()
    ask(server, chat, KNOWN, client_message_id="m-1")
    again = Job.objects.get()
    assert (again.args, again.due_at) == (before.args, before.due_at)


def test_many_at_once_share_one_reply(server, chat):
    at_once(*[functools.partial(ask, server, chat, f"{KNOWN} {n}") for n in range(6)])
    job = Job.objects.get()
    in_order = [str(pk) for pk in Message.objects.order_by("seq").values_list("pk", flat=True)]
    assert [*job.args["earlier"], job.args["message_id"]] == in_order
    time_passes()
    run_jobs()
    assert len(replied()) == 1
