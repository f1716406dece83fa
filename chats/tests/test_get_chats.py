"""Get Chats, and Get Chat History in its three forms."""

from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import make_bot
from chats.models import Conversation, Message, text_content
from chats.testing import make_chat
from identity.models import Role
from identity.testing import make_person

PATH = "/ai/chats"


def ids(reply):
    assert reply.status_code == 200, reply.content
    return [item["id"] for item in reply.json()["items"]]


def add_message(chat, text, *, is_note=False, ago=timedelta()):
    chat.last_seq += 1
    message = Message.objects.create(
        client_id=chat.client_id, conversation=chat, seq=chat.last_seq, sender_type="customer",
        content=text_content(text), text=text, is_note=is_note,
    )  # fmt: skip
    chat.last_message, chat.last_message_at = message, timezone.now() - ago
    chat.save()
    return message


def test_chats_are_listed_by_newest_activity(ben, bot):
    old, quiet, new = make_chat(bot), make_chat(bot), make_chat(bot)
    add_message(old, "Long ago", ago=timedelta(hours=2))
    Conversation.objects.filter(pk=quiet.pk).update(created_at=timezone.now() - timedelta(hours=1))
    message = add_message(new, "Just now")
    reply = ben.get(PATH)
    assert ids(reply) == [str(new.pk), str(quiet.pk), str(old.pk)]
    newest, empty, _ = reply.json()["items"]
    assert newest["last_message"]["id"] == str(message.pk)
    assert newest["last_message"]["content"][0]["text"] == "Just now"
    assert empty["last_message"] is None


def test_chats_are_filtered(ann, ben, bot, client_a):
    other = make_bot(client_a)
    odd = make_chat(
        other, status="ended", channel="chatapp", assign_type="agent", assignee=ben.user,
        tags=["vip", "new"], sentiment="negative",
        created_at=timezone.now() - timedelta(days=2),
    )  # fmt: skip
    usual = make_chat(bot)
    yesterday = (timezone.now() - timedelta(days=1)).isoformat()
    values = {
        "status": ("ended", "open"), "bot_id": (other.pk, bot.pk), "channel": ("chatapp", "api"),
        "assignee_id": (ben.user.pk, None), "tag": ("vip", None), "sentiment": ("negative", None),
    }  # fmt: skip
    for name, (odd_value, usual_value) in values.items():
        assert ids(ann.get(PATH, {name: odd_value})) == [str(odd.pk)], name
        if usual_value:
            assert ids(ann.get(PATH, {name: usual_value})) == [str(usual.pk)], name
    assert ids(ann.get(PATH, {"created_from": yesterday})) == [str(usual.pk)]
    assert ids(ann.get(PATH, {"created_to": yesterday})) == [str(odd.pk)]
    assert ids(ann.get(PATH, {"tag": "vip", "status": "open"})) == []


def test_chats_are_searched(ben, bot):
    chat = make_chat(bot, customer_name="Đặng Văn Hùng")
    add_message(chat, "My parcel from Huế is late, where is it?")
    add_message(make_chat(bot), "Something else")
    for q in ("parcel late", "PARCEL", "huế", chat.chat_code[:6].lower(), "đặng v"):
        assert ids(ben.get(PATH, {"q": q})) == [str(chat.pk)], q
    for q in ("parcel else", "%", "_____", "' OR 1=1 --", "\\", "!&|()<->", "a " * 100):
        assert ids(ben.get(PATH, {"q": q})) == [], q


@pytest.mark.parametrize(
    "query",
    [
        {"q": "x" * 201}, {"q": ""}, {"created_from": "0001-01-01T00:00:00+14:00"},
        {"created_to": "9999-12-31T23:59:59-14:00"}, {"q": "\x00"}, {"limit": 10**9}, {"limit": 0},
        {"offset": 2**63}, {"status": "closed"}, {"bot_id": "x"}, {"bot_id": 2**70},
        {"assignee_id": 0}, {"channel": "mail"}, {"created_from": "2026-01-01T00:00:00"},
        {"created_to": "soon"}, {"tag": "x" * 61}, {"cursor": "x"}, {"client_id": 1},
    ],
)  # fmt: skip
def test_a_wrong_query_is_refused(ben, query):
    assert ben.get(PATH, query).status_code == 422


def test_pages_neither_repeat_nor_skip_a_chat(ben, bot):
    at = timezone.now()
    expected = [str(make_chat(bot, last_message_at=at).pk) for _ in range(3)][::-1]
    expected += [
        str(make_chat(bot, last_message_at=at - timedelta(microseconds=n)).pk) for n in (1, 2, 3, 4)
    ]
    seen, cursor = [], None
    for _ in range(4):
        reply = ben.get(PATH, {"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        seen += [item["id"] for item in reply["items"]]
        cursor = reply["next_cursor"]
        if cursor:
            make_chat(bot)  # a chat is opened meanwhile
    assert (seen, cursor) == (expected, None)


def test_a_cursor_of_another_list_is_refused(ben, bot):
    for _ in range(2):
        make_chat(bot)
    other = ben.get(f"/ai/{bot.pk}/chat-history", {"limit": 1}).json()["next_cursor"]
    assert ben.get(PATH, {"cursor": other}).status_code == 422


def test_another_clients_chats_are_not_listed(ben, cara, nobody, client_a, bot):
    chat = make_chat(bot)
    add_message(chat, "Hello")
    assert ids(make_person(client_a, Role.VIEWER, "Vic").get(PATH)) == [str(chat.pk)]
    assert ids(cara.get(PATH)) == []
    assert ids(cara.get(PATH, {"q": "hello"})) == []
    for path in (
        f"/ai/chat/{chat.pk}/history",
        f"/ai/chat/history/customer/{chat.customer_id}",
        f"/ai/{bot.pk}/chat-history",
    ):
        assert cara.get(path).status_code == 404
        assert nobody.get(path).status_code == 401
    assert nobody.get(PATH).status_code == 401


def test_all_chats_of_a_customer_and_of_a_bot(ben, bot, client_a):
    first = make_chat(bot)
    second = Conversation.objects.create(
        client=client_a, bot=make_bot(client_a), customer=first.customer, language="en"
    )
    third = make_chat(bot)
    customer = f"/ai/chat/history/customer/{first.customer_id}"
    assert ids(ben.get(customer)) == [str(second.pk), str(first.pk)]
    assert ids(ben.get(f"/ai/{bot.pk}/chat-history")) == [str(third.pk), str(first.pk)]
    assert ben.get(customer, {"limit": 101}).status_code == 422


def test_a_chats_messages_include_notes(ben, bot):
    chat = make_chat(bot)
    add_message(chat, "Hello")
    add_message(chat, "Be careful", is_note=True)
    messages = ben.get(f"/ai/chat/{chat.pk}/history").json()["items"]
    assert [(message["seq"], message["is_note"]) for message in messages] == [(1, False), (2, True)]
