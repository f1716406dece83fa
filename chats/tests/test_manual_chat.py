"""Manual Chat: an agent's message, or an internal note."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from chatplatform.models import Job
from chats.models import Attachment, Conversation, Message
from chats.services.core import presence
from chats.testing import make_chat
from webhooks.models import Event


def path_of(chat):
    return f"/ai/chat/{chat.pk}/manual"


@pytest.fixture
def chat(bot):
    return make_chat(bot, assign_type="queue", unread_count=2)


def test_an_answer_assigns_the_chat_to_its_sender(ben, server, chat):
    reply = ben.post(path_of(chat), {"text": "How can I help?", "client_message_id": "a-1"})
    assert reply.status_code == 201
    sent = reply.json()
    assert sent["sender"] == {"type": "agent", "id": str(ben.user.pk), "name": "Ben"}
    assert (sent["status"], sent["is_note"], sent["seq"]) == ("sent", False, 1)
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee, chat.version) == ("agent", ben.user, 2)
    assert (chat.unread_count, chat.waiting_since) == (0, None)
    assert chat.first_response_at is not None
    assert str(chat.last_message_id) == sent["id"]
    types = list(Event.objects.exclude(sequence=None).order_by("sequence").values_list("type"))
    assert types == [("conversation.assigned",), ("message.created",)]
    assert server.get(f"/ai/client/chat/history/{chat.pk}").json()["items"] == [sent]
    assert Job.objects.count() == 0


def test_an_agent_who_answers_is_online(ben, client_a, chat):
    assert presence.online(client_a.pk) == set()
    ben.post(path_of(chat), {"text": "Hello"})
    assert presence.online(client_a.pk) == {ben.user.pk}


def test_a_repeated_message_is_stored_once(ben, chat):
    body = {"text": "Hello", "client_message_id": "a-1"}
    assert ben.post(path_of(chat), body).json() == ben.post(path_of(chat), body).json()
    assert Message.objects.count() == 1


def test_a_message_id_of_the_customer_is_taken(ben, server, chat):
    body = {"text": "Hello", "client_message_id": "m-1"}
    server.post(f"/ai/client/chat/{chat.pk}", body)
    reply = ben.post(path_of(chat), body)
    assert (reply.status_code, reply.json()["code"]) == (409, "client_message_id_taken")
    chat.refresh_from_db()
    assert (chat.assign_type, Message.objects.count()) == ("queue", 1)


def test_a_note_changes_nothing_for_the_customer(ben, bea, server, bot):
    chat = make_chat(bot, assign_type="agent", assignee=bea.user, unread_count=1)
    note = ben.post(path_of(chat), {"text": "VIP", "is_note": True}).json()
    assert note["is_note"] is True
    before = server.post(f"/ai/chat/{chat.pk}/end").json()
    assert (before["message_count"], before["last_message"], before["unread_count"]) == (0, None, 1)
    assert server.get(f"/ai/client/chat/history/{chat.pk}").json()["items"] == []
    # Notes are possible after the end, too.
    assert ben.post(path_of(chat), {"text": "Paid", "is_note": True}).status_code == 201
    shown = ben.get(f"/ai/chat/{chat.pk}/history").json()["items"]
    assert [message["content"][0]["text"] for message in shown] == ["VIP", "Paid"]


def test_only_an_admin_writes_in_another_agents_chat(ann, ben, bea, bot):
    chat = make_chat(bot, assign_type="agent", assignee=bea.user)
    assert ben.post(path_of(chat), {"text": "Me too"}).json()["code"] == "already_assigned"
    assert Message.objects.count() == 0
    assert ann.post(path_of(chat), {"text": "The owner speaking"}).status_code == 201
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (bea.user, 1)


def test_a_message_in_a_messaging_channel_is_delivered_by_a_job(ben, bot):
    chat = make_chat(bot, channel="chatapp")
    sent = ben.post(path_of(chat), {"text": "Hello"}).json()
    assert sent["status"] == "pending"
    job = Job.objects.get()
    assert (job.name, job.args) == ("channels_app.deliver_message", {"message_id": sent["id"]})
    ben.post(path_of(chat), {"text": "Nothing of it goes out", "is_note": True})
    assert Job.objects.count() == 1


def test_an_ended_chat_is_refused(ben, chat):
    Conversation.objects.update(status="ended")
    reply = ben.post(path_of(chat), {"text": "Hello"})
    assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert Message.objects.count() == 0


def test_an_answer_opens_a_snoozed_chat(ben, chat):
    Conversation.objects.update(status="snoozed")
    ben.post(path_of(chat), {"text": "Hello"})
    chat.refresh_from_db()
    assert (chat.status, chat.assignee) == ("open", ben.user)


@pytest.mark.parametrize(
    "body",
    [
        {}, [], {"text": ""}, {"text": "  "}, {"text": 5}, {"text": "x" * 8001}, {"text": "\x00"},
        {"text": "a", "is_note": "perhaps"}, {"text": "a", "client_message_id": ""},
        {"text": "a", "unknown": 1},
        {"text": "a", "attachments": [{"type": "image"}]},
        {"text": "a", "attachments": [{"type": "image", "url": "javascript:alert(1)"}]},
        {"text": "a", "attachments": [{"type": "image", "url": "https://a.example/"}] * 11},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(ben, chat, body):
    assert ben.post(path_of(chat), body).status_code == 422
    assert Message.objects.count() == 0


def test_attachments_by_link_and_of_the_same_chat(ben, chat, bot):
    ours, theirs = (
        Attachment.objects.create(
            client=bot.client, conversation=owner, file="x", file_name="bill.pdf",
            mime_type="application/pdf", size_bytes=5,
        )
        for owner in (chat, make_chat(bot))
    )  # fmt: skip
    link = {"type": "image", "url": "https://files.example/a.png", "file_name": "a.png"}
    again = {"type": "file", "url": Attachment.signed_url(str(ours.pk)), "text": "Once more"}
    sent = ben.post(path_of(chat), {"text": "Look", "attachments": [link, again]}).json()
    text, image, file = sent["content"]
    assert (text["text"], image["url"]) == ("Look", link["url"])
    assert (file["file_name"], file["mime_type"], file["size_bytes"]) == (
        "bill.pdf", "application/pdf", 5,
    )  # fmt: skip
    assert file["url"].startswith(f"{settings.PUBLIC_URL}/ai/attachment/{ours.pk}?signature=")
    assert (Message.objects.get().text, Job.objects.count()) == ("Look\nOnce more", 0)
    foreign = {"type": "file", "url": Attachment.signed_url(str(theirs.pk))}
    reply = ben.post(path_of(chat), {"text": "Look", "attachments": [link, foreign]})
    assert reply.status_code == 422
    assert Message.objects.count() == 1


def test_a_note_may_have_a_file(ben, chat):
    link = {"type": "file", "url": "https://files.example/a.pdf"}
    body = {"text": "The bill", "is_note": True, "attachments": [link]}
    text, file = ben.post(path_of(chat), body).json()["content"]
    assert (text["type"], file["url"]) == ("text", link["url"])
    chat.refresh_from_db()
    assert (chat.assign_type, chat.message_count) == ("queue", 0)


@pytest.mark.parametrize("then", ["unassign", "snooze", "end"])
def test_a_repeated_message_changes_nothing(ben, chat, then):
    body = {"text": "Hello", "client_message_id": "a-1"}
    first = ben.post(path_of(chat), body).json()
    calls = {
        "unassign": ("unassign", {}),
        "snooze": ("snooze", {"until": (timezone.now() + timedelta(days=1)).isoformat()}),
        "end": ("agent-end", {}),
    }
    path, more = calls[then]
    assert ben.post(f"/ai/chat/{chat.pk}/{path}", more).status_code == 200
    before = Conversation.objects.values().get()
    again = ben.post(path_of(chat), body)
    assert (again.status_code, again.json()) == (201, first)
    assert Conversation.objects.values().get() == before


def test_a_message_id_belongs_to_one_agent_and_one_kind(ben, bea, chat):
    assert ben.post(path_of(chat), {"text": "VIP", "is_note": True, "client_message_id": "1"})
    for who, is_note in ((bea, True), (ben, False)):
        body = {"text": "Other words", "is_note": is_note, "client_message_id": "1"}
        reply = who.post(path_of(chat), body)
        assert (reply.status_code, reply.json()["code"]) == (409, "client_message_id_taken")
    chat.refresh_from_db()
    assert (chat.assign_type, chat.message_count, Message.objects.count()) == ("queue", 0, 1)
