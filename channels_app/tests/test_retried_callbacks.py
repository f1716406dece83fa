"""A callback whose worker is killed, or which meets other work: each item counts and acts once."""

import json
import time
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models.functions import Now

from bots.testing import make_bot
from channels_app.models import (
    ChannelConnection,
    InboundCallback,
    InboundItem,
    OutboundSend,
    Outcome,
    SendState,
)
from channels_app.providers import PROVIDERS
from channels_app.services import inbound, inbound_queue, outbox, typing_and_receipts
from channels_app.tests.helpers import (
    PAGE,
    localapp_signature,
    of_localapp,
    post_signed,
    run_waiting,
)
from chatplatform import jobs
from chatplatform.jobs import leases, relay
from chatplatform.models import Job
from chatplatform.testing import at_once, idle_transaction, in_thread, run_before, run_jobs
from chats.models import Customer, Message

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agents_answer")]


class Killed(BaseException):
    """Nothing in the worker catches it, as nothing catches a SIGKILL."""


@pytest.fixture(autouse=True)
def no_haste(monkeypatch):
    """How much of a large body a job processes is no matter of the machine's speed."""
    monkeypatch.setattr(inbound_queue, "_SLICE_SECONDS", 60)


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


def test_a_tick_whose_worker_was_killed_is_left_out_and_not_dead(nobody, page, monkeypatch):
    def send(*_):
        raise Killed

    jobs.enqueue(
        "channels_app.send_signal", client_id=page.client_id,
        conversation_id=str(uuid4()), signal="seen",
    )  # fmt: skip
    with monkeypatch.context() as broken:
        broken.setattr(typing_and_receipts, "send_signal", send)
        run_killed()
    run_waiting()
    assert Job.objects.get().state == "done"


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


def test_what_was_received_is_stored_though_the_page_was_given_up_since(nobody, page):
    post_signed(nobody, "/socialnet/webhook", batch(*taps("A")))
    ChannelConnection.objects.update(status="disconnected")
    post_signed(nobody, "/socialnet/webhook", batch(*taps("B")))
    ChannelConnection.objects.update(status="connected")
    run_jobs()
    assert texts() == ["A"]
    assert outcomes() == [Outcome.PROCESSED, Outcome.UNKNOWN_ACCOUNT]


@pytest.fixture
def theirs(client_b):
    """The same page at another client, which has given it up."""
    return ChannelConnection.objects.create(
        client=client_b, bot=make_bot(client_b), channel="socialnet", account_id=PAGE,
        status="disconnected",
    )  # fmt: skip


def give_to(connection):
    ChannelConnection.objects.update(status="disconnected")
    ChannelConnection.objects.filter(pk=connection.pk).update(status="connected")


def test_each_message_of_a_page_that_moves_is_stored_where_it_came(nobody, page, theirs):
    for owner, text in ((page, "A"), (theirs, "B"), (page, "C")):
        give_to(owner)
        post_signed(nobody, "/socialnet/webhook", batch(*taps(text)))
    run_jobs()
    stored = Message.objects.filter(sender_type="customer").order_by("client", "seq")
    assert list(stored.values_list("client", "text")) == [
        (page.client_id, "A"), (page.client_id, "C"), (theirs.client_id, "B"),
    ]  # fmt: skip


@pytest.mark.full
def test_a_repeated_message_belongs_to_where_it_came_first_though_it_still_waits(
    nobody, page, theirs
):
    post_signed(nobody, "/socialnet/webhook", crowded(range(12)))
    give_to(theirs)
    post_signed(nobody, "/socialnet/webhook", crowded([5]))
    # The job of the small body comes first.
    for row in Job.objects.filter(state="queued").order_by("-pk"):
        leases.run(row.pk)
    run_waiting()
    stored = Message.objects.filter(sender_type="customer")
    assert set(stored.values_list("client", flat=True)) == {page.client_id}
    assert len(texts()) == 12
    assert outcomes() == [Outcome.DUPLICATE] + [Outcome.PROCESSED] * 12


