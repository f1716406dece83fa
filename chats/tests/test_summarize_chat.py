"""Summarize Chat By Id."""

import json

import pytest

from chats.models import Summary
from webhooks.models import Event

ANSWER = {
    "summary": "The customer wants to return <b>shoes</b>.\x00",
    "key_points": ["Shoes too small", "", "Order 48213"],
    "customer_intent": "Return shoes.",
    "resolution": "",
}


def path_of(chat):
    return f"/ai/chat/{getattr(chat, 'pk', chat)}/summarize"


def announced():
    return Event.objects.filter(type="summary.created")


@pytest.fixture
def written_chat(chat, add_message):
    add_message(chat, "customer", "Hello!")
    add_message(chat, "customer", "My shoes are too small. I want to send them back.")
    add_message(chat, "bot", "You can return goods within 30 days.")
    add_message(chat, "customer", "Do I have to pay the postage? And where is the form?")
    add_message(chat, "agent", "Rude one, be careful", is_note=True)
    return chat


def test_without_a_model_the_summary_quotes_the_chat(ann, written_chat, credits_spent):
    reply = ann.post(path_of(written_chat))
    assert reply.status_code == 200
    summary = reply.json()
    assert summary["chat_id"] == str(written_chat.pk)
    assert summary["engine"] == "extractive"
    assert summary["customer_intent"] == "My shoes are too small. I want to send them back."
    assert summary["key_points"] == [
        "Open question: Do I have to pay the postage?", "Open question: And where is the form?",
    ]  # fmt: skip
    assert summary["summary"].startswith("Messages: 4\nFirst request: My shoes are too small.")
    assert "be careful" not in reply.content.decode()
    assert summary["message_count"] == 5
    written_chat.refresh_from_db()
    assert written_chat.summary == summary["summary"]
    event = announced().get()
    assert event.data["summary"] == summary
    assert event.sequence == written_chat.last_event_seq
    assert credits_spent(ann.client) == 1


def test_a_models_summary_is_cleaned(ann, written_chat, model, credits_spent):
    model.json_answer = ANSWER
    summary = ann.post(path_of(written_chat)).json()
    assert summary["engine"] == "openai_compatible"
    assert summary["summary"] == "The customer wants to return shoes."
    assert summary["key_points"] == ["Shoes too small", "Order 48213"]
    (sent,) = model.requests
    assert sent["response_format"]["type"] == "json_schema"
    assert "be careful" not in json.dumps(sent)
    assert credits_spent(ann.client) == 1


@pytest.mark.parametrize(
    ("last", "resolutions"),
    [
        (("agent", "We sent you a new pair today."), ("A new pair was sent.",) * 2),
        (("agent", "We sent you a new pair today."), ("The customer got 50 euros back.", "")),
        (("agent", "Which size do you need?"), ("A new pair was sent.", "")),
        (("customer", "Nobody has answered me."), ("The customer was satisfied.", "")),
    ],
)
def test_a_summary_tells_no_resolution_that_the_chat_does_not(
    ann, written_chat, add_message, model, last, resolutions
):
    add_message(written_chat, *last)
    written, kept = resolutions
    model.json_answer = ANSWER | {"resolution": written}
    assert ann.post(path_of(written_chat)).json()["resolution"] == kept


def test_a_current_summary_is_not_made_again(ann, written_chat, add_message, model, credits_spent):
    model.json_answer = ANSWER
    first = ann.post(path_of(written_chat)).json()
    assert ann.post(path_of(written_chat)).json() == first
    assert (len(model.requests), announced().count(), credits_spent(ann.client)) == (1, 1, 1)
    add_message(written_chat, "customer", "Hello?")
    assert ann.post(path_of(written_chat)).json()["message_count"] == 6
    assert (len(model.requests), Summary.objects.count()) == (2, 2)


def test_a_model_that_is_down_stores_and_costs_nothing(
    ann, written_chat, broken_model, credits_spent
):
    reply = ann.post(path_of(written_chat))
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert int(reply["Retry-After"]) > 0
    assert (Summary.objects.count(), announced().count(), credits_spent(ann.client)) == (0, 0, 0)
    written_chat.refresh_from_db()
    assert written_chat.summary is None


def test_an_invalid_answer_is_requested_once_more(ann, written_chat, model):
    model.json_answer = ANSWER
    model.play("ok,json")
    assert ann.post(path_of(written_chat)).status_code == 200
    assert len(model.requests) == 2


@pytest.mark.parametrize("answer", [{"summary": 7}, {"summary": ""}, [], "yes"])
def test_two_invalid_answers_make_no_summary(ann, written_chat, model, credits_spent, answer):
    model.json_answer = answer
    assert ann.post(path_of(written_chat)).json()["code"] == "engine_unavailable"
    assert (len(model.requests), Summary.objects.count(), credits_spent(ann.client)) == (2, 0, 0)


def test_personal_data_is_masked_if_the_client_says_so(ann, chat, add_message, model):
    config = ann.client.config
    config.mask_personal_data = True
    config.save()
    add_message(chat, "customer", "I am zoe@mail.example, call +84 90 123 4567.")
    model.json_answer = ANSWER | {"summary": "Call [phone2] or write to [email1]."}
    summary = ann.post(path_of(chat)).json()
    assert summary["summary"] == "Call +84 90 123 4567 or write to zoe@mail.example."
    sent = json.dumps(model.requests)
    assert "[email1]" in sent
    assert "zoe@mail" not in sent
    assert "123 4567" not in sent


def test_without_credits(ann, written_chat, credits_spent):
    subscription = ann.client.subscription
    subscription.credits_left = 0
    subscription.save()
    reply = ann.post(path_of(written_chat))
    assert (reply.status_code, reply.json()["code"]) == (402, "insufficient_credits")
    assert (reply.json()["balance"], reply.json()["required"]) == (0, 1)
    assert Summary.objects.count() == 0


def test_an_empty_chat_costs_nothing(ann, chat, model, credits_spent):
    summary = ann.post(path_of(chat)).json()
    assert (summary["message_count"], summary["customer_intent"]) == (0, "")
    assert (model.requests, credits_spent(ann.client)) == ([], 0)
