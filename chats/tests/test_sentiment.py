"""Generate Sentiment Manual."""

import pytest

from bots.knowledge import embedding
from chatplatform.testing import make_person
from webhooks.models import Event

needs_encoder = pytest.mark.skipif(not embedding.available(), reason="no sentence encoder here")


def path_of(chat):
    return f"/ai/chat/{chat.pk}/sentiment"


def updates():
    return Event.objects.filter(type="sentiment.updated")


@needs_encoder
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nobody answers me, this is a disgrace and I want my money back!", "negative"),
        ("Cảm ơn shop, mình rất hài lòng với sản phẩm.", "positive"),
        ("Which sizes do you have?", "neutral"),
    ],
)
def test_the_embedded_engine(ann, talk, say, paid, text, expected):
    say(talk, "customer", text)
    say(talk, "bot", "Terrible, awful, the worst.")  # not what the customer feels
    found = ann.post(path_of(talk)).json()
    assert (found["sentiment"], found["engine"]) == (expected, "embedded")
    assert -1 <= found["score"] <= 1
    assert found["created_at"].endswith("Z")
    talk.refresh_from_db()
    assert (talk.sentiment, talk.sentiment_score) == (expected, found["score"])
    event = updates().get()
    assert (event.data["sentiment"], event.data["score"]) == (expected, found["score"])
    assert paid(ann.client) == 1


def test_a_model(ann, talk, say, model):
    say(talk, "customer", "Well, well.")
    model.says = {"sentiment": "negative", "score": -0.71234}
    found = ann.post(path_of(talk)).json()
    assert (found["sentiment"], found["score"]) == ("negative", -0.712)
    assert found["engine"] == "openai_compatible"
    ann.post(path_of(talk))
    assert updates().count() == 1  # the same again is no news


@pytest.mark.parametrize(
    "says", [{"sentiment": "angry", "score": 0}, {"sentiment": "neutral", "score": 9}, {}]
)
def test_a_model_that_makes_no_sense(ann, talk, say, model, paid, says):
    say(talk, "customer", "Well, well.")
    model.says = says
    assert ann.post(path_of(talk)).json()["code"] == "engine_unavailable"
    talk.refresh_from_db()
    assert (talk.sentiment, updates().count(), paid(ann.client)) == (None, 0, 0)


def test_a_model_that_is_down(ann, talk, say, broken_model, paid):
    say(talk, "customer", "Well, well.")
    reply = ann.post(path_of(talk))
    assert reply.status_code == 503
    assert "Retry-After" in reply
    talk.refresh_from_db()
    assert (talk.sentiment, updates().count(), paid(ann.client)) == (None, 0, 0)


def test_a_chat_without_words_is_neutral(ann, talk, paid):
    assert ann.post(path_of(talk)).json()["sentiment"] == "neutral"
    assert paid(ann.client) == 0


def test_who_may(ann, cara, nobody, talk):
    viewer = make_person(ann.client, "viewer", "Vic")
    assert viewer.post(path_of(talk)).status_code == 403
    assert nobody.post(path_of(talk)).status_code == 401
    assert cara.post(path_of(talk)).status_code == 404
    assert updates().count() == 0
