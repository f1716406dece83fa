"""Replies are counted by what became of them, and credits while a call holds them."""

import pytest

from bots.testing import trained
from chatplatform.testing import run_jobs
from identity.services import credit_metrics, credits

pytestmark = pytest.mark.django_db(transaction=True)
HOURS = "Our shop opens at nine o'clock in the morning and closes at six in the evening."


def ask(server, chat, text):
    sent = server.post(f"/ai/client/chat/{chat}", {"text": text, "reply": "async"})
    assert sent.status_code == 202
    run_jobs()


def test_replies_are_counted_by_their_outcome(server, bot, counts):
    trained(bot, HOURS)
    chat = server.post("/ai/client/chat", {}).json()["id"]
    ask(server, chat, "When does the shop open in the morning?")
    assert counts().by("reply_seconds_count", "outcome") == {"answered": 1}
    ask(server, chat, "Hello")
    ask(server, chat, "I want to talk to a person")
    seen = counts()
    assert seen.by("reply_seconds_count", "outcome") == {
        "answered": 1, "canned": 1, "handed_over": 1,
    }  # fmt: skip
    assert 0 < seen.total("reply_seconds_sum") < 100


def test_reserved_credits_are_read_while_a_call_holds_them(client_a):
    def read():
        return [row.value for row in credit_metrics.read()]

    assert read() == [0, 0]
    credits.reserve(client_a.pk, cost=7, reference="reply:1")
    credits.reserve(client_a.pk, cost=3, reference="reply:2")
    reserved, oldest = read()
    assert (reserved, oldest > 0) == (10, True)
    credits.settle(client_a.pk, used=2, reference="reply:1")
    credits.release(client_a.pk, reference="reply:2")
    assert read() == [0, 0]
