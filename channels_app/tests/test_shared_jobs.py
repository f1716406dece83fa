"""Items that share a job: those of large bodies, of one customer, and receipts."""

import threading
import time
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from channels_app.models import InboundCallback, Outcome
from channels_app.services import inbound_queue
from channels_app.tests.helpers import OA, of_localapp, post_signed, run_waiting
from channels_app.tests.test_retried_callbacks import (
    batch,
    crowded,
    outcomes,
    run_one,
    taps,
    texts,
)
from chatplatform import jobs
from chatplatform.models import Job
from chatplatform.testing import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def agents_answer(bot, monkeypatch):
    """No bot's reply stands between the messages, and no job ends early on a slow machine."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    monkeypatch.setattr(inbound_queue, "_SLICE_SECONDS", 60)


@pytest.mark.full
def test_a_large_body_that_waits_for_replies_moves_each_minute(nobody, page, few_at_once):
    for _ in range(8):
        jobs.enqueue("chats.generate_reply", client_id=page.client_id, message_id=str(uuid4()))
    post_signed(nobody, "/socialnet/webhook", crowded(range(30)))
    InboundCallback.objects.update(received_at=Now() - timedelta(hours=1))
    for stored in (0, few_at_once, few_at_once, 2 * few_at_once):
        run_one()
        assert len(texts()) == stored, "what came long ago is still held back"
        waits = Job.objects.get(name="channels_app.process_items", state="queued")
        minute_ago = {"held_since": time.time() - 61} if "held_since" in waits.args else {}
        Job.objects.filter(pk=waits.pk).update(due_at=Now(), args=waits.args | minute_ago)


def queued():
    return Job.objects.filter(name="channels_app.process_items", state="queued").count()


def test_what_a_customer_writes_shares_the_job_that_waits(nobody, page):
    for text in "ABC":
        post_signed(nobody, "/socialnet/webhook", batch(*taps(text)))
    assert queued() == 1
    run_jobs()
    assert texts() == ["A", "B", "C"]


def test_a_job_that_is_shared_begins_when_all_of_its_items_are_stored(nobody, page):
    post_signed(nobody, "/socialnet/webhook", batch(*taps("A")))

    def work():
        run_one()
        connection.close()

    worker = threading.Thread(target=work)
    with transaction.atomic():
        post_signed(nobody, "/socialnet/webhook", batch(*taps("B")))
        worker.start()
        worker.join(0.5)
    worker.join()
    assert (texts(), queued()) == (["A", "B"], 0)


def test_receipts_share_the_job_of_their_account(nobody, oa):
    for number in range(12):
        seen = {"msg_ids": [f"m{number}"]}
        who = {"sender": {"id": OA}, "recipient": {"id": f"7{number}"}}
        post_signed(nobody, "/localapp/callback", of_localapp("user_seen_message", seen, **who))
    assert queued() == 1
    run_jobs()
    assert outcomes() == [Outcome.PROCESSED] * 12


def test_nothing_is_enqueued_for_signals_that_a_channel_does_not_have(nobody, oa, bot):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=False)
    post_signed(nobody, "/localapp/callback", of_localapp())
    run_jobs()
    assert texts() == ["hello"]
    assert not Job.objects.filter(name="channels_app.send_signal").exists()


@pytest.mark.full
def test_what_a_customer_of_a_large_body_writes_next_comes_behind(nobody, page):
    post_signed(nobody, "/socialnet/webhook", crowded(range(12)))
    following = batch(*taps("next"))
    following["entry"][0]["messaging"][0]["sender"] = {"id": "711"}
    post_signed(nobody, "/socialnet/webhook", following)
    Job.objects.filter(ordering_key__contains="-").update(due_at=Now() + timedelta(minutes=1))
    run_jobs()
    assert texts() == ["text 11", "next"]
    run_waiting()
    assert len(texts()) == 13
