"""The fields that a bot asks its customers for, where a chat is opened or a customer updated."""

from typing import Any

import pytest

from chats.models import Conversation, Customer
from identity.testing import make_key

EMAIL: dict[str, Any] = {
    "name": "email", "label": {"en": "E-mail"}, "type": "email", "required": True,
    "ask_before_chat": True,
}  # fmt: skip
PHONE = {**EMAIL, "name": "phone", "label": {"en": "Phone"}, "type": "phone"}
ORDER = {**EMAIL, "name": "order", "label": {"en": "Order"}, "type": "number"}
CITY = {**EMAIL, "name": "city", "label": {"en": "City"}, "type": "text", "ask_before_chat": False}
FIELDS = [EMAIL, PHONE, ORDER, CITY]
WHOLE = {"email": "a@b.example", "phone": "0901 234 567", "attributes": {"order": 17}}


@pytest.fixture(autouse=True)
def asks(ann, bot):
    """The bot asks for three answers before a chat, and for one in it."""
    path = f"/ai/{bot.pk}/customer-info-field"
    assert ann.put(path, {"fields": FIELDS}).status_code == 200


def named(reply):
    assert reply.status_code == 422
    return [error["loc"] for error in reply.json()["detail"]]


@pytest.mark.parametrize("sender", ["server", "page"])
def test_required_answers_must_be_there_when_a_key_opens_a_chat(request, sender):
    caller = request.getfixturevalue(sender)
    at = ["body", "customer", "attributes"]
    asked = [[*at, name] for name in ("email", "phone", "order")]
    assert named(caller.post("/ai/client/chat", {"message": "Hello"})) == asked
    body = {"customer": {"email": "a@b.example", "attributes": {"order": "17", "phone": None}}}
    assert named(caller.post("/ai/client/chat", body)) == asked[1:]
    assert not Conversation.objects.exists()
    assert not Customer.objects.exists()
    opened = caller.post("/ai/client/chat", {"customer": WHOLE})
    assert opened.status_code == 201
    assert Customer.objects.get().attributes == {"order": 17}


def test_what_is_known_of_a_customer_is_not_asked_again(server):
    known = {"external_id": "c-1"}
    assert server.post("/ai/client/chat", {"customer": {**WHOLE, **known}}).status_code == 201
    assert server.post("/ai/client/chat", {"customer": known}).status_code == 201
    wrong = {**known, "name": "Eve", "attributes": {"order": "many"}}
    assert named(server.post("/ai/client/chat", {"customer": wrong})) == [
        ["body", "customer", "attributes", "order"]
    ]
    assert Customer.objects.get().name == ""
    assert Conversation.objects.count() == 2


def test_a_zero_is_an_answer_that_is_known(server):
    known = {"external_id": "c-1"}
    none_ordered = {**WHOLE, **known, "attributes": {"order": 0}}
    assert server.post("/ai/client/chat", {"customer": none_ordered}).status_code == 201
    assert server.post("/ai/client/chat", {"customer": known}).status_code == 201


def test_answers_are_checked_when_a_customer_is_updated(server):
    chat_id = server.post("/ai/client/chat", {"customer": WHOLE}).json()["id"]
    path = f"/ai/client/chat/customer/{chat_id}"
    wrong = {"phone": "call me", "attributes": {"order": "many", "city": 5, "plan": ["gold"]}}
    at = ["body", "attributes"]
    assert named(server.post(path, wrong)) == [[*at, "phone"], [*at, "order"], [*at, "city"]]
    assert named(server.post(path, {"attributes": {"city": None}})) == [[*at, "city"]]
    assert Customer.objects.get().attributes == {"order": 17}
    right = {"name": "Zoe", "attributes": {"city": "Hue", "plan": ["gold"]}}
    assert server.post(path, right).json()["customer"]["attributes"] == {
        "order": 17, "city": "Hue", "plan": ["gold"],
    }  # fmt: skip


def test_other_doors_refuse_nobody(client_a, bot):
    key = make_key(client_a, "secret", bot.pk)
    requester = {"external_id": "c-9", "name": "Dan"}
    assert key.post("/mesaging/conversations", {"requester": requester}).status_code == 201
