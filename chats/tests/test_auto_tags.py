"""Auto Generate Tag With Ai, and its preview that stores nothing."""

import pytest

from bots.language import embedding
from chats.models import Tagging
from webhooks.models import Event

needs_encoder = pytest.mark.skipif(not embedding.available(), reason="no sentence encoder here")


def path_of(chat, temp=""):
    return f"/ai/chat/{chat.pk}/tags/auto{temp}"


@pytest.fixture
def tagged_chats(server, ann, add_message):
    """Chats with tags of agents."""
    for text, tag in (
        ("I want my money back for these shoes.", "refund"),
        ("The parcel has not arrived yet, where is it?", "delivery"),
        ("When are you open on Sundays?", "opening hours"),
    ):
        chat = server.post("/ai/client/chat", {"message": text}).json()
        ann.post(f"/ai/chat/{chat['id']}/tags", {"tags": [tag]})
    Event.objects.all().delete()


@pytest.fixture
def late_order(chat, add_message):
    add_message(chat, "customer", "My order is late. When will the parcel come?")
    return chat


def stored(chat):
    return list(Tagging.objects.filter(conversation=chat).values_list("name", "source"))


@needs_encoder
def test_tags_come_from_similar_chats(ann, late_order, tagged_chats, credits_spent):
    tags = ann.post(path_of(late_order)).json()["tags"]
    assert [(tag["name"], tag["source"]) for tag in tags] == [("delivery", "ai")]
    assert 0.45 <= tags[0]["confidence"] <= 1
    assert stored(late_order) == [("delivery", "ai")]
    late_order.refresh_from_db()
    assert late_order.tags == ["delivery"]
    assert Event.objects.get().type == "tags.updated"
    assert credits_spent(ann.client) == 1


@needs_encoder
def test_the_preview_stores_nothing(ann, late_order, tagged_chats, credits_spent):
    tags = ann.post(path_of(late_order, "-temp")).json()["tags"]
    assert tags[0]["name"] == "delivery"
    assert 2 <= len(tags) <= 3
    assert stored(late_order) == []
    assert Event.objects.count() == 0
    assert credits_spent(ann.client) == 1
    late_order.refresh_from_db()
    assert late_order.tags == []


def test_existing_tags_are_not_proposed(ann, late_order, tagged_chats):
    ann.post(f"/ai/chat/{late_order.pk}/tags", {"tags": ["DELIVERY"]})
    tags = ann.post(path_of(late_order, "-temp")).json()["tags"]
    assert "delivery" not in [tag["name"] for tag in tags]


def test_a_client_without_tags_gets_none(ann, late_order):
    assert ann.post(path_of(late_order)).json() == {"tags": []}
    assert Event.objects.filter(type="tags.updated").count() == 0


@pytest.mark.full
def test_a_model_may_add_three_new_tags(ann, late_order, tagged_chats, model):
    model.json_answer = {
        "tags": [
            {"name": "Delivery", "confidence": 0.9},
            *({"name": f"new {n}", "confidence": 0.8} for n in range(5)),
            {"name": "<i>unsure</i>", "confidence": 0.1},
            {"name": "", "confidence": 1},
            {"name": "x" * 900, "confidence": 0.5},
        ]
    }
    tags = ann.post(path_of(late_order)).json()["tags"]
    assert [tag["name"] for tag in tags] == ["delivery", "new 0", "new 1", "new 2"]
    assert '"refund"' in model.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    "tags", [[{"name": "a", "confidence": 7}], [{"name": ["a"], "confidence": 1}], "a", None]
)
def test_an_invalid_answer_of_a_model(ann, late_order, model, credits_spent, tags):
    model.json_answer = {"tags": tags}
    assert ann.post(path_of(late_order)).status_code == 503
    assert (stored(late_order), credits_spent(ann.client)) == ([], 0)


def test_a_chat_has_at_most_twenty_tags(ann, late_order, model):
    ann.post(f"/ai/chat/{late_order.pk}/tags", {"tags": [f"t{n}" for n in range(19)]})
    model.json_answer = {"tags": [{"name": f"new {n}", "confidence": 1} for n in range(3)]}
    assert len(ann.post(path_of(late_order)).json()["tags"]) == 20


@pytest.mark.parametrize("temp", ["", "-temp"])
def test_a_model_that_is_down(ann, late_order, broken_model, credits_spent, temp):
    reply = ann.post(path_of(late_order, temp))
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert "Retry-After" in reply
    assert (stored(late_order), credits_spent(ann.client)) == ([], 0)


@pytest.mark.parametrize("temp", ["", "-temp"])
def test_an_empty_chat_and_another_client(ann, cara, chat, credits_spent, temp):
    assert ann.post(path_of(chat, temp)).json() == {"tags": []}
    assert credits_spent(ann.client) == 0
    assert cara.post(path_of(chat, temp)).status_code == 404