@pytest.mark.full
def test_a_message_repeated_while_it_is_stored_belongs_to_where_it_came_first(nobody, page, theirs):
    threads = []

    def repeat():
        give_to(theirs)
        threads.append(in_thread(lambda: post_signed(nobody, "/socialnet/webhook", crowded([5]))))
        threads[0][0].join(timeout=1)

    with run_before("chatplatform.jobs.enqueue", repeat):
        post_signed(nobody, "/socialnet/webhook", crowded(range(12)))
    ((thread, answers),) = threads
    thread.join()
    assert answers[0].status_code == 200
    for row in Job.objects.filter(state="queued").order_by("-pk"):
        leases.run(row.pk)
    run_waiting()
    stored = Message.objects.filter(sender_type="customer")
    assert set(stored.values_list("client", flat=True)) == {page.client_id}
    assert len(texts()) == 12
    assert outcomes() == [Outcome.PROCESSED] * 12


def wait_for_blocked(count):
    """Wait until so many statements wait for a lock."""
    ends_at = time.monotonic() + 20
    while time.monotonic() < ends_at:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0] == count:
                return
        time.sleep(0.01)
    raise AssertionError("they do not wait")


def test_bodies_with_the_same_items_in_opposite_orders_are_both_received(nobody, page):
    def receive(*names):
        parts = [{"message": {"mid": f"m_{name}", "text": name}, "timestamp": 1795226399980}
                 for name in names]  # fmt: skip
        return post_signed(nobody, "/socialnet/webhook", batch(*parts))

    # A third body has the item in the middle, so that each has inserted its first before either
    # comes to its last.
    with idle_transaction(lambda: receive("B")):
        callers = [in_thread(lambda: receive("C", "B", "A")), in_thread(lambda: receive(*"ABC"))]
        wait_for_blocked(len(callers))
    for thread, _ in callers:
        thread.join()
    assert [answers[0].status_code for _, answers in callers] == [200, 200]
    run_jobs()
    assert sorted(texts()) == ["A", "B", "C"]
    assert outcomes() == [Outcome.PROCESSED] * 3


def test_messages_of_one_moment_keep_the_order_of_their_body(nobody, page):
    parts = [{"message": {"mid": f"m_{name}", "text": name}, "timestamp": 1795226399980}
             for name in "CAB"]  # fmt: skip
    post_signed(nobody, "/socialnet/webhook", batch(*parts))
    run_jobs()
    assert texts() == ["C", "A", "B"]


def test_a_message_repeated_at_another_client_stays_that_of_an_erased_connection(
    nobody, page, theirs
):
    post_signed(nobody, "/socialnet/webhook", crowded([5]))
    ChannelConnection.objects.filter(pk=page.pk).delete()
    give_to(theirs)
    post_signed(nobody, "/socialnet/webhook", crowded([5]))
    run_waiting()
    inbound_queue.enqueue_forgotten()
    assert (texts(), outcomes()) == ([], [Outcome.DUPLICATE, Outcome.UNKNOWN_ACCOUNT])


def test_what_an_erased_connection_received_is_stored_nowhere(nobody, page, theirs):
    post_signed(nobody, "/socialnet/webhook", batch(*taps("A")))
    ChannelConnection.objects.filter(pk=page.pk).delete()
    give_to(theirs)
    run_jobs()
    inbound_queue.enqueue_forgotten()
    assert (texts(), outcomes()) == ([], [Outcome.UNKNOWN_ACCOUNT])


# --- bodies of many customers -------------------------------------------------------------------


def crowded(numbers):
    """A body in which a customer of each number writes."""
    items = [
        {
            "sender": {"id": f"7{number}"}, "recipient": {"id": PAGE}, "timestamp": 1795226399000,
            "message": {"mid": f"m_{number}", "text": f"text {number}"},
        }
        for number in numbers
    ]  # fmt: skip
    return {"object": "page", "entry": [{"id": PAGE, "messaging": items}]}


def run_one():
    """Run the next job of those that process items."""
    rows = Job.objects.filter(name="channels_app.process_items", state="queued").order_by("id")
    assert any(leases.run(row.pk) for row in rows)


