"""Chats of a key, a chat with its customer, messages by a chat's code."""

import pytest

from bots.testing import make_bot
from chats.testing import make_chat, visit
from identity.testing import make_key

CHATS = "/ai/client/chats"


def ids(reply):
    assert reply.status_code == 200
    return [item["id"] for item in reply.json()["items"]]


# --- Get chat conversation list -----------------------------------------------------------------


def test_a_key_lists_the_chats_of_its_bot(server, client_a, bot):
    own, other = make_chat(bot), make_chat(make_bot(client_a))
    assert ids(server.get(CHATS)) == [str(own.pk)]
    assert ids(make_key(client_a).get(CHATS)) == [str(other.pk), str(own.pk)]
    # Naming another bot does not open it.
    assert ids(server.get(CHATS, {"bot_id": other.bot_id})) == []


def test_newest_activity_first_and_filters(server, bot, add_message):
    old, new = make_chat(bot), make_chat(bot, status="ended", tags=["vip"])
    assert ids(server.get(CHATS)) == [str(new.pk), str(old.pk)]
    add_message(old, "customer", "Damaged goods")
    assert ids(server.get(CHATS)) == [str(old.pk), str(new.pk)]
    assert ids(server.get(CHATS, {"status": "ended", "tag": "vip"})) == [str(new.pk)]
    assert ids(server.get(CHATS, {"q": "damaged"})) == [str(old.pk)]


def test_chats_come_in_pages(server, bot):
    expected = [str(make_chat(bot).pk) for _ in range(5)][::-1]
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = server.get(CHATS, {"limit": 2} | ({"cursor": cursor} if cursor else {}))
        seen, cursor = seen + ids(page), page.json()["next_cursor"]
    assert (seen, cursor) == (expected, None)


@pytest.mark.parametrize("query", [{"limit": 0}, {"status": "gone"}, {"cursor": "x"}, {"no": "1"}])
def test_a_wrong_query_is_refused(server, query):
    assert server.get(CHATS, query).status_code == 422


def test_access_to_the_list_is_refused(page, nobody, ann, client_b, bot):
    make_chat(bot)
    assert page.get(CHATS).status_code == 403
    assert ids(make_key(client_b).get(CHATS)) == []
    assert (nobody.get(CHATS).status_code, ann.get(CHATS).status_code) == (401, 401)


# --- Get chat conversation history with customer information ------------------------------------


def with_customer(chat):
    return f"/ai/client/chat/history-with-customer/{chat.pk}"


def test_a_chat_with_its_customer(server, ben, chat, add_message):
    server.post(f"/ai/client/chat/customer/{chat.pk}", {"external_id": "c-1", "email": "z@a.io"})
    for text in ("Hello", "Are you there?", "?"):
        add_message(chat, "customer", text)
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Rude", "is_note": True})
    first = server.get(with_customer(chat), {"limit": 2}).json()
    assert first["conversation"]["id"] == str(chat.pk)
    assert first["customer"] == first["conversation"]["customer"]
    assert (first["customer"]["external_id"], first["customer"]["email"]) == ("c-1", "z@a.io")
    rest = server.get(with_customer(chat), {"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [message["seq"] for message in first["items"] + rest["items"]] == [1, 2, 3]
    assert "Rude" not in str(rest)
    assert rest["next_cursor"] is None


# --- Get messages by chat conversation code -----------------------------------------------------


def by_code(chat):
    return f"/ai/client/chat/messages/{chat.chat_code}"


def test_messages_are_read_by_the_code(server, ben, chat, add_message):
    message_ids = [str(add_message(chat, "customer", text).pk) for text in ("Hello", "?")]
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Rude", "is_note": True})
    assert ids(server.get(by_code(chat))) == message_ids
    page = server.get(by_code(chat), {"limit": 1})
    assert page.json()["next_cursor"]


def test_access_by_the_code_is_refused(page, nobody, client_b, bot, client_a, chat):
    visitor, own = visit(page)
    assert ids(visitor.get(by_code(own))) == []
    for stranger in (page, visitor, make_key(client_b), make_key(client_a, "public", bot.pk)):
        assert stranger.get(by_code(chat)).status_code == 404
    assert nobody.get(by_code(chat)).status_code == 401


@pytest.mark.parametrize("code", ["NO-SUCH", "%00", "x" * 500, "%F0%9F%98%80", "%ED%A0%80"])
def test_an_unknown_code_is_not_found(server, chat, code):
    reply = server.get(f"/ai/client/chat/messages/{code}")
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
