"""Previews are apart from real chats: nobody is notified, no event is written, nothing counts."""

from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message, Notification
from chats.services.desk import routing, timers
from chats.testing import make_chat
from identity.models import ClientConfig, EmailNotification, Role
from identity.testing import make_person
from webhooks.models import Event

SAYS = {"role": "user", "content": "I want to talk to a person"}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def preview(ben, bot, client_a):
    """A preview in which the customer has asked for a person, and nothing else has happened."""
    ClientConfig.objects.filter(client=client_a).update(
        auto_summary=True, auto_tag=True, assign_strategy="least_busy",
        first_response_target_seconds=1,
    )  # fmt: skip
    EmailNotification.objects.create(
        client=client_a, recipients=["a@b.example"], on_handoff=True, on_unanswered=True
    )
    trained(bot, "RETURNS\n\nYou may return goods within thirty days.\n")
    body = {"messages": [SAYS]}
    assert ben.post(f"/ai/{bot.pk}/generate-chat", body).status_code == 200
    run_jobs()
    chat = Conversation.objects.get()
    assert (chat.assign_type, chat.is_preview, chat.last_seq) == ("queue", True, 2)
    return chat


def test_a_preview_raises_no_event_and_notifies_nobody(ben, preview):
    path = f"/ai/chat/{preview.pk}"
    ben.get("/ai/chats")  # a sign of life: Ben is online
    Conversation.objects.update(waiting_since=timezone.now() - timedelta(hours=1))
    timers.warn_unanswered()
    routing.assign_waiting(preview.client_id)
    assert routing.clients_with_waiting() == []
    assert ben.post(f"{path}/assign", {"assign_type": "agent"}).status_code == 200
    assert ben.post(f"{path}/manual", {"text": "Hello"}).status_code == 201
    assert ben.post(f"{path}/tags", {"tags": ["vip"]}).status_code == 200
    assert ben.post(f"{path}/agent-end").status_code == 200
    run_jobs()
    preview.refresh_from_db()
    assert (preview.status, preview.summary, preview.last_event_seq) == ("ended", None, 0)
    assert Event.objects.exclude(type="credits.low").count() == 0
    assert (Notification.objects.count(), mail.outbox) == (0, [])
    seqs = Message.objects.order_by("seq").values_list("seq", flat=True)
    assert list(seqs) == [1, 2, 3]


def test_a_preview_is_in_no_list_but_its_own(ben, server, bot, preview):
    # An export leaves out rows of the last seconds.
    for model in (Conversation, Message):
        model.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    for path in (
        "/ai/chats",
        f"/ai/{bot.pk}/chat-history",
        f"/ai/chat/history/customer/{preview.customer_id}",
    ):
        assert ben.get(path).json()["items"] == [], path
    for path in (
        "/ai/client/chats", "/ai/client/migrate/conversations", "/ai/client/migrate/messages",
        "/mesaging/conversations",
    ):  # fmt: skip
        assert server.get(path).json()["items"] == [], path
    (item,) = ben.get("/ai/chats?previews=true").json()["items"]
    assert (item["id"], item["is_preview"]) == (str(preview.pk), True)
    assert ben.get(f"/ai/chat/{preview.pk}").json()["is_preview"] is True
    ben.post(f"/ai/chat/{preview.pk}/feedback", {"rating": 1})
    assert ben.get("/ai/chat/feedbacks").json()["items"] == []
    assert set(ben.get("/ai/chats/counts").json().values()) == {0}


@pytest.mark.full
def test_a_preview_is_seen_by_its_person_and_by_admins(ann, ben, preview):
    amy = make_person(preview.client, Role.AGENT, "Amy")
    vic = make_person(preview.client, Role.VIEWER, "Vic")
    adam = make_person(preview.client, Role.ADMIN, "Adam")
    path = f"/ai/chat/{preview.pk}"
    for who, status in ((ben, 200), (ann, 200), (adam, 200), (amy, 404), (vic, 404)):
        is_seen = status == 200
        listed = who.get("/ai/chats?previews=true").json()["items"]
        assert [item["id"] for item in listed] == [str(preview.pk)] * is_seen
        for part in ("", "/history"):
            assert who.get(f"{path}{part}").status_code == status, part
        site = Browser()
        assert who.user
        site.force_login(who.user)
        pages = [reverse("admin:chats_conversation_change", args=[preview.pk])]
        if who != vic:
            pages.append(reverse("admin:chats_tried_bot", args=[preview.bot_id, preview.pk]))
        for page in pages:
            assert (site.get(page).status_code == 200) == is_seen, page
    assert amy.post(f"{path}/assign", {"assign_type": "agent"}).status_code == 404
    assert amy.post(f"{path}/generate", {"messages": [SAYS]}).status_code == 404
    assert amy.post(f"{path}/manual", {"text": "Hello"}).status_code == 404
    preview.refresh_from_db()
    assert (preview.assign_type, preview.last_seq) == ("queue", 2)


def test_a_key_sees_no_preview(server, preview):
    path = f"/ai/client/chat/{preview.pk}"
    assert server.post(path, {"text": "Hello"}).status_code == 404
    assert server.get(f"/ai/client/chat/history/{preview.pk}").status_code == 404
    assert server.get(f"/ai/client/chat/messages/{preview.chat_code}").status_code == 404
    assert server.post(f"/ai/chat/{preview.pk}/end").status_code == 404
    assert Message.objects.count() == 2


def test_an_agents_previews_fill_no_capacity(ben, bot, client_a):
    ClientConfig.objects.filter(client=client_a).update(
        assign_strategy="least_busy", agent_capacity=1
    )
    make_chat(bot, is_preview=True, assign_type="agent", assignee=ben.user)
    waiting = make_chat(bot, assign_type="queue", waiting_since=timezone.now())
    config = ClientConfig.objects.get(client=client_a)
    assert routing.choose_agent(waiting, config, {ben.user.pk}) == ben.user


def test_summaries_leave_previews_out(ann, bot):
    make_chat(bot, is_preview=True, message_count=3)
    real = make_chat(bot, message_count=3)
    run = ann.post("/ai/chat/summary/calculate", {}).json()
    assert run["total"] == 1
    run_jobs()
    assert Conversation.objects.exclude(summary=None).get() == real


def test_another_system_cannot_make_a_preview(server):
    body = {"requester": {"external_id": "c-1"}, "provider": "preview"}
    assert server.post("/mesaging/conversations", body).status_code == 201
    assert server.post("/mesaging/conversations", body | {"is_preview": True}).status_code == 422
    assert server.get("/ai/client/chats").json()["items"][0]["is_preview"] is False
    assert Event.objects.filter(type="conversation.created").count() == 1
