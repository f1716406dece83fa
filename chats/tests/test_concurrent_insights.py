"""Insights that several ask for at the same time."""

import itertools
import threading

import pytest
from django.db import connection
from django.utils import timezone

from bots.engine.openai_compatible import OpenAICompatible
from chatplatform.locks import single_flight
from chatplatform.testing import at_once, run_before
from chats.models import Summary
from chats.services.insight import insights
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 8
DRAFT = {"key_points": [], "customer_intent": "", "resolution": ""}


def events(kind):
    return Event.objects.filter(type=kind).count()


@pytest.fixture
def told(chat, add_message):
    add_message(chat, "customer", "My shoes are too small. I want to send them back.")
    return chat


@pytest.fixture
def talkative(model, monkeypatch):
    """A model that writes another summary each time, and takes a moment for it."""
    numbers = itertools.count(1)
    real = OpenAICompatible.complete

    def written(*args, **more):
        model.json_answer = {"summary": f"Summary {next(numbers)}.", **DRAFT}
        return real(*args, **more)

    monkeypatch.setattr(OpenAICompatible, "complete", written)
    return model


def test_a_summary_is_made_once(ann, told, talkative, credits_spent):
    replies = at_once(*[lambda: ann.post(f"/ai/chat/{told.pk}/summarize")] * MANY)
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    assert (Summary.objects.count(), events("summary.created")) == (1, 1)
    assert (len(talkative.requests), credits_spent(ann.client)) == (1, 1)


def test_the_embedded_one_too(ann, told, credits_spent):
    replies = at_once(*[lambda: ann.post(f"/ai/chat/{told.pk}/summarize")] * MANY)
    assert len({reply.content for reply in replies}) == 1
    assert (events("summary.created"), credits_spent(ann.client)) == (1, 1)


def test_one_that_was_faster_stands_and_the_late_one_is_free(ann, told, credits_spent):
    """Where the lock was lost with its connection, the look before storing decides."""

    def faster():
        Summary.objects.create(
            client=ann.client, conversation=told, language="en", summary="Faster.",
            key_points=[], customer_intent="", resolution="", message_count=told.message_count,
            engine="embedded",
        )  # fmt: skip

    with run_before("chats.services.insight.insights._store_summary", faster):
        made = ann.post(f"/ai/chat/{told.pk}/summarize").json()
    assert made["summary"] == "Faster."
    assert (events("summary.created"), credits_spent(ann.client)) == (0, 0)


def test_who_waits_too_long_makes_it_himself(ann, told, settings):
    settings.LLM_DEADLINE_SECONDS = 0.2
    is_held, may_go = threading.Event(), threading.Event()

    def hold():
        with single_flight(f"summary:{told.pk}", patience=0):
            is_held.set()
            may_go.wait(20)
        connection.close()

    other = threading.Thread(target=hold)
    other.start()
    assert is_held.wait(5)
    assert ann.post(f"/ai/chat/{told.pk}/summarize").status_code == 200
    assert other.is_alive()
    may_go.set()
    other.join()
    assert Summary.objects.count() == 1


def test_a_failure_lets_the_next_one_begin(ann, told, model):
    model.json_answer = "nonsense"
    for _ in range(2):
        assert ann.post(f"/ai/chat/{told.pk}/summarize").status_code == 503
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        )
        assert cursor.fetchone() == (0,)


def test_forced_anew_although_there_is_a_current_one(ann, told, talkative):
    first = insights.summarise(told)
    again = insights.summarise(told, made_since=timezone.now())
    assert (again.pk > first.pk, events("summary.created")) == (True, 2)


@pytest.mark.parametrize(
    ("path", "event"), [("tags/auto", "tags.updated"), ("sentiment", "sentiment.updated")]
)
def test_tags_and_sentiment_are_announced_once(ann, told, model, path, event):
    """Asked for again they are judged again; what that does not change is not announced."""
    model.json_answer = {
        "tags": [{"name": "returns", "confidence": 0.9}],
        "sentiment": "negative", "score": -0.5, "messages": [],
    }  # fmt: skip
    replies = at_once(*[lambda: ann.post(f"/ai/chat/{told.pk}/{path}")] * MANY)
    assert {reply.status_code for reply in replies} == {200}
    assert events(event) == 1
