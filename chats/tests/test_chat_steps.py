"""Get Chat Steps: what happened to a chat beside its messages."""

import pytest
from django.urls import reverse

from bots.testing import make_bot
from identity.testing import make_key, signed_in


@pytest.fixture
def chat_id(client_a):
    """A chat that waits in the queue."""
    shop = make_key(client_a, "secret", make_bot(client_a, agent_reply=True).pk)
    return shop.post("/ai/client/chat", {}).json()["id"]


def steps(caller, chat_id):
    reply = caller.get(f"/ai/chat/{chat_id}/steps")
    assert reply.status_code == 200, reply.content
    return reply.json()["items"]


def test_each_step_says_who_did_it_and_who_had_the_chat_then(ann, ben, chat_id):
    path = f"/ai/chat/{chat_id}"
    ben.post(f"{path}/assign", {"assign_type": "agent"})
    ben.post(f"{path}/manual", {"text": "Hello"})
    ann.post(f"{path}/assign", {"assign_type": "agent", "user_id": ann.user.pk})
    ann.post(f"{path}/snooze", {"until": "2027-01-01T09:00:00Z"})
    ann.post(f"{path}/agent-end")
    told = [
        (step["type"], step["by"]["name"], step["assignee"]["name"]) for step in steps(ben, chat_id)
    ]
    assert told == [
        ("conversation.assigned", "Ben", "Ben"),
        ("conversation.assigned", "Ann", "Ann"),
        ("conversation.snoozed", "Ann", "Ann"),
        ("conversation.ended", "Ann", "Ann"),
    ]
    snoozed, ended = steps(ben, chat_id)[2:]
    assert snoozed["snoozed_until"] == "2027-01-01T09:00:00.000Z"
    assert (ended["snoozed_until"], ended["ended_by"]) == (None, "agent")


def test_the_page_tells_each_step_in_its_own_words(ann, ben, chat_id):
    path = f"/ai/chat/{chat_id}"
    ben.post(f"{path}/assign", {"assign_type": "agent"})
    ben.post(f"{path}/assign", {"assign_type": "queue"})
    ann.post(f"{path}/assign", {"assign_type": "agent", "user_id": ben.user.pk})
    ben.post(f"{path}/assign", {"assign_type": "bot"})
    ben.put(f"{path}/priority", {"priority": "urgent"})
    ben.post(f"{path}/snooze", {"until": "2027-01-01T09:00:00Z"})
    ann.post(f"{path}/agent-end")
    ben.post(f"{path}/reopen")
    shown = signed_in(ann.user).get(reverse("admin:chats_conversation_change", args=[chat_id]))
    told = [line.text for line in shown.context["part"].lines if line.kind == "step"]
    assert len(told) == len(set(told)) == len(steps(ben, chat_id))
    assert [("Ann" in text, "Ben" in text) for text in told if "Ann" in text or "Ben" in text] == [
        (False, True), (True, True), (True, False),
    ]  # fmt: skip


def test_nothing_has_happened_to_a_new_chat(ben, chat_id):
    assert steps(ben, chat_id) == []
