"""Get Transcript, Download Transcript, Mail Transcript."""

from datetime import UTC, datetime

import pytest
from django.core import mail
from django.utils.translation import override

from bots.models import Bot
from chatplatform.models import Job
from chatplatform.templatetags.codes import humanize_code
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.testing import make_chat, visit
from identity.models import AuditEvent

ZOE = {"email": "Zoe@example.com"}


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
    assert shown["messages"][0].keys() == {
        "sender", "name", "text", "options", "files", "created_at",
    }  # fmt: skip
    reply = server.get(f"{path(said)}.txt")
    assert reply["Content-Type"] == "text/plain; charset=utf-8"
    assert reply["Content-Disposition"] == f'attachment; filename="{said.chat_code}.txt"'
    text = b"".join(reply.streaming_content).decode()
    assert text.startswith(f"Helper, {said.chat_code}, ")
    assert "Zoe: Hello\n" in text
    assert "Helper: [a.png]\n" in text
    assert "Do not tell" not in text


def test_an_agent_takes_it_along_even_if_the_customer_may_not(ben, cara, server, said):
    Bot.objects.filter(pk=said.bot_id).update(export_enabled=False)
    assert server.get(f"{path(said)}.txt").status_code == 409
    agents = f"/ai/chat/{said.pk}/transcript.txt"
    reply = ben.get(f"{agents}?timezone=Asia/Tokyo")
    assert reply["Content-Disposition"] == f'attachment; filename="{said.chat_code}.txt"'
    text = b"".join(reply.streaming_content).decode()
    assert "(Asia/Tokyo)" in text
    assert "Zoe: Hello\n" in text
    assert "Do not tell" not in text
    assert (cara.get(agents).status_code, server.get(agents).status_code) == (404, 401)


def test_its_times_are_the_readers_or_the_companys(server, said, client_a):
    Message.objects.update(created_at=datetime(2026, 7, 1, 22, 30, tzinfo=UTC))
    client_a.timezone = "Asia/Ho_Chi_Minh"
    client_a.save()

    def text(query=""):
        return b"".join(server.get(f"{path(said)}.txt{query}").streaming_content).decode()

    head, first = text().split("\n")[0], text().split("\n")[2]
    assert head.endswith("(Asia/Ho_Chi_Minh)")
    assert first.startswith("2026-07-02 05:30 Zoe")
    readers = text("?timezone=America/New_York")
    assert "(America/New_York)" in readers
    assert "2026-07-01 18:30 Zoe" in readers
    for wrong in ("Nowhere", "localtime", ""):
        assert server.get(f"{path(said)}.txt?timezone={wrong}").status_code == 422
        assert send(server, said, ZOE | {"timezone": wrong}).status_code == 422
    assert server.get(path(said)).json()["messages"][0]["created_at"] == "2026-07-01T22:30:00.000Z"


def test_it_says_no_raw_codes(server, said, add_message):
    add_message(said, "customer", "And me?")
    add_message(said, "customer", "", content=[{"type": "audio", "url": "https://x.example/a"}])
    asked = [{"type": "text", "text": "How was it?"}, {"type": "feedback"}]
    add_message(said, "system", "How was it?", content=asked)
    text = b"".join(server.get(f"{path(said)}.txt").streaming_content).decode()
    assert "Customer: And me?\n" in text
    assert "audio" not in text
    assert text.endswith("Helper: How was it?\n")


def test_what_was_offered_stands_behind_the_words(server, said, add_message):
    options = [{"label": name, "value": name} for name in ("Delivery", "Returns")]
    asked = [{"type": "text", "text": "One of these?", "options": options}]
    add_message(said, "bot", "One of these?", content=asked)
    assert server.get(path(said)).json()["messages"][-1]["options"] == ["Delivery", "Returns"]
    text = b"".join(server.get(f"{path(said)}.txt").streaming_content).decode()
    assert text.endswith("Helper: One of these? Delivery, Returns\n")


def test_a_bot_may_give_none(ann, server, said):
    assert (
        ann.put(f"/ai/bot/{said.bot_id}/update-bot", {"export_enabled": False}).status_code == 200
    )
    for way in (path(said), f"{path(said)}.txt"):
        reply = server.get(way)
        assert (reply.status_code, reply.json()["code"]) == (409, "export_off")


def send(caller, chat, body=ZOE):
    return caller.post(f"{path(chat)}/mail", body)


