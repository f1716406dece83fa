"""Mentions in notes notify the people whom they name."""

import pytest

from chats.models import Message, Notification
from chats.testing import make_chat
from identity.models import Role, User
from identity.testing import make_person
from webhooks.models import Event


@pytest.fixture
def chat(bot):
    return make_chat(bot)


@pytest.fixture
def anna_lee(client_a):
    return make_person(client_a, Role.AGENT, "Anna Lee")


def note(caller, chat, text, **more):
    reply = caller.post(f"/ai/chat/{chat.pk}/manual", {"text": text, "is_note": True, **more})
    assert reply.status_code == 201, reply.content
    return reply.json()


def mentioned():
    rows = Notification.objects.filter(kind="mentioned").order_by("user__full_name")
    return list(rows.values_list("user__full_name", flat=True))


def test_a_mention_notifies(ann, ben, chat):
    written = note(ann, chat, "Please look at this, @Ben!")
    (item,) = ben.get("/ai/chat/notifications").json()["items"]
    assert (item["kind"], item["is_read"]) == ("mentioned", False)
    assert (item["chat_id"], item["message_id"]) == (str(chat.pk), written["id"])
    assert item["assigned_by"]["name"] == "Ann"
    event = Event.objects.get(type="notification.created")
    assert [pair["user_id"] for pair in event.data["notifications"]] == [ben.user.pk]
    assert ann.get("/ai/chat/notifications").json()["items"] == []


def test_names_are_matched_as_people_write_them(ann, ben, anna_lee, client_a, client_b, chat):
    make_person(client_a, Role.AGENT, "Anna Kim")
    make_person(client_a, Role.VIEWER, "Zoë Østergård")
    make_person(client_b, Role.AGENT, "Carl")
    expected = {
        "@anna lee, do you know?": ["Anna Lee"],
        "(@ANNA  LEE) and @Ben.": ["Anna Lee", "Ben"],
        "@Ben @ben @BEN": ["Ben"],
        "@zoë": ["Zoë Østergård"],
        "@Zoë Østergård": ["Zoë Østergård"],
        # Two have this first name, and a longer word is another word.
        "@Anna": [], "@Bennet": [], "me@ben.example": [], "ben": [], "@": [], "@ ben": [],
        "@Carl": [],
    }  # fmt: skip
    for text, names in expected.items():
        note(ann, chat, text)
        assert mentioned() == names, text
        Notification.objects.all().delete()


def test_marks_make_no_difference_where_one_person_fits(ann, client_a, chat):
    make_person(client_a, Role.AGENT, "Bảo Nguyễn")
    make_person(client_a, Role.AGENT, "Hà Đỗ")
    for text, names in {
        "@Bao": ["Bảo Nguyễn"],
        "@bao nguyen and @Ha Do": ["Bảo Nguyễn", "Hà Đỗ"],
        "@Bao Nguyễn": ["Bảo Nguyễn"],
        "@Baobab": [],
    }.items():
        note(ann, chat, text)
        assert mentioned() == names, text
        Notification.objects.all().delete()
    make_person(client_a, Role.AGENT, "Hạ Vũ")
    note(ann, chat, "@Ha")
    assert mentioned() == [], "it may be either"
    make_person(client_a, Role.AGENT, "Bao Tran")
    note(ann, chat, "@Bao")
    assert mentioned() == ["Bao Tran"], "whose name it is goes first"


def test_a_full_name_is_not_the_beginning_of_another(ann, anna_lee, client_a, chat):
    make_person(client_a, Role.AGENT, "Anna")
    note(ann, chat, "@Anna")
    assert mentioned() == ["Anna"]
    note(ann, chat, "@Anna Lee")
    assert mentioned() == ["Anna", "Anna Lee"]


def test_only_notes_mention_and_a_repeated_one_once(ann, ben, chat):
    ann.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hello @Ben"})
    assert mentioned() == []
    for _ in range(2):
        note(ann, chat, "Look, @Ben", client_message_id="n-1")
    assert mentioned() == ["Ben"]


def test_the_note_of_an_assignment_mentions(ann, ben, chat):
    body = {"assign_type": "agent", "note": "@Ben knows her"}
    assert ann.post(f"/ai/chat/{chat.pk}/assign", body).status_code == 200
    assert mentioned() == ["Ben"]


def test_who_mentions_themselves_is_not_notified(ann, chat):
    note(ann, chat, "@Ann: call back")
    assert ann.get("/ai/chat/notifications").json()["items"] == []
    assert not Event.objects.filter(type="notification.created").exists()


def test_nobody_is_mentioned_who_is_gone_or_in_a_preview(ann, ben, bot, chat):
    note(ann, make_chat(bot, is_preview=True), "@Ben")
    User.objects.filter(pk=ben.user.pk).update(is_disabled=True)
    note(ann, chat, "@Ben")
    assert mentioned() == []
    assert Message.objects.count() == 2
