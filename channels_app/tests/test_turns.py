"""Customers of a large body take turns, and so do a client's accounts."""

import time
from uuid import uuid4

import pytest
from django.db.models.functions import Now

from channels_app.models import InboundItem, OutboundSend, Outcome, SendState
from channels_app.services import inbound_queue
from channels_app.tests.helpers import ACCOUNT, OA, PAGE, of_localapp, post_signed
from channels_app.tests.test_retried_callbacks import crowded, run_one, texts
from chatplatform import jobs
from chatplatform.jobs import leases
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Message

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def agents_answer(bot, monkeypatch):
    """No bot's reply stands between the messages, and no job ends early on a slow machine."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    monkeypatch.setattr(inbound_queue, "_SLICE_SECONDS", 60)


def of_one(user, texts_of, account=PAGE):
    """Events of one customer who writes several messages."""
    return [
        {
            "sender": {"id": user}, "recipient": {"id": account}, "timestamp": 1795226300000 + at,
            "message": {"mid": f"m_{user}_{at}", "text": text},
        }
        for at, text in enumerate(texts_of)
    ]  # fmt: skip


@pytest.mark.full
def test_nobody_waits_for_all_that_another_customer_of_the_body_wrote(nobody, page):
    body = crowded(range(12))
    messages = body["entry"][0]["messaging"]
    messages[:0] = of_one("7000", [f"long {number}" for number in range(80)])
    post_signed(nobody, "/socialnet/webhook", body)
    run_one()
    stored = texts()
    assert {f"text {number}" for number in range(12)} <= set(stored)
    of_talker = Message.objects.filter(text__startswith="long").order_by("seq")
    assert list(of_talker.values_list("text", flat=True)) == [
        f"long {number}" for number in range(of_talker.count())
    ]
    assert 12 < len(stored) <= 50


@pytest.mark.full
def test_a_receipt_does_not_bring_its_customers_messages_forward(nobody, oa):
    bodies = [
        of_localapp("user_send_text", {"msg_id": f"m{number}", "text": f"text {number}"},
                    sender={"id": f"6{number}"})
        for number in range(12)
    ]  # fmt: skip
    for body in bodies:
        post_signed(nobody, "/localapp/callback", body)
    InboundItem.objects.update(is_batched=True)
    Job.objects.filter(name="channels_app.process_items").delete()
    seen = {"sender": {"id": OA}, "recipient": {"id": "611"}}
    post_signed(nobody, "/localapp/callback", of_localapp(
        "user_seen_message", {"msg_ids": ["m0"]}, **seen
    ))  # fmt: skip
    run_one()
    assert not InboundItem.objects.filter(is_batched=False).exists()
    assert not Job.objects.filter(name="channels_app.process_items", state="queued").exists()
    assert len(texts()) == 12


def test_echoes_of_our_sends_wait_with_the_receipts(nobody, oa):
    incoming = of_localapp("user_send_text", {"msg_id": "m1", "text": "Hello"}, sender={"id": "61"})
    post_signed(nobody, "/localapp/callback", incoming)
    run_one()
    OutboundSend.objects.create(
        client=oa.client, connection=oa, message=Message.objects.get(), part=0, is_last=True,
        recipient_id="61",
        state=SendState.SENT, sent_at=Now(), provider_message_id="ours",
    )  # fmt: skip
    ours, of_the_page = (
        of_localapp("oa_send_text", {"msg_id": name, "text": name},
                    sender={"id": OA}, recipient={"id": "61"})
        for name in ("ours", "theirs")
    )  # fmt: skip
    post_signed(nobody, "/localapp/callback", ours)
    post_signed(nobody, "/localapp/callback", of_the_page)
    waiting = InboundItem.objects.filter(outcome=Outcome.WAITING).order_by("pk")
    assert list(waiting.values_list("is_batched", flat=True)) == [True, False]
    run_jobs()
    assert list(Message.objects.order_by("seq").values_list("text", flat=True)) == [
        "Hello",
        "theirs",
    ]
    assert not waiting.exists()


def job_of(connection):
    """The queued job of an account's batched items."""
    return Job.objects.get(
        name="channels_app.process_items", state="queued", args__connection_id=str(connection.pk)
    )


def run_job_of(connection):
    job = job_of(connection)
    Job.objects.filter(pk=job.pk).update(due_at=Now())
    assert leases.run(job.pk)


@pytest.mark.full
def test_the_account_that_was_held_back_longest_goes_first(nobody, page, account, few_at_once):
    for _ in range(8):
        jobs.enqueue("chats.generate_reply", client_id=page.client_id, message_id=str(uuid4()))
    post_signed(nobody, "/socialnet/webhook", crowded(range(30)))
    of_account = crowded(range(200, 230))
    of_account["object"], of_account["entry"][0]["id"] = "instagram", ACCOUNT
    for item in of_account["entry"][0]["messaging"]:
        item["recipient"] = {"id": ACCOUNT}
    post_signed(nobody, "/photoapp/webhook", of_account)
    for connection in (page, account):
        run_job_of(connection)
    assert texts() == [], "both are held back"
    Job.objects.filter(name="chats.generate_reply").delete()
    for connection, since in ((page, time.time() - 1), (account, time.time() - 5)):
        job = job_of(connection)
        Job.objects.filter(pk=job.pk).update(args=job.args | {"held_since": since})
    stored = Message.objects.filter(sender_type="customer")
    run_job_of(page)
    assert not stored.exists(), "another account has waited longer"
    run_job_of(account)
    stored_there = stored.filter(conversation__channel="photoapp")
    assert stored_there.count() == few_at_once
    Job.objects.exclude(name="channels_app.process_items").delete()
    run_job_of(account)
    assert stored_there.count() == few_at_once, "it has had its turn"
    run_job_of(page)
    assert stored.filter(conversation__channel="socialnet").count() == few_at_once
