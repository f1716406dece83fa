"""Get Transcript, Download Transcript."""

import pytest

from bots.models import Bot


@pytest.fixture
def said(chat, add_message):
    Bot.objects.filter(pk=chat.bot_id).update(export_enabled=True)
    add_message(chat, "customer", "Hello", sender_name="Zoe")
    add_message(chat, "agent", "Do not tell", is_note=True)
    picture = {"type": "image", "file_name": "a.png", "attachment_id": "x"}
    add_message(chat, "bot", "", content=[picture], sender_name="Helper")
    return chat


def path(chat):
    return f"/ai/client/chat/{chat.pk}/transcript"


def test_the_customer_takes_the_chat_along(server, said):
    shown = server.get(path(said)).json()
    assert shown["chat_code"] == said.chat_code
    assert [(line["sender"], line["name"], line["text"], line["files"]) for line in
            shown["messages"]] == [("customer", "Zoe", "Hello", []),
                                   ("bot", "Helper", "", ["a.png"])]  # fmt: skip
    assert shown["messages"][0].keys() == {"sender", "name", "text", "files", "created_at"}
    reply = server.get(f"{path(said)}.txt")
    assert reply["Content-Type"] == "text/plain; charset=utf-8"
    assert reply["Content-Disposition"] == f'attachment; filename="{said.chat_code}.txt"'
    text = b"".join(reply.streaming_content).decode()
    assert text.startswith(f"Helper, {said.chat_code}, ")
    assert "Zoe: Hello\n" in text
    assert "Helper: [a.png]\n" in text
    assert "Do not tell" not in text


def test_a_bot_may_give_none(ann, server, said):
    assert (
        ann.put(f"/ai/bot/{said.bot_id}/update-bot", {"export_enabled": False}).status_code == 200
    )
    for way in (path(said), f"{path(said)}.txt"):
        reply = server.get(way)
        assert (reply.status_code, reply.json()["code"]) == (409, "export_off")


def test_access_is_refused(page, nobody, said):
    for way in (path(said), f"{path(said)}.txt"):
        assert page.get(way).status_code == 404
        assert nobody.get(way).status_code == 401
