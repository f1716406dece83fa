"""Get chat conversation history."""

import uuid

import pytest

from chats.models import Message, text_content


@pytest.fixture
def chat(server):
    return server.post("/ai/client/chat", {}).json()["id"]


def path_of(chat):
    return f"/ai/client/chat/history/{chat}"


def send_messages(server, chat, count):
    for n in range(count):
        body = {"text": f"Line {n}", "reply": "none"}
        assert server.post(f"/ai/client/chat/{chat}", body).status_code == 200


def test_messages_are_listed_oldest_first(server, chat):
    send_messages(server, chat, 2)
    reply = server.get(path_of(chat))
    assert reply.status_code == 200
    assert reply.json()["next_cursor"] is None
    first, second = reply.json()["items"]
    assert (first["seq"], second["seq"]) == (1, 2)
    assert [(part["type"], part["text"]) for part in first["content"]] == [("text", "Line 0")]
    assert first["sender"]["type"] == "customer"
    assert first["created_at"].endswith("Z")


def test_pages_neither_repeat_nor_skip(server, chat):
    send_messages(server, chat, 5)
    seen, cursor = [], None
    for size in (2, 2, 2):
        query = {"limit": size} | ({"cursor": cursor} if cursor else {})
        page = server.get(path_of(chat), query).json()
        seen += [item["seq"] for item in page["items"]]
        cursor = page["next_cursor"]
        send_messages(server, chat, 1 if len(seen) == 2 else 0)  # a message arrives meanwhile
    assert seen == [1, 2, 3, 4, 5, 6]
    assert cursor is None


@pytest.mark.parametrize(
    "query", [{"cursor": "x"}, {"limit": 0}, {"limit": 101}, {"limit": "x"}, {"offset": 1}]
)
def test_a_wrong_query_is_refused(server, chat, query):
    assert server.get(path_of(chat), query).status_code == 422


def test_a_tampered_cursor_is_refused(server, chat):
    send_messages(server, chat, 2)
    cursor = server.get(path_of(chat), {"limit": 1}).json()["next_cursor"]
    for bad in (cursor[:-1], "A" + cursor, cursor + "A", cursor[::-1], cursor + "\x00"):
        reply = server.get(path_of(chat), {"cursor": bad})
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"] == ["query", "cursor"]


def test_notes_are_not_shown(server, chat):
    send_messages(server, chat, 1)
    Message.objects.create(
        client=server.client, conversation_id=chat, seq=2, sender_type="agent",
        content=text_content("Rude customer"), is_note=True,
    )  # fmt: skip
    assert [item["seq"] for item in server.get(path_of(chat)).json()["items"]] == [1]


def test_a_secret_key_sees_a_pages_chat(server, page):
    chat = page.post("/ai/client/chat", {}).json()["id"]
    assert server.get(path_of(chat)).status_code == 200


def test_a_missing_chat_is_not_found(server):
    assert server.get(path_of(uuid.uuid4())).status_code == 404
