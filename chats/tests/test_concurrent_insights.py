"""Insights that are requested several times at once."""

import itertools
import threading

import pytest
from django.db import connection
from django.utils import timezone

from bots.engine.openai_compatible import OpenAICompatible
from chatplatform.locks import single_flight
from chatplatform.testing import at_once, run_before
from chats.models import Summary
from chats.services.insight import chat_analysis
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
REQUESTS = 8
DRAFT = {"key_points": [], "customer_intent": "", "resolution": ""}


def count_events(event_type):
    return Event.objects.filter(type=event_type).count()


@pytest.fixture
def chat(chat, add_message):
    add_message(chat, "customer", "My shoes are too small. I want to send them back.")
    return chat


@pytest.fixture
def changing_model(model, monkeypatch):
    """A model that writes another summary each time."""
    numbers = itertools.count(1)
    real = OpenAICompatible.complete

    def complete(*args, **more):
        model.json_answer = {"summary": f"Summary {next(numbers)}.", **DRAFT}
        return real(*args, **more)

    monkeypatch.setattr(OpenAICompatible, "complete", complete)
    return model


def test_a_summary_is_made_once(ann, chat, changing_model, credits_spent):
    replies = at_once(*[lambda: ann.post(f"/ai/chat/{chat.pk}/summarize")] * REQUESTS)
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    assert (Summary.objects.count(), count_events("summary.created")) == (1, 1)
    assert (len(changing_model.requests), credits_spent(ann.client)) == (1, 1)


def test_an_extractive_summary_is_made_once(ann, chat, credits_spent):
    replies = at_once(*[lambda: ann.post(f"/ai/chat/{chat.pk}/summarize")] * REQUESTS)
    assert len({reply.content for reply in replies}) == 1
    assert (count_events("summary.created"), credits_spent(ann.client)) == (1, 1)


def test_a_summary_stored_meanwhile_stands_and_the_late_one_is_free(ann, chat, credits_spent):
    """The check before storing decides if the lock was lost with its connection."""

    def store_summary():
        Summary.objects.create(
            client=ann.client, conversation=chat, language="en", summary="Faster.",
            key_points=[], customer_intent="", resolution="", message_count=chat.message_count,
            engine="extractive",
        )  # fmt: skip

    with run_before("bots.engine.rule_based_summary.of_conversation", store_summary):
        summary = ann.post(f"/ai/chat/{chat.pk}/summarize").json()
    assert summary["summary"] == "Faster."
    assert (count_events("summary.created"), credits_spent(ann.client)) == (0, 0)


def test_a_request_that_waits_too_long_makes_its_own_summary(ann, chat, settings):
    settings.LLM_DEADLINE_SECONDS = 0.2
    locked, release = threading.Event(), threading.Event()

    def hold_lock():
        with single_flight(f"summary:{chat.pk}", max_wait_seconds=0):
            locked.set()
            release.wait(60)
        connection.close()

    other = threading.Thread(target=hold_lock)
    other.start()
    assert locked.wait(60)
    assert ann.post(f"/ai/chat/{chat.pk}/summarize").status_code == 200
    assert other.is_alive()
    release.set()
    other.join()
    assert Summary.objects.count() == 1


def test_a_failure_releases_the_lock(ann, chat, model):
    model.json_answer = "nonsense"
    for _ in range(2):
        assert ann.post(f"/ai/chat/{chat.pk}/summarize").status_code == 503
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        )
        assert cursor.fetchone() == (0,)


def test_a_current_summary_can_be_made_again_by_force(ann, chat, changing_model):
    first = chat_analysis.summarize(chat)
    again = chat_analysis.summarize(chat, made_since=timezone.now())
    assert (again.pk > first.pk, count_events("summary.created")) == (True, 2)


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "event"), [("tags/auto", "tags.updated"), ("sentiment", "sentiment.updated")]
)
def test_tags_and_sentiment_are_announced_once(ann, chat, model, path, event):
    """Each request computes anew; an unchanged result is not announced."""
    model.json_answer = {
        "tags": [{"name": "returns", "confidence": 0.9}],
        "sentiment": "negative", "score": -0.5, "messages": [],
    }  # fmt: skip
    replies = at_once(*[lambda: ann.post(f"/ai/chat/{chat.pk}/{path}")] * REQUESTS)
    assert {reply.status_code for reply in replies} == {200}
    assert count_events(event) == 1