@pytest.mark.full
def test_a_large_body_holds_up_nobody_and_a_job_takes_a_part_of_it(nobody, page, few_at_once):
    post_signed(nobody, "/socialnet/webhook", crowded(range(30)))
    run_one()
    assert 0 < len(texts()) <= few_at_once
    Job.objects.exclude(name="channels_app.process_items").delete()
    post_signed(nobody, "/socialnet/webhook", batch(*taps("new")))
    post_signed(nobody, "/socialnet/webhook", crowded(range(500, 511)))
    for _ in range(2):
        run_one()
    # The customer who writes alone does not wait, and the smaller body goes before the large one.
    assert {"new", *(f"text {number}" for number in range(500, 511))} <= set(texts())
    assert len(texts()) <= 2 * few_at_once + 1
    # While others' jobs are due, the rest is held back for half a second at a time.
    ends_at = time.monotonic() + 60
    while Outcome.WAITING in outcomes() and time.monotonic() < ends_at:
        run_jobs()
        time.sleep(0.1)
    assert sorted(texts()) == sorted(
        ["new", *(f"text {number}" for number in [*range(30), *range(500, 511)])]
    )
    assert set(outcomes()) == {Outcome.PROCESSED}


@pytest.mark.full
def test_a_large_body_is_read_once_by_all_its_jobs(nobody, page, monkeypatch, few_at_once):
    read = []
    provider = PROVIDERS["socialnet"]
    items = provider.items

    def count(callback):
        read.append(callback)
        return items(callback)

    monkeypatch.setattr(provider, "items", count)
    post_signed(nobody, "/socialnet/webhook", crowded(range(1000, 1030)))
    for _ in range(3):
        run_waiting()
    # When it comes, and by the first of its jobs.
    assert (len(texts()), len(read)) == (30, 2)


@pytest.mark.full
@pytest.mark.parametrize("name", ["chats.generate_reply", "channels_app.deliver_message"])
def test_a_large_body_waits_for_the_replies_to_it(nobody, page, name):
    for _ in range(8):
        jobs.enqueue(name, client_id=page.client_id, message_id=str(uuid4()))
    post_signed(nobody, "/socialnet/webhook", crowded(range(11)))
    leases.run(Job.objects.get(name="channels_app.process_items").pk)
    assert texts() == []
    for _ in range(2):
        run_waiting()
    assert len(texts()) == 11


# --- items that cannot be processed -------------------------------------------------------------


@pytest.mark.full
def test_an_item_that_kills_its_process_goes_aside_and_the_others_are_processed(
    nobody, page, monkeypatch
):
    monkeypatch.setattr(inbound_queue, "_MIN_JOBS_AHEAD", 1_000)
    real, deaths = inbound._receive, []

    def receive(connection, item, *args):
        if item.content.text == "text 5":
            deaths.append(item)
            raise Killed
        return real(connection, item, *args)

    monkeypatch.setattr(inbound, "_receive", receive)
    post_signed(nobody, "/socialnet/webhook", crowded(range(12)))
    for _ in range(2):
        run_killed()
    run_waiting()
    assert (len(deaths), len(texts())) == (2, 11)
    aside = InboundItem.objects.get(outcome=Outcome.WAITING)
    assert (aside.is_parked, bool(aside.error)) == (True, True)
    # Nobody has to click: it is tried again later and later, and stored once it can be.
    first = Job.objects.get(state="queued").due_at
    Job.objects.filter(state="queued").update(due_at=Now())
    run_killed()
    following = Job.objects.filter(state="queued").latest("due_at")
    assert following.due_at - first > timedelta(minutes=9)
    assert len(deaths) == 3
    monkeypatch.setattr(inbound, "_receive", real)
    run_waiting()
    assert len(texts()) == 12
    assert set(outcomes()) == {Outcome.PROCESSED}


def test_of_items_that_were_in_hand_together_none_goes_aside_for_another(nobody, page, monkeypatch):
    kill_at(monkeypatch, 1)
    post_signed(nobody, "/socialnet/webhook", crowded(range(3)))
    real = inbound._receive

    def receive(*args):
        # While one is tried again, another worker begins with the others.
        at_once(lambda: leases.run(others[0]), lambda: leases.run(others[1]))
        assert InboundItem.objects.filter(is_suspect=True).count() == 1
        return real(*args)

    with pytest.raises(Killed):
        run_one()
    Job.objects.filter(state="queued").update(crashes=1)
    Job.objects.filter(state="running").update(lease_until="2020-01-01T00:00:00Z")
    relay.sweep()
    first, *others = Job.objects.order_by("pk").values_list("pk", flat=True)
    monkeypatch.setattr(inbound, "_receive", receive)
    leases.run(first)
    assert len(texts()) == 1
    monkeypatch.setattr(inbound, "_receive", real)
    run_waiting()
    assert len(texts()) == 3


