"""The SQL statements read and write the same rows as the ORM."""

import uuid
from datetime import UTC, datetime

import orjson
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from bots.language.detection import Guess
from bots.models import FunctionCall
from bots.testing import make_bot
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message, ReplyScope, SenderType, text_content
from chats.schemas.message import ConvMessage
from chats.services.core import conversations, fast_sql, messages
from chats.testing import visit
from identity.auth import Principal
from identity.testing import make_key

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def columns(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.mark.parametrize(("reply", "count"), [("none", 1), ("async", 1)])
def test_the_statements_of_a_message(server, chat, reply, count, django_assert_num_queries):
    path = f"/ai/client/chat/{chat.pk}"
    server.post(path, {"text": "Hello", "reply": "none", "language": "en"})
    with django_assert_num_queries(count):
        reply = server.post(path, {"text": "How are you?", "reply": reply, "language": "en"})
    assert reply.status_code in {200, 202}


def test_what_a_reply_begins_with(chat, bot, add_message):
    message = add_message(chat, "customer", "Refund order 7")
    of_chat = {"client": bot.client, "bot": bot, "conversation_id": chat.pk, "arguments": {}}
    FunctionCall.objects.create(**of_chat, requires_approval="agent", message_id=message.pk)
    assert load(message) == (message, False, ReplyScope.ALL, False)
    FunctionCall.objects.create(**of_chat, requires_approval="customer", message_id=uuid.uuid4())
    assert load(message) == (message, False, ReplyScope.ALL, True)
    answer = add_message(chat, "agent", "One moment")
    Message.objects.filter(pk=answer.pk).update(in_reply_to=message)
    assert load(message) == (message, False, ReplyScope.ALL, True), (
        "an agent's message is no reply of the bot"
    )
    Message.objects.filter(pk=answer.pk).update(sender_type="system")
    assert load(message) == (message, True, ReplyScope.ALL, True)
    assert fast_sql.load_message(str(uuid.uuid4())) is None


def load(message):
    return fast_sql.load_message(str(message.pk))


def test_a_reply_asks_for_no_calls_where_none_was_put_to_the_customer(server, chat):
    server.post(f"/ai/client/chat/{chat.pk}", {"text": "Hello", "reply": "async"})
    with CaptureQueriesContext(connection) as captured:
        run_jobs()
    assert Message.objects.filter(sender_type="bot").exists()
    about_calls = [item["sql"] for item in captured if "bots_functioncall" in item["sql"]]
    assert len(about_calls) == 1, "the statement that loads the message"


def test_the_statement_of_a_page(server, chat, add_message, django_assert_num_queries):
    for _ in range(2):
        add_message(chat, "customer", "Hello")
    path = f"/ai/client/chat/history/{chat.pk}"
    server.get(path)
    with django_assert_num_queries(1) as sent:
        assert len(server.get(path).json()["items"]) == 2
    with connection.cursor() as cursor:
        # Of a few rows it may well read and sort them all, which says nothing of many.
        for way in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute("EXPLAIN " + sent[0]["sql"])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "message_seq" in plan, "the page begins at its place in the index"
    assert "Seq Scan on chats_message" not in plan


@pytest.mark.parametrize("owner", ["the bot", "the queue", "an agent"])
@pytest.mark.parametrize("side", [SenderType.CUSTOMER, SenderType.BOT, SenderType.AGENT])
@pytest.mark.parametrize("more", [{}, {"is_note": True}, {"sent_at": DAY}])
def test_a_stored_message_equals_the_orms(chat, bea, owner, side, more):
    fields = {
        "the bot": {},
        "the queue": {"assign_type": "queue"},
        "an agent": {"assign_type": "agent", "assignee": bea.user, "return_at": DAY},
    }[owner]
    Conversation.objects.filter(pk=chat.pk).update(unread_count=3, **fields)
    with transaction.atomic():
        locked = conversations.lock(chat)
        stored = messages.append(
            locked,
            author=messages.Author(side, "7", 'O\'Neil "x"'),
            content=text_content("Grüße 👋 \\ %s"),
            language="de",
            citations=[{"title": "A", "quote": "ü"}],
            receipt={"confidence": 0.25, "chunks": [1, 2]},
            metadata={"a": None},
            client_message_id="m-1",
            **more,
        )
    assert columns(Message.objects.get(pk=stored.pk)) == columns(stored)
    assert columns(Conversation.objects.get(pk=chat.pk)) == columns(locked)
    existing = fast_sql.find_message(chat, "m-1")
    assert existing
    assert columns(existing) == columns(stored)
    assert fast_sql.find_message(chat, "m-2") is None


def test_messages_are_read_behind_a_place(server, chat, add_message):
    for side in ("customer", "bot", "customer"):
        add_message(chat, side, f"By the {side}")
    Message.objects.filter(seq=2).update(is_note=True)
    for after, limit, seen, more_behind in (
        (0, 10, [1, 3], None), (0, 2, [1, 3], None), (1, 1, [3], None), (0, 1, [1], 1),
        (3, 1, [], None),
    ):  # fmt: skip
        read = fast_sql.read_messages(caller_of(server), chat.pk, after=after, limit=limit)
        assert read is not None
        assert [message["seq"] for message in orjson.loads(f"[{read[0]}]")] == seen
        assert read[1] == more_behind


def test_a_key_sees_the_same_chats_as_by_the_orm(client_a, client_b, bot, page):
    chat = visit(page)[1]
    visitor_id = chat.visitor_id
    other_page = make_key(client_a, "public", bot.pk)
    callers = [
        caller_of(make_key(client_a)),
        caller_of(make_key(client_a, "secret", bot.pk)),
        caller_of(make_key(client_a, "secret", make_bot(client_a).pk)),
        caller_of(other_page, visitor_id),
        caller_of(page),
        caller_of(page, visitor_id),
        caller_of(page, visitor_id + 1),
        caller_of(make_key(client_b)),
    ]
    by_orm = [
        conversations.visible_to_caller(caller).filter(pk=chat.pk).exists() for caller in callers
    ]
    assert by_orm == [True, True, False, False, False, True, False, False]
    read = [fast_sql.read_messages(caller, chat.pk, after=0, limit=1) for caller in callers]
    assert [rows is not None for rows in read] == by_orm
    body = ConvMessage(text="Hello", reply="none")
    stored = [
        fast_sql.receive_message(caller, chat.pk, body, Guess(), lacks_credits=lambda: False)
        for caller in callers
    ]
    assert [message is not None for message in stored] == by_orm
    assert Message.objects.filter(conversation=chat, sender_type="customer").count() == sum(by_orm)


def caller_of(person, visitor_id=None):
    return Principal(person.client, key=person.key, visitor_id=visitor_id)
