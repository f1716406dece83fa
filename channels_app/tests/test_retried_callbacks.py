"""A callback whose worker is killed, or which meets other work: each item counts and acts once."""

import json

import pytest

from channels_app.models import ChannelConnection, InboundItem, OutboundSend, Outcome, SendState
from channels_app.services import inbound
from channels_app.tests.helpers import (
    PAGE,
    localapp_signature,
    of_localapp,
    post_signed,
    run_waiting,
)
from chatplatform.jobs import relay
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from chats.models import Message

pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    """Nothing in the worker catches it, as nothing catches a SIGKILL."""


@pytest.fixture(autouse=True)
def agents_answer(bot):
    """No bot's reply stands between the customer's messages."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)


def batch(*parts):
    """A callback with several events, none of which says when it was."""
    user, page = {"id": "6120000000000001"}, {"id": PAGE}
    items = [{"sender": user, "recipient": page, **part} for part in parts]
    return {"object": "page", "entry": [{"id": PAGE, "messaging": items}]}


def outcomes():
    return sorted(InboundItem.objects.values_list("outcome", flat=True))


def texts():
    rows = Message.objects.filter(sender_type="customer").order_by("seq")
    return list(rows.values_list("text", flat=True))


def kill_at(monkeypatch, number):
    """The worker dies when it has the message with this number in hand."""
    real, calls = inbound._receive, []

    def receive(*args):
        calls.append(args)
        if len(calls) == number:
            raise Killed
        return real(*args)

    monkeypatch.setattr(inbound, "_receive", receive)


def run_killed():
    """Run a worker until it dies; its lease ends, and the next one takes the job."""
    with pytest.raises(Killed):
        run_jobs()
    Job.objects.filter(state="running").update(lease_until="2020-01-01T00:00:00Z")
    relay.sweep()


def taps(*payloads):
    return [{"postback": {"title": payload, "payload": payload}} for payload in payloads]


def test_a_batch_without_ids_and_times_is_stored_once_though_its_worker_was_killed(
    nobody, page, monkeypatch
):
    kill_at(monkeypatch, 3)
    post_signed(nobody, "/socialnet/webhook", batch(*taps("A", "B", "C", "D")))
    run_killed()
    assert texts() == ["A", "B"]
    run_jobs()
    assert texts() == ["A", "B", "C", "D"]
    assert outcomes() == [Outcome.PROCESSED] * 4


def test_an_item_without_id_and_time_is_the_same_when_it_is_repeated(nobody, page):
    for _ in range(3):
        post_signed(nobody, "/socialnet/webhook", batch(*taps("A")))
        run_jobs()
    assert texts() == ["A"]
    assert outcomes() == [Outcome.DUPLICATE, Outcome.DUPLICATE, Outcome.PROCESSED]


def test_an_event_without_id_and_readable_time_is_the_same_when_it_is_repeated(nobody, oa):
    raw = json.dumps(of_localapp(message={"text": "no id"}, timestamp="soon")).encode()
    signed = {"X-ZEvent-Signature": localapp_signature(raw, time="soon")}
    for _ in range(2):
        post_signed(nobody, "/localapp/callback", raw, **signed)
        run_jobs()
    assert texts() == ["no id"]


def test_doubles_in_a_batch_stay_one_message_though_its_worker_was_killed(
    nobody, page, monkeypatch
):
    parts = [{"message": {"mid": f"m_{name}", "text": name}} for name in "ABAB"]
    kill_at(monkeypatch, 2)
    post_signed(nobody, "/socialnet/webhook", batch(*parts))
    run_killed()
    run_jobs()
    assert texts() == ["A", "B"]
    assert outcomes() == [Outcome.DUPLICATE] * 2 + [Outcome.PROCESSED] * 2


def test_what_was_dropped_since_the_page_was_given_up_does_not_come_back(nobody, page):
    with run_before(
        "channels_app.services.callbacks._process",
        lambda: ChannelConnection.objects.update(status="disconnected"),
    ):
        post_signed(nobody, "/socialnet/webhook", batch(*taps("A", "B")))
        run_jobs()
    assert texts() == []
    assert outcomes() == [Outcome.UNKNOWN_ACCOUNT] * 2
    ChannelConnection.objects.update(status="connected")
    Job.objects.filter(name="channels_app.process_callback").update(state="queued")
    run_jobs()
    assert texts() == []
    assert outcomes() == [Outcome.UNKNOWN_ACCOUNT] * 2


def test_an_edit_that_comes_after_a_newer_one_changes_nothing(nobody, page):
    def edit(words, at):
        return {"message_edit": {"mid": "m_1", "text": words, "num_edit": "1"}, "timestamp": at}

    for part in (
        {"message": {"mid": "m_1", "text": "first"}, "timestamp": 1795226399000},
        edit("third", 1795226399300),
        edit("second", 1795226399200),
    ):
        post_signed(nobody, "/socialnet/webhook", batch(part))
        run_jobs()
    assert texts() == ["third"]


def test_a_reaction_to_our_message_waits_for_the_answer_of_its_call(
    socialnet, agents_chat, page, ben
):
    socialnet.sim.behaviour(echo=None, delivered=None, read=None)
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    sent = OutboundSend.objects.get()
    OutboundSend.objects.update(state=SendState.SENDING, provider_message_id=None)
    Message.objects.filter(pk=sent.message_id).update(provider_message_id=None)
    socialnet.act("reaction", message_id=sent.provider_message_id, emoji="❤️")
    run_jobs()
    message = Message.objects.get(sender_type="agent")
    assert message.customer_reaction == ""
    OutboundSend.objects.update(state=SendState.SENT, provider_message_id=sent.provider_message_id)
    run_waiting()
    message.refresh_from_db()
    assert message.customer_reaction == "❤️"


def test_a_reaction_that_comes_after_its_removal_changes_nothing(nobody, page):
    def reaction(action, at):
        emoji = {"emoji": "❤️"} if action == "react" else {}
        return {"reaction": {"mid": "m_1", "action": action, **emoji}, "timestamp": at}

    for part in (
        {"message": {"mid": "m_1", "text": "first"}, "timestamp": 1795226399000},
        reaction("unreact", 1795226399300),
        reaction("react", 1795226399200),
    ):
        post_signed(nobody, "/socialnet/webhook", batch(part))
        run_jobs()
    assert Message.objects.get().customer_reaction == ""
    post_signed(nobody, "/socialnet/webhook", batch(reaction("react", 1795226399400)))
    run_jobs()
    assert Message.objects.get().customer_reaction == "❤️"


def test_an_item_that_fails_holds_up_its_customer_alone(nobody, page, monkeypatch):
    real, failing = inbound._receive, [True]

    def receive(connection, item, *args):
        if failing and item.text == "one":
            raise RuntimeError("not now")
        return real(connection, item, *args)

    monkeypatch.setattr(inbound, "_receive", receive)
    for user, text in (("1", "one"), ("2", "other"), ("1", "two"), ("2", "another")):
        part = {"message": {"mid": f"m_{text}", "text": text}, "sender": {"id": user}}
        post_signed(nobody, "/socialnet/webhook", batch(part))
    run_jobs()
    assert sorted(texts()) == ["another", "other"]
    failing.clear()
    run_waiting()
    mine = Message.objects.filter(text__in=["one", "two"]).order_by("conversation_id", "seq")
    assert list(mine.values_list("text", flat=True)) == ["one", "two"]
    assert outcomes() == [Outcome.PROCESSED] * 4
    assert not Job.objects.exclude(state="done").exists()