@pytest.mark.full
def test_an_item_that_has_to_wait_is_no_suspect_when_a_process_died(nobody, page, monkeypatch):
    first = batch(*taps("first"))
    first["entry"][0]["messaging"][0]["sender"] = {"id": "711"}
    post_signed(nobody, "/socialnet/webhook", first)
    Job.objects.update(due_at=Now() + timedelta(hours=1))
    post_signed(nobody, "/socialnet/webhook", crowded(range(12)))
    kill_at(monkeypatch, 1)
    run_killed()
    Job.objects.filter(ordering_key__contains="-").update(due_at=Now())
    run_one()
    assert len(texts()) == 11
    run_waiting()
    theirs = Message.objects.filter(text__in=["first", "text 11"]).order_by("seq")
    assert list(theirs.values_list("text", flat=True)) == ["first", "text 11"]
    assert len(texts()) == 13
    assert not InboundItem.objects.exclude(error="", is_parked=False).exists()


def test_an_item_that_always_fails_goes_aside_and_its_customer_goes_on(nobody, page, monkeypatch):
    real = inbound._receive

    def receive(connection, item, *args):
        if item.content.text == "A":
            raise RuntimeError("never")
        return real(connection, item, *args)

    monkeypatch.setattr(inbound, "_receive", receive)
    for text in "AB":
        post_signed(nobody, "/socialnet/webhook", batch(*taps(text)))
    for _ in range(inbound_queue.ATTEMPTS - 1):
        run_waiting()
    assert texts() == []
    run_waiting()
    assert texts() == ["B"]
    assert not Job.objects.filter(state="dead").exists()
    monkeypatch.setattr(inbound, "_receive", real)
    run_waiting()
    assert texts() == ["B", "A"]


@pytest.mark.full
def test_a_job_that_ends_dead_is_followed_by_another(nobody, page, monkeypatch):
    post_signed(nobody, "/socialnet/webhook", crowded(range(11)))
    Job.objects.filter(name="channels_app.process_items").update(attempts=100)
    with monkeypatch.context() as broken:
        broken.setattr(inbound_queue, "_next", None)
        run_jobs()
    assert Job.objects.filter(state="dead").count() == 1
    assert texts() == []
    run_waiting()
    assert len(texts()) == 11


@pytest.mark.full
def test_what_has_no_job_any_more_gets_one(nobody, page):
    post_signed(nobody, "/socialnet/webhook", batch(*taps("A")))
    post_signed(nobody, "/socialnet/webhook", crowded(range(11)))
    Job.objects.all().delete()
    inbound_queue.enqueue_forgotten()
    assert not Job.objects.exists(), "what came just now is not forgotten"
    InboundCallback.objects.update(received_at="2026-01-01T00:00:00Z")
    inbound_queue.enqueue_forgotten()
    run_waiting()
    assert len(texts()) == 12


def test_what_others_wrote_is_processed_though_a_customer_of_the_body_is_erased(nobody, page):
    post_signed(nobody, "/socialnet/webhook", crowded([1]))
    run_jobs()
    body = crowded([1, 2, 3])
    body["entry"][0]["messaging"][0]["message"] = {"mid": "m_9", "text": "erased"}
    post_signed(nobody, "/socialnet/webhook", body)
    outbox.erase_customer(Customer.objects.get())
    for _ in range(2):
        run_waiting()
    assert sorted(texts()) == ["text 1", "text 2", "text 3"]
    assert {bytes(row.body) for row in InboundCallback.objects.all()} == {b""}


def test_a_callback_that_names_an_erased_customer_is_not_kept_longer_than_any(nobody, page):
    post_signed(nobody, "/socialnet/webhook", crowded([1]))
    run_jobs()
    post_signed(nobody, "/socialnet/webhook", crowded([1, 2]))
    InboundItem.objects.filter(outcome=Outcome.WAITING).update(is_parked=True)
    Job.objects.filter(state="queued").delete()
    outbox.erase_customer(Customer.objects.get())
    run_jobs()
    callback = InboundCallback.objects.latest("pk")
    assert callback.body, "somebody else's words wait in it"
    InboundCallback.objects.update(received_at=Now() - timedelta(days=31))
    run_waiting()
    callback.refresh_from_db()
    assert bytes(callback.body) == b""


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
        if failing and item.content.text == "one":
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
