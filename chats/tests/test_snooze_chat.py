"""Snooze Chat, and Mark Chat As Read."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from chats import tasks
from chats.models import Conversation, Notification
from chats.testing import make_chat
from webhooks.models import Event

SOON = int(time.time()) + 600


def path_of(chat):
    return f"/ai/chat/{chat.pk}/snooze"


def later(**more):
    return {"until": (timezone.now() + timedelta(**(more or {"hours": 2}))).isoformat()}


@pytest.fixture
def chat(bot, ben):
    return make_chat(bot, assign_type="agent", assignee=ben.user, unread_count=3)


def test_snoozing_a_chat(ben, chat):
    chat_data = ben.post(path_of(chat), later()).json()
    assert (chat_data["status"], chat_data["version"]) == ("snoozed", 2)
    assert chat_data["assignee"]["name"] == "Ben"
    chat.refresh_from_db()
    assert chat.snoozed_until > timezone.now() + timedelta(hours=1)
    assert Event.objects.get().type == "conversation.snoozed"


def test_a_customers_message_opens_a_snoozed_chat(ben, server, chat):
    ben.post(path_of(chat), later())
    server.post(f"/ai/client/chat/{chat.pk}", {"text": "Still there?"})
    chat.refresh_from_db()
    assert (chat.status, chat.assign_type, chat.assignee) == ("open", "agent", ben.user)
    assert (chat.snoozed_until, chat.version) == (None, 3)
    assert Event.objects.filter(type="conversation.reopened").count() == 1


@pytest.mark.parametrize("field", ["snoozed_until", "return_at", "waiting_since"])
def test_timers_leave_an_imported_chat_that_has_ended_alone(ben, bot, caplog, field):
    past = timezone.now() - timedelta(days=1)
    chat = make_chat(
        bot, status="ended", assign_type="agent", assignee=ben.user, imported_at=past,
        **{field: past},
    )  # fmt: skip
    before = Conversation.objects.values().get()
    tasks.run_timers()
    assert Conversation.objects.values().get(pk=chat.pk) == before
    assert not Event.objects.exists()
    assert not Notification.objects.exists()
    assert "failed for chat" not in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        {}, {"until": None}, {"until": "soon"}, {"until": "2090-01-01"},
        {"until": SOON}, {"until": SOON + 0.5}, {"until": f"{SOON}"},
        {"until": "2026-01-01T00:00:00"}, later(hours=-1), later(days=400), {**later(), "x": 1},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(ben, chat, body):
    assert ben.post(path_of(chat), body).status_code == 422
    chat.refresh_from_db()
    assert (chat.status, chat.version) == ("open", 1)


def test_another_agents_chat_and_an_ended_one_are_not_snoozed(bea, ben, chat):
    assert bea.post(path_of(chat), later()).json()["code"] == "already_assigned"
    Conversation.objects.update(status="ended")
    assert ben.post(path_of(chat), later()).json()["code"] == "chat_ended"
    assert not Event.objects.exists()


def test_marking_a_chat_as_read(ben, cara, chat):
    assert cara.post(f"/ai/chat/{chat.pk}/read").status_code == 404
    ben.get(f"/ai/chat/{chat.pk}/history")
    chat.refresh_from_db()
    assert chat.unread_count == 3, "reading the history changes nothing"
    chat_data = ben.post(f"/ai/chat/{chat.pk}/read").json()
    assert (chat_data["unread_count"], chat_data["version"]) == (0, 1)
    assert not Event.objects.exists()
