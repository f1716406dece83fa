"""Chat Unassign."""

import pytest

from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.testing import make_chat
from webhooks.models import Event


def path_of(chat):
    return f"/ai/chat/{chat.pk}/unassign"


@pytest.fixture
def chat(bot, ben):
    return make_chat(bot, assign_type="agent", assignee=ben.user, handoff_reason="no_answer")


def test_back_to_the_bot(ben, chat):
    chat_data = ben.post(path_of(chat)).json()
    assert (chat_data["assign_type"], chat_data["assignee"], chat_data["version"]) == (
        "bot",
        None,
        2,
    )
    assert (chat_data["handoff_reason"], chat_data["waiting_since"]) == (None, None)
    assert Event.objects.get(type="conversation.unassigned").data["conversation"]["version"] == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("field", ["is_disabled", "agent_reply"])
def test_to_the_queue_if_the_bot_is_off(ann, ben, bot, chat, field):
    setattr(bot, field, True)
    bot.save()
    chat_data = ben.post(path_of(chat)).json()
    assert (chat_data["assign_type"], chat_data["handoff_reason"]) == ("queue", "no_answer")
    assert chat_data["waiting_since"] is not None
    # Agents are notified, the customer is not: nothing changes for the customer.
    run_jobs()
    assert ann.get("/ai/chat/notifications").json()["items"][0]["kind"] == "handoff"
    assert Message.objects.count() == 0


def test_a_waiting_chat_goes_back_to_the_bot_once(ben, bot):
    chat = make_chat(bot, assign_type="queue")
    assert ben.post(path_of(chat)).json()["version"] == 2
    again = ben.post(path_of(chat))
    assert (again.status_code, again.json()["version"]) == (200, 2)
    assert Event.objects.filter(type="conversation.unassigned").count() == 1


def test_another_agents_chat(ann, bea, chat):
    reply = bea.post(path_of(chat))
    assert (reply.status_code, reply.json()["code"]) == (409, "already_assigned")
    chat.refresh_from_db()
    assert chat.version == 1
    assert ann.post(path_of(chat)).status_code == 200
    kinds = list(chat.notification_set.values_list("user__full_name", "kind", "is_read"))
    assert ("Ben", "unassigned", False) in kinds


def test_an_ended_chat_is_left_alone(ben, chat):
    Conversation.objects.update(status="ended")
    assert ben.post(path_of(chat)).json()["code"] == "chat_ended"
    assert not Event.objects.exists()
