"""Edit Message, Delete Message: an agent's latest message."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from chats.models import Attachment, Conversation, Message
from chats.testing import make_chat, put_message, visit
from identity.models import AuditEvent
from webhooks.models import Event


def send(person, chat, text="It cosst 5 €.", **more):
    reply = person.post(f"/ai/chat/{chat.pk}/manual", {"text": text, **more})
    assert reply.status_code == 201, reply.content
    return reply.json()["id"]


def path_of(chat, message_id):
    return f"/ai/chat/{chat.pk}/messages/{message_id}"


def changes(person, chat, message_id):
    path = path_of(chat, message_id)
    replies = person.put(path, {"text": "Changed"}), person.delete(path)
    return [(reply.status_code, reply.json().get("code")) for reply in replies]


def test_an_edited_message_is_read_anew_by_everybody(page, ben):
    visitor, chat = visit(page)
    message_id = send(ben, chat)
    before = visitor.get(f"/ai/client/chat/{chat.pk}").json()["last_event_seq"]
    reply = ben.put(path_of(chat, message_id), {"text": "It costs 5 €."})
    assert reply.status_code == 200
    shown = reply.json()
    assert (shown["content"][0]["text"], shown["id"]) == ("It costs 5 €.", message_id)
    assert shown["edited_at"]
    assert visitor.get(f"/ai/client/chat/{chat.pk}").json()["last_event_seq"] > before
    seen = visitor.get(f"/ai/client/chat/history/{chat.pk}").json()["items"][-1]
    assert (seen["content"][0]["text"], bool(seen["edited_at"])) == ("It costs 5 €.", True)
    assert Event.objects.filter(type="message.updated").count() == 1
    recorded = AuditEvent.objects.get(action="message.edited")
    assert (recorded.user, recorded.subject) == (ben.user, f"message:{message_id}")
    assert recorded.changes == {}
    assert len(ben.get("/ai/chats", {"q": "costs"}).json()["items"]) == 1
    assert ben.get("/ai/chats", {"q": "cosst"}).json()["items"] == []


def test_a_deleted_message_leaves_an_empty_row(page, ben):
    visitor, chat = visit(page)
    file = SimpleUploadedFile("a.txt", b"Hello", content_type="text/plain")
    sent = ben.upload(f"/ai/chat/{chat.pk}/manual/files", files=file, text="Here").json()
    reply = ben.delete(path_of(chat, sent["id"]))
    assert (reply.status_code, reply.json()["content"]) == (200, [])
    assert not Attachment.objects.exists()
    seen = visitor.get(f"/ai/client/chat/history/{chat.pk}").json()["items"][-1]
    assert (seen["content"], bool(seen["deleted_at"])) == ([], True)
    assert Event.objects.filter(type="message.updated").count() == 1
    assert AuditEvent.objects.filter(action="message.deleted").count() == 1
    assert changes(ben, chat, sent["id"]) == [(409, "not_latest_message")] * 2


def test_only_the_agents_own_latest_message_is_changed(ann, ben, cara, bot, nobody, server):
    chat = make_chat(bot)
    first = send(ben, chat)
    note = send(ben, chat, "Hm", is_note=True)
    customers = put_message(Conversation.objects.get(pk=chat.pk), "customer").pk
    latest = send(ben, chat, "Bye")
    of_ann = send(ann, chat, "This is Ann")
    for message_id in (first, customers, of_ann):
        assert changes(ben, chat, message_id) == [(409, "not_latest_message")] * 2
    assert {status for status, _ in changes(ben, chat, note)} == {404}
    assert {status for status, _ in changes(ben, make_chat(bot), latest)} == {404}
    assert {status for status, _ in changes(cara, chat, latest)} == {404}
    for stranger in (nobody, server):
        assert {status for status, _ in changes(stranger, chat, latest)} == {401}
    assert ben.put(path_of(chat, latest), {"text": "  "}).status_code == 422
    assert not Message.objects.filter(edited_at__isnull=False).exists()
    assert not Message.objects.filter(deleted_at__isnull=False).exists()
    assert ben.put(path_of(chat, latest), {"text": "Changed"}).status_code == 200


@pytest.mark.parametrize(
    ("change", "code"),
    [({"channel": "chatapp"}, "sent_by_channel"), ({"status": "ended"}, "chat_ended")],
)
def test_what_a_channel_has_sent_or_has_ended_stays(ben, bot, change, code):
    chat = make_chat(bot)
    message_id = send(ben, chat)
    Conversation.objects.filter(pk=chat.pk).update(**change)
    assert changes(ben, chat, message_id) == [(409, code)] * 2
    assert Message.objects.get(pk=message_id).text == "It cosst 5 €."
