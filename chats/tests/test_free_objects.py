"""The limits of free keys and values: metadata and attributes."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chatplatform.testing import run_jobs
from chats.models import Conversation, Customer, Message
from webhooks.models import Event

OPEN, MESSAGING = "/ai/client/chat", "/mesaging/conversations"
HUGE = 10**30


@pytest.fixture(params=["metadata", "attributes", "customer", "message"])
def send(request, page, server, chat):
    """Send free keys and values to one of the operations that accept them."""
    operations = {
        "metadata": lambda free: server.post(OPEN, f'{{"metadata": {free}}}'),
        "attributes": lambda free: page.post(OPEN, f'{{"customer": {{"attributes": {free}}}}}'),
        "customer": lambda free: server.post(
            f"{OPEN}/customer/{chat.pk}", f'{{"attributes": {free}}}'
        ),
        "message": lambda free: server.post(
            f"{MESSAGING}/{chat.pk}/messages",
            f'{{"sender": {{"type": "customer"}}, "text": "Hello", "metadata": {free}}}',
        ),
    }
    return operations[request.param]


def counted():
    return Conversation.objects.count(), Message.objects.count(), Event.objects.count()


def test_numbers_that_json_readers_read_differently_are_refused(send):
    before = counted()
    for number in (
        "1e30", "-1e25", "18446744073709551616", "9007199254740992", "-9007199254740992",
        "1e-300", "[[1e30]]", '{"b": 1e30}',
    ):  # fmt: skip
        reply = send(f'{{"a": {number}}}')
        assert reply.status_code == 422, number
        (error,) = reply.json()["detail"]
        assert error["loc"][-1] in {"metadata", "attributes"}, number
    assert counted() == before


@pytest.mark.parametrize(
    "number", ["9007199254740991", "-9007199254740991", "9007199254740991.0", "1e15", "1e-30",
               "0", "-0.5", "true", "0.1"],
)  # fmt: skip
def test_numbers_are_returned_unchanged(server, ben, number):
    reply = server.post(OPEN, f'{{"metadata": {{"a": {number}}}}}')
    assert reply.status_code == 201
    for shown in (reply, ben.get(f"/ai/chats?q={reply.json()['chat_code']}")):
        stored = shown.json().get("items", [shown.json()])[0]["metadata"]["a"]
        assert stored == json.loads(number)


def test_large_objects_are_refused(send):
    before = counted()
    reply = send(json.dumps({"a": "x" * 16_400}))
    assert reply.status_code == 422
    assert "16,384 bytes" in reply.json()["detail"][0]["msg"]
    assert counted() == before
    assert send(json.dumps({"a": "x" * 16_300})).status_code in {200, 201}


def test_sixteen_levels_are_taken_and_seventeen_refused(send):
    def nested(levels, inside):
        return '{"a":' * (levels - 1) + inside + "}" * (levels - 1)

    assert send(nested(16, '{"b": 1}')).status_code in {200, 201}
    before = counted()
    for inside in ("{}", "[]"):
        reply = send(nested(17, inside))
        assert (reply.status_code, "16 levels" in reply.json()["detail"][0]["msg"]) == (422, True)
    assert counted() == before


def test_the_size_of_merged_attributes_is_limited(server, chat):
    path = f"{OPEN}/customer/{chat.pk}"
    assert server.post(path, {"attributes": {"a": "x" * 10_000}}).status_code == 200
    assert server.post(path, {"attributes": {"b": "x" * 10_000}}).status_code == 422
    assert server.post(path, {"attributes": {"a": "y" * 10_000}}).status_code == 200
    assert set(Customer.objects.get(pk=chat.customer_id).attributes) == {"a"}


def test_stored_objects_beyond_the_limits_are_returned(ann, server, chat, add_message):
    add_message(chat, "customer", "Hello")
    age = timezone.now() - timedelta(minutes=1)  # an export leaves out what is of this moment
    Customer.objects.update(attributes={"a": HUGE})
    Conversation.objects.update(metadata={"a": HUGE}, created_at=age)
    Message.objects.update(metadata={"a": HUGE}, created_at=age)
    for reply in (
        ann.get("/ai/chats"),
        server.get("/ai/client/chats"),
        ann.get(f"/ai/chat/history/customer/{chat.customer_id}"),
        server.get("/ai/client/migrate/conversations"),
        server.get("/ai/client/migrate/messages"),
        ann.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}),
        ann.post(f"/ai/chat/{chat.pk}/end"),
    ):
        assert reply.status_code == 200
        assert str(HUGE).encode() in reply.content
        assert reply.json()
    ended = Event.objects.get(type="conversation.ended")
    assert ended.data["conversation"]["metadata"] == {"a": HUGE}
    run_jobs()
    assert ann.get("/webhook/events").status_code == 200


@pytest.mark.parametrize("field", ["size_bytes", "document_id", "page"])
@pytest.mark.parametrize("sent_at", [{}, {"sent_at": "2026-01-01T00:00:00Z"}])
def test_huge_numbers_are_refused(server, chat, field, sent_at):
    digits = "1" + "0" * 30
    cited: dict[str, Any] = {"document_id": 1, "title": "t", "quote": "q"}
    part: dict[str, Any] = {"type": "file", "url": "https://files.example/a.png"}
    part |= {field: digits} if field == "size_bytes" else {"citations": [cited | {field: digits}]}
    body = {"sender": {"type": "customer"}, "content": [part], **sent_at}
    reply = server.post(f"{MESSAGING}/{chat.pk}/messages", body)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"][-1] == field
    assert not Message.objects.exists()
