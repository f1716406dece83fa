"""After a channel's reply window nobody writes free text, whichever operation is tried."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chats.models import Conversation, Message

pytestmark = pytest.mark.django_db


@pytest.fixture
def late(chat):
    """A chat whose customer wrote too long ago."""
    Conversation.objects.update(
        channel="socialnet", reply_window_expires_at=timezone.now() - timedelta(seconds=1)
    )
    return chat


def is_closed(reply):
    assert (reply.status_code, reply.json()["code"]) == (409, "reply_window_closed")
    assert reply.json()["reply_window_expires_at"]
    assert not Message.objects.exists()


def test_an_agent_is_refused_but_may_leave_a_note(late, ben):
    path = f"/ai/chat/{late.pk}/manual"
    is_closed(ben.post(path, {"text": "Hello"}))
    late.refresh_from_db()
    assert late.assign_type == "bot", "a refused message takes no chat"
    assert ben.post(path, {"text": "Too late", "is_note": True}).status_code == 201


def test_the_clients_own_assistant_is_refused(late, server):
    is_closed(server.post(f"/ai/client/chat/assistant/{late.pk}", {"text": "Hello"}))


@pytest.mark.parametrize("sender", ["agent", "bot", "system"])
def test_another_system_is_refused(late, server, sender):
    path = f"/mesaging/conversations/{late.pk}/messages"
    is_closed(server.post(path, {"sender": {"type": sender}, "text": "Hello"}))


def test_history_is_stored_all_the_same(late, server):
    path = f"/mesaging/conversations/{late.pk}/messages"
    sent_at = (timezone.now() - timedelta(days=3)).isoformat()
    body = {"sender": {"type": "agent"}, "text": "Long ago", "sent_at": sent_at}
    assert server.post(path, body).status_code == 201


def test_the_customer_may_always_write(late, server):
    path = f"/mesaging/conversations/{late.pk}/messages"
    body = {"sender": {"type": "customer"}, "text": "Hello"}
    assert server.post(path, body).status_code == 201


def test_a_chat_without_a_window_is_open(chat, ben):
    assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hello"}).status_code == 201
