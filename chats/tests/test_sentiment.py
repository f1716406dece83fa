"""Generate Sentiment Manual."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bots.language import embedding
from chats.models import Message
from webhooks.models import Event

needs_encoder = pytest.mark.skipif(not embedding.available(), reason="no sentence encoder here")


def path_of(chat):
    return f"/ai/chat/{chat.pk}/sentiment"


def updates():
    return Event.objects.filter(type="sentiment.updated")


def message_sentiments(server, chat):
    """The sentiment of each message in the history."""
    items = server.get(f"/ai/client/chat/history/{chat.pk}").json()["items"]
    return [message["sentiment"] for message in items]


def model_answer(*sentiments):
    """A model's answer with a sentiment of each of the customer's messages."""
    each = [{"number": n, "sentiment": name} for n, name in enumerate(sentiments, start=1)]
    return {"sentiment": sentiments[-1], "score": 0.0, "messages": each}


@needs_encoder
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nobody answers me, this is a disgrace and I want my money back!", "negative"),
        ("Cảm ơn shop, mình rất hài lòng với sản phẩm.", "positive"),
        ("Which sizes do you have?", "neutral"),
    ],
)
def test_the_extractive_engine(ann, chat, add_message, credits_spent, text, expected):
    add_message(chat, "customer", text)
    add_message(chat, "bot", "Terrible, awful, the worst.")  # not the customer's
    result = ann.post(path_of(chat)).json()
    assert (result["sentiment"], result["engine"]) == (expected, "extractive")
    assert -1 <= result["score"] <= 1
    assert result["created_at"].endswith("Z")
    chat.refresh_from_db()
    assert (chat.sentiment, chat.sentiment_score) == (expected, result["score"])
    event = updates().get()
    assert (event.data["sentiment"], event.data["score"]) == (expected, result["score"])
    assert credits_spent(ann.client) == 1


def test_a_model(ann, chat, add_message, model):
    add_message(chat, "customer", "Well, well.")
    model.json_answer = {"sentiment": "negative", "score": -0.71234}
    result = ann.post(path_of(chat)).json()
    assert (result["sentiment"], result["score"]) == ("negative", -0.712)
    assert result["engine"] == "openai_compatible"
    ann.post(path_of(chat))
    assert updates().count() == 1  # an unchanged result is not announced


@pytest.mark.parametrize(
    "answer", [{"sentiment": "angry", "score": 0}, {"sentiment": "neutral", "score": 9}, {}]
)
def test_an_invalid_answer_of_a_model(ann, chat, add_message, model, credits_spent, answer):
    add_message(chat, "customer", "Well, well.")
    model.json_answer = answer
    assert ann.post(path_of(chat)).json()["code"] == "engine_unavailable"
    chat.refresh_from_db()
    assert (chat.sentiment, updates().count(), credits_spent(ann.client)) == (None, 0, 0)


def test_a_model_that_is_down(ann, chat, add_message, broken_model, credits_spent):
    add_message(chat, "customer", "Well, well.")
    reply = ann.post(path_of(chat))
    assert reply.status_code == 503
    assert "Retry-After" in reply
    chat.refresh_from_db()
    assert (chat.sentiment, updates().count(), credits_spent(ann.client)) == (None, 0, 0)


def test_a_chat_without_words_is_neutral(ann, chat, credits_spent):
    assert ann.post(path_of(chat)).json()["sentiment"] == "neutral"
    assert credits_spent(ann.client) == 0


# --- of single messages -------------------------------------------------------------------------

NEGATIVE, POSITIVE = "This is a disgrace, I want my money back!", "Thank you, that is wonderful!"


@needs_encoder
def test_the_extractive_engine_analyzes_single_messages(
    ann, server, chat, add_message, credits_spent
):
    add_message(chat, "customer", POSITIVE)  # before the last five: not analyzed
    for text in (NEGATIVE, "Which sizes do you have?", NEGATIVE, POSITIVE):
        add_message(chat, "customer", text)
        add_message(chat, "bot", NEGATIVE)
    add_message(chat, "agent", POSITIVE)
    add_message(chat, "customer", NEGATIVE, is_note=True)
    add_message(chat, "system", POSITIVE)
    add_message(chat, "customer", POSITIVE)
    ann.post(path_of(chat))
    assert message_sentiments(server, chat) == [
        None, "negative", None, "neutral", None, "negative", None, "positive", None, None, None,
        "positive",
    ]  # fmt: skip
    assert not Message.objects.exclude(sentiment=None).exclude(sender_type="customer").exists()
    assert not Message.objects.filter(is_note=True).exclude(sentiment=None).exists()
    assert credits_spent(ann.client) == 1


def test_a_model_analyzes_single_messages(ann, server, chat, add_message, model, credits_spent):
    add_message(chat, "customer", "Well, well.")
    add_message(chat, "bot", "Indeed.")
    add_message(chat, "customer", "Oh.")
    model.json_answer = model_answer("negative", "positive")
    ann.post(path_of(chat))
    assert message_sentiments(server, chat) == ["negative", None, "positive"]
    assert (len(model.requests), credits_spent(ann.client)) == (1, 1)


@pytest.mark.parametrize(
    "each", [[], [{"number": 3, "sentiment": "negative"}], [{"number": 1, "sentiment": "angry"}]]
)
def test_messages_without_a_valid_sentiment_stay_null(ann, server, chat, add_message, model, each):
    add_message(chat, "customer", "Well, well.")
    add_message(chat, "customer", "Oh.")
    model.json_answer = {"sentiment": "negative", "score": -0.5, "messages": each}
    assert ann.post(path_of(chat)).json()["sentiment"] == "negative"
    assert message_sentiments(server, chat) == [None, None]


def test_a_second_analysis_replaces_the_first(ann, server, chat, add_message, model):
    add_message(chat, "customer", "Well, well.")
    model.json_answer = model_answer("negative")
    ann.post(path_of(chat))
    add_message(chat, "customer", "Oh.")
    # The chat's own sentiment is unchanged: no event, but the messages are updated.
    model.json_answer = model_answer("positive", "negative")
    ann.post(path_of(chat))
    assert message_sentiments(server, chat) == ["positive", "negative"]
    assert updates().count() == 1


def test_the_event_shows_the_sentiment_and_no_message_is_announced_again(
    ann, chat, add_message, model
):
    add_message(chat, "customer", "Well, well.")
    before = Event.objects.exclude(type="sentiment.updated").count()
    model.json_answer = model_answer("negative")
    ann.post(path_of(chat))
    assert updates().get().data["conversation"]["last_message"]["sentiment"] == "negative"
    assert Event.objects.exclude(type="sentiment.updated").count() == before


def test_the_statements_do_not_grow_with_the_messages(ann, chat, add_message, model):
    def count_queries():
        with CaptureQueriesContext(connection) as queries:
            assert ann.post(path_of(chat)).status_code == 200
        return len(queries)

    add_message(chat, "customer", "One")
    model.json_answer = model_answer("negative")
    few = count_queries()
    for number in range(9):
        add_message(chat, "customer", f"More {number}")
    model.json_answer = model_answer(*["positive", "neutral"] * 5)
    assert count_queries() == few
    assert Message.objects.filter(sentiment="positive").count() == 5


def test_masked_messages_are_matched(ann, server, chat, add_message, model):
    ann.client.config.mask_personal_data = True
    ann.client.config.save()
    add_message(chat, "customer", "I am zoe@mail.example.")
    add_message(chat, "customer", "Call +84 90 123 4567.")
    model.json_answer = model_answer("neutral", "negative")
    ann.post(path_of(chat))
    assert message_sentiments(server, chat) == ["neutral", "negative"]
    sent = str(model.requests)
    assert "customer [1]: I am [email1]." in sent
    assert "zoe@mail" not in sent
    assert "123 4567" not in sent
