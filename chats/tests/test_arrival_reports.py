"""Report Messages As Delivered, Report Messages As Read, and what an agent has read."""

import uuid

import pytest

from chats.models import Conversation, Message
from webhooks.models import Event


@pytest.fixture
def said(chat, add_message):
    """Seq 1: the customer; 2: the bot; 3: a note; 4: an agent; 5: history that was moved in."""
    add_message(chat, "customer", "Hello")
    add_message(chat, "bot", "Hi")
    add_message(chat, "agent", "Careful", is_note=True)
    add_message(chat, "agent", "Hello Zoe")
    add_message(chat, "bot", "Long ago", sent_at="2020-01-01T00:00:00Z")
    return chat


def path(chat, report):
    return f"/ai/client/chat/{chat.pk}/{report}"


def statuses():
    return list(Message.objects.order_by("seq").values_list("status", flat=True))


def announced():
    rows = Event.objects.filter(type__in=["message.delivered", "message.read"]).order_by("sequence")
    return [event.type for event in rows]


def test_messages_arrive_and_are_read_once(server, said):
    assert server.post(path(said, "delivered"), {"seq": 2}).status_code == 204
    assert statuses() == ["sent", "delivered", "sent", "sent", "sent"]
    assert server.post(path(said, "delivered"), {}).status_code == 204
    assert statuses() == ["sent", "delivered", "sent", "delivered", "sent"]
    assert announced() == ["message.delivered"] * 2
    bots_reply = Message.objects.get(seq=2)
    for _ in range(2):
        body = {"message_id": str(bots_reply.pk)}
        assert server.post(path(said, "read"), body).status_code == 204
    assert server.post(path(said, "delivered"), {}).status_code == 204
    assert statuses() == ["sent", "read", "sent", "delivered", "sent"]
    assert announced() == ["message.delivered"] * 2 + ["message.read"]
    bots_reply.refresh_from_db()
    assert bots_reply.delivered_at
    assert bots_reply.read_at


def test_an_agent_reads_what_the_customer_wrote(ben, said):
    for _ in range(2):
        assert ben.post(f"/ai/chat/{said.pk}/read").json()["unread_count"] == 0
    assert statuses() == ["read", "sent", "sent", "sent", "sent"]
    assert announced() == ["message.read"]


def test_channels_and_previews_report_nothing(ann, server, said):
    Conversation.objects.filter(pk=said.pk).update(channel="chatapp")
    reply = server.post(path(said, "read"), {})
    assert (reply.status_code, reply.json()["code"]) == (409, "channel_reports")
    Conversation.objects.filter(pk=said.pk).update(channel="web", is_preview=True)
    assert ann.post(f"/ai/chat/{said.pk}/read").status_code == 200
    assert (statuses(), announced()) == (["sent"] * 5, [])


@pytest.mark.parametrize("body", [{"seq": 0}, {"seq": "1"}, {"more": 1}, []])
def test_a_wrong_report_is_refused(server, said, body):
    assert server.post(path(said, "read"), body).status_code == 422
    assert announced() == []


def test_a_report_on_another_message_is_refused(server, said):
    reply = server.post(path(said, "read"), {"message_id": str(uuid.uuid4())})
    assert (reply.status_code, reply.json()["field"]) == (404, "message_id")
    assert announced() == []