def open_for_export(page):
    visitor, chat = visit(page, message="Where is my order?")
    Bot.objects.filter(pk=chat.bot_id).update(export_enabled=True)
    return visitor, chat


def codes(replies):
    return [reply.status_code for reply in replies]


@pytest.mark.django_db(transaction=True)
def test_the_transcript_is_mailed_and_nobody_else_learns_the_mailbox(server, said):
    Bot.objects.filter(pk=said.bot_id).update(bot_name="Helper")
    assert send(server, said, ZOE | {"timezone": "Europe/Berlin"}).status_code == 202
    assert not mail.outbox
    run_jobs()
    (sent,) = mail.outbox
    assert sent.to == ["zoe@example.com"]
    assert said.chat_code in sent.subject
    assert "Helper" in sent.body
    ((name, text, _),) = sent.attachments
    assert name == f"{said.chat_code}.txt"
    assert "Zoe: Hello\n" in text
    assert "(Europe/Berlin)" in text
    assert "Do not tell" not in text
    written = AuditEvent.objects.get(action="transcript.mailed")
    assert (written.subject, written.changes) == (f"conversation:{said.pk}", {})
    assert written.api_key == server.key


@pytest.mark.django_db(transaction=True)
def test_a_file_without_a_name_is_named_in_the_chats_language(server, said, add_message):
    Conversation.objects.update(language="de")
    add_message(said, "customer", "", content=[{"type": "image", "url": "https://x.example/a"}])
    assert send(server, said).status_code == 202
    run_jobs()
    with override("de"):
        label = humanize_code("image")
    assert label != "Image"
    assert f"[{label}]" in mail.outbox[0].attachments[0][1]


def test_a_visitor_has_few_mails_and_another_visitor_has_their_own(page):
    visitor, chat = open_for_export(page)
    to = [{"email": f"zoe{number}@example.com"} for number in range(6)]
    replies = [send(visitor, chat, body) for body in to]
    assert codes(replies) == [202] * 5 + [429]
    assert replies[-1].json()["code"] == "too_many_requests"
    assert int(replies[-1]["Retry-After"]) > 3600
    second = visitor.post("/ai/client/chat", {}).json()
    assert visitor.post(f"/ai/client/chat/{second['id']}/transcript/mail", ZOE).status_code == 429
    assert send(*open_for_export(page)).status_code == 202
    assert Job.objects.filter(name="chats.mail_transcript").count() == 6


@pytest.mark.full
def test_one_address_has_few_mails_whoever_its_visitors_are(page):
    chats = [open_for_export(page) for _ in range(21)]
    replies = [
        send(visitor, chat, {"email": f"zoe{number}@example.com"})
        for number, (visitor, chat) in enumerate(chats)
    ]
    assert codes(replies) == [202] * 20 + [429]


def test_a_chat_and_a_mailbox_have_few_mails_from_your_server_too(server, bot):
    bot.export_enabled = True
    bot.save()
    first, *others = (make_chat(bot) for _ in range(7))
    assert codes(send(server, chat) for chat in others) == [202] * 5 + [429]
    to = ({"email": f"yan{number}@example.com"} for number in range(6))
    assert codes(send(server, first, body) for body in to) == [202] * 5 + [429]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_mailed_of_a_chat_that_is_closed_to_export_since(server, said):
    assert send(server, said).status_code == 202
    Bot.objects.filter(pk=said.bot_id).update(export_enabled=False)
    run_jobs()
    assert not mail.outbox
    assert send(server, said).json()["code"] == "export_off"


def test_what_cannot_be_mailed_is_refused(server, page, nobody, cara, said, settings):
    for wrong in (
        {},
        {"email": "zoe"},
        {"email": "a@b.example\nBcc: c@d.example"},
        {"email": None},
    ):
        assert send(server, said, wrong).status_code == 422
    assert send(page, said).status_code == 404
    assert send(nobody, said).status_code == 401
    assert send(cara, said).status_code in {401, 403, 404}
    settings.EMAIL_BACKEND = settings.NO_EMAIL
    reply = send(server, said)
    assert (reply.status_code, reply.json()["code"]) == (503, "mail_not_configured")
    assert not Job.objects.filter(name="chats.mail_transcript").exists()
    assert not AuditEvent.objects.filter(action="transcript.mailed").exists()
