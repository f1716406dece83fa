"""Get Chat Steps: what happened to a chat beside its messages."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from bots.models import Bot
from bots.testing import make_bot
from chatplatform.templatetags.codes import humanize_code
from chatplatform.testing import run_jobs
from chats import tasks
from chats.models import Conversation
from chats.testing import make_chat
from identity.testing import make_key, signed_in
from webhooks.models import Event


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


@pytest.mark.parametrize("how", ["agent_silent", "agent_gone"])
def test_the_step_says_why_an_agent_lost_the_chat(ann, ben, bot, how):
    chat = make_chat(bot, assign_type="queue", handoff_reason="customer_asked")
    body = {"assign_type": "agent", "user_id": ben.user.pk, "return_after_seconds": 60}
    ann.post(f"/ai/chat/{chat.pk}/assign", body)
    if how == "agent_silent":
        Conversation.objects.update(return_at=timezone.now() - timedelta(seconds=1))
        tasks.run_timers()
    else:
        ann.put(f"/identity/users/{ben.user.pk}/disable", {"is_disabled": True})
        run_jobs()
    returned = steps(ann, chat.pk)[-1]
    assert (returned["type"], returned["reason"]) == ("conversation.unassigned", how)
    assert Event.objects.get(type="conversation.unassigned").data["reason"] == how
    page = signed_in(ann.user).get(reverse("admin:chats_conversation_change", args=[chat.pk]))
    assert humanize_code(how) in page.context["part"].lines[-1].text
    # The first reason stays, for reports and for what the bot may do.
    chat_data = ann.get(f"/ai/chat/{chat.pk}").json()
    assert (chat_data["assign_type"], chat_data["handoff_reason"]) == ("queue", "customer_asked")


def test_a_return_to_the_bot_has_no_reason(ben, chat_id):
    for to in ("agent", "queue", "agent", "bot"):
        ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": to})
    Bot.objects.update(agent_reply=False)
    ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "bot"})
    told = [(step["assign_type"], step["reason"]) for step in steps(ben, chat_id)]
    assert told == [
        ("agent", None), ("queue", "staff_request"), ("agent", None), ("bot", None),
    ]  # fmt: skip


def test_nothing_has_happened_to_a_new_chat(ben, chat_id):
    assert steps(ben, chat_id) == []
