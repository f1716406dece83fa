"""Reopen Chat: wakes a snoozed conversation, and gives an ended one to the agent who opens it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chats.models import Conversation
from chats.testing import make_chat
from webhooks.models import Event


def path_of(chat):
    return f"/ai/chat/{chat.pk}/reopen"


@pytest.fixture
def snoozed(bot, ben):
    until = timezone.now() + timedelta(days=1)
    return make_chat(
        bot, status="snoozed", snoozed_until=until, assign_type="agent", assignee=ben.user
    )


def test_a_snoozed_chat_wakes_as_it_was(ben, snoozed):
    shown = ben.post(path_of(snoozed)).json()
    assert (shown["status"], shown["snoozed_until"], shown["version"]) == ("open", None, 2)
    assert shown["assignee"]["name"] == "Ben"
    event = Event.objects.get()
    assert (event.type, event.data["by"]["name"]) == ("conversation.reopened", "Ben")


def test_an_ended_chat_becomes_the_agents(ben, server, bot):
    chat = make_chat(bot, last_seq=4)
    server.post(f"/ai/chat/{chat.pk}/end")
    shown = ben.post(path_of(chat)).json()
    assert (shown["status"], shown["ended_at"], shown["ended_by"]) == ("open", None, None)
    assert (shown["assign_type"], shown["assignee"]["name"]) == ("agent", "Ben")
    assert Conversation.objects.get().read_from_seq == 4, "the bot reads nothing of before"
    assert ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "One more thing"}).status_code == 201


def test_an_open_chat_stays_as_it_is(ben, bot):
    chat = make_chat(bot, assign_type="queue")
    shown = ben.post(path_of(chat)).json()
    assert (shown["assign_type"], shown["version"]) == ("queue", 1)
    assert not Event.objects.exists()


def test_a_colleagues_snooze_is_left_to_them(bea, ann, snoozed):
    refused = bea.post(path_of(snoozed))
    assert (refused.status_code, refused.json()["code"]) == (409, "already_assigned")
    assert Conversation.objects.get().status == "snoozed"
    assert ann.post(path_of(snoozed)).status_code == 200


@pytest.mark.parametrize("how", ["followed", "merged"])
def test_a_chat_that_goes_on_elsewhere_stays_ended(ben, bot, how):
    ended_by = "merged" if how == "merged" else "agent"
    chat = make_chat(bot, status="ended", ended_by=ended_by, ended_at=timezone.now())
    if how == "followed":
        make_chat(bot, previous_chat=chat)
    refused = ben.post(path_of(chat))
    assert (refused.status_code, refused.json()["code"]) == (409, "chat_continued")
    assert Conversation.objects.get(pk=chat.pk).status == "ended"
    assert not Event.objects.exists()


def test_who_may_not(cara, ann, snoozed):
    assert cara.post(path_of(snoozed)).status_code == 404
    assert Conversation.objects.get().status == "snoozed"
