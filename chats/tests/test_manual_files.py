"""Manual Chat With Files."""

import io

import pytest

from chats.models import Attachment, Message, Notification
from chats.testing import make_chat
from webhooks.models import Event

PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)


@pytest.fixture
def chat(bot):
    return make_chat(bot)


def file(content=PNG, name="shoe.png"):
    part = io.BytesIO(content)
    part.name = name
    return part


def send(caller, chat, *files, **fields):
    return caller.upload(f"/ai/chat/{chat.pk}/manual/files", files=list(files), **fields)


def test_an_agent_sends_files(ben, nobody, server, chat):
    reply = send(ben, chat, file(), file(b"Sizes: 40, 41", "sizes.txt"), text="Here they are")
    assert reply.status_code == 201, reply.content
    message = reply.json()
    kinds = [(part["type"], part["file_name"]) for part in message["content"]]
    assert kinds == [("text", None), ("image", "shoe.png"), ("file", "sizes.txt")]
    assert (message["sender"]["name"], message["is_note"]) == ("Ben", False)
    assert Attachment.objects.filter(message=message["id"]).count() == 2
    shown = server.get(f"/ai/client/chat/history/{chat.pk}").json()["items"][0]
    download = nobody.get(shown["content"][1]["url"])
    assert b"".join(download.streaming_content) == PNG
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee) == ("agent", ben.user)
    assert Event.objects.filter(type="message.created").count() == 1


def test_files_without_words_are_a_message(ben, chat):
    assert send(ben, chat, file()).status_code == 201
    assert Message.objects.get().text == ""


def test_a_note_keeps_its_files_from_the_customer(ann, ben, server, chat):
    reply = send(ann, chat, file(), text="Fake? @Ben", is_note="true")
    assert reply.json()["is_note"] is True
    assert server.get(f"/ai/client/chat/history/{chat.pk}").json()["items"] == []
    assert Notification.objects.get().user == ben.user
    chat.refresh_from_db()
    assert chat.assign_type == "bot"


def test_sent_twice_it_is_stored_once(ben, chat):
    first, second = (send(ben, chat, file(), client_message_id="m-1").json() for _ in range(2))
    assert first["id"] == second["id"]
    assert (Message.objects.count(), Attachment.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("contents", "fields"),
    [
        ([], {"text": "Hello"}), ([b"<html>"], {}), ([b""], {}), ([PNG] * 11, {}),
        ([PNG], {"text": "x" * 8001}), ([PNG], {"text": "a\x00"}), ([PNG], {"is_note": "perhaps"}),
        ([PNG], {"reply": "none"}),
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(ben, chat, contents, fields):
    assert send(ben, chat, *map(file, contents), **fields).status_code == 422
    assert (Message.objects.count(), Attachment.objects.count()) == (0, 0)


def test_not_in_a_colleagues_chat_nor_after_the_end(ben, bea, bot):
    beas = make_chat(bot, assign_type="agent", assignee=bea.user)
    assert send(ben, beas, file()).json()["code"] == "already_assigned"
    ended = make_chat(bot, status="ended")
    assert send(ben, ended, file()).json()["code"] == "chat_ended"
    assert (Message.objects.count(), Attachment.objects.count()) == (0, 0)
