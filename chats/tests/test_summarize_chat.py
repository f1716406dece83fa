"""Summarize Chat By Id."""

import json
import uuid

import pytest

from chats.models import Summary
from identity.testing import make_person
from webhooks.models import Event

SAID = {
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
def told(chat, add_message):
    add_message(chat, "customer", "Hello!")
    add_message(chat, "customer", "My shoes are too small. I want to send them back.")
    add_message(chat, "bot", "You can return goods within 30 days.")
    add_message(chat, "customer", "Do I have to pay the postage? And where is the form?")
    add_message(chat, "agent", "Rude one, be careful", is_note=True)
    return chat


def test_without_a_model_it_is_the_chats_own_words(ann, told, credits_spent):
    reply = ann.post(path_of(told))
    assert reply.status_code == 200
    made = reply.json()
    assert made["chat_id"] == str(told.pk)
    assert made["engine"] == "embedded"
    assert made["customer_intent"] == "My shoes are too small. I want to send them back."
    assert made["key_points"] == [
        "Open question: Do I have to pay the postage?", "Open question: And where is the form?",
    ]  # fmt: skip
    assert made["summary"].startswith("Messages: 4\nFirst request: My shoes are too small.")
    assert "be careful" not in reply.content.decode()
    assert made["message_count"] == 5
    told.refresh_from_db()
    assert told.summary == made["summary"]
    event = announced().get()
    assert event.data["summary"] == made
    assert event.sequence == told.last_event_seq
    assert credits_spent(ann.client) == 1


def test_a_model_writes_prose_which_is_cleaned(ann, told, model, credits_spent):
    model.json_answer = SAID
    made = ann.post(path_of(told)).json()
    assert made["engine"] == "openai_compatible"
    assert made["summary"] == "The customer wants to return shoes."
    assert made["key_points"] == ["Shoes too small", "Order 48213"]
    (sent,) = model.requests
    assert sent["response_format"]["type"] == "json_schema"
    assert "be careful" not in json.dumps(sent)
    assert credits_spent(ann.client) == 1


def test_a_current_summary_is_not_made_again(ann, told, add_message, model, credits_spent):
    model.json_answer = SAID
    first = ann.post(path_of(told)).json()
    assert ann.post(path_of(told)).json() == first
    assert (len(model.requests), announced().count(), credits_spent(ann.client)) == (1, 1, 1)
    add_message(told, "customer", "Hello?")
    assert ann.post(path_of(told)).json()["message_count"] == 6
    assert (len(model.requests), Summary.objects.count()) == (2, 2)


def test_a_model_that_is_down_stores_and_costs_nothing(ann, told, broken_model, credits_spent):
    reply = ann.post(path_of(told))
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert int(reply["Retry-After"]) > 0
    assert (Summary.objects.count(), announced().count(), credits_spent(ann.client)) == (0, 0, 0)
    told.refresh_from_db()
    assert told.summary is None


def test_what_does_not_fit_is_asked_for_once_more(ann, told, model):
    model.json_answer = SAID
    model.play("ok,json")
    assert ann.post(path_of(told)).status_code == 200
    assert len(model.requests) == 2


@pytest.mark.parametrize("says", [{"summary": 7}, {"summary": ""}, [], "yes"])
def test_what_never_fits_is_no_summary(ann, told, model, credits_spent, says):
    model.json_answer = says
    assert ann.post(path_of(told)).json()["code"] == "engine_unavailable"
    assert (len(model.requests), Summary.objects.count(), credits_spent(ann.client)) == (2, 0, 0)


def test_personal_data_stays_here_where_the_client_asks(ann, chat, add_message, model):
    config = ann.client.config
    config.mask_personal_data = True
    config.save()
    add_message(chat, "customer", "I am zoe@mail.example, call +84 90 123 4567.")
    model.json_answer = SAID | {"summary": "Call [phone2] or write to [email1]."}
    made = ann.post(path_of(chat)).json()
    assert made["summary"] == "Call +84 90 123 4567 or write to zoe@mail.example."
    sent = json.dumps(model.requests)
    assert "[email1]" in sent
    assert "zoe@mail" not in sent
    assert "123 4567" not in sent


def test_without_credits(ann, told, credits_spent):
    subscription = ann.client.subscription
    subscription.credits_left = 0
    subscription.save()
    reply = ann.post(path_of(told))
    assert (reply.status_code, reply.json()["code"]) == (402, "insufficient_credits")
    assert (reply.json()["balance"], reply.json()["required"]) == (0, 1)
    assert Summary.objects.count() == 0


def test_an_empty_chat_costs_nothing(ann, chat, model, credits_spent):
    made = ann.post(path_of(chat)).json()
    assert (made["message_count"], made["customer_intent"]) == (0, "")
    assert (model.requests, credits_spent(ann.client)) == ([], 0)


def test_who_may(ann, ben, cara, nobody, server, told):
    viewer = make_person(ann.client, "viewer", "Vic")
    assert viewer.post(path_of(told)).status_code == 403
    assert nobody.post(path_of(told)).status_code == 401
    assert server.post(path_of(told)).status_code == 401
    assert cara.post(path_of(told)).status_code == 404
    assert ann.post(path_of(uuid.uuid4())).status_code == 404
    assert Summary.objects.count() == 0
    assert ben.post(path_of(told)).status_code == 200
