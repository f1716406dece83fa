"""What is read and written in SQL is what the ORM reads and writes."""

from datetime import UTC, datetime

import pytest
from django.db import transaction
from django.forms.models import model_to_dict

from chatplatform.testing import make_key
from chats.models import Conversation, Message, SenderType, text_content
from chats.services import conversations, hot, messages

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def columns(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.fixture
def full(chat, bea):
    """A chat with something in every kind of column."""
    Conversation.objects.filter(pk=chat.pk).update(
        assign_type="agent", assignee=bea.user, tags=["a", "b"], location={"city": "Đà Nẵng"},
        metadata={"a": [1, None, "ü"]}, waiting_since=DAY, reply_window_expires_at=DAY,
        sentiment_score=0.5, requester={"name": "Zoe"}, external_id="x:1",
    )  # fmt: skip
    return chat


def test_a_locked_chat_is_the_row(server, full):
    with transaction.atomic():
        known, found = conversations.lock(full), conversations.lock_visible(server.key, full.pk)
        assert columns(found) == columns(known)
        assert columns(found.customer) == columns(known.customer)
        assert columns(found.bot) == columns(known.bot)
        assert model_to_dict(found.client.config) == model_to_dict(known.client.config)


def test_what_a_message_needs_is_there_at_once(server, chat, django_assert_num_queries):
    with transaction.atomic():
        found = conversations.lock_visible(server.key, chat.pk)
        with django_assert_num_queries(0):
            read = (found.customer.name, found.bot.bot_name, found.client.default_language)
            settings = (
                found.client.config.burst_wait_ms,
                found.client.config.auto_translate,
                found.client.config.reopen_window_minutes,
            )
    assert all(value is not None for value in (*read, *settings))


def test_a_stored_message_is_the_row(server, chat):
    with transaction.atomic():
        locked = conversations.lock(chat)
        stored = messages.append(
            locked,
            author=messages.Author(SenderType.BOT, "7", 'O\'Neil "x"'),
            content=text_content("Grüße 👋 \\ %s"),
            language="de",
            citations=[{"title": "A", "quote": "ü"}],
            receipt={"gate": 0.25, "chunks": [1, 2]},
            metadata={"a": None},
            client_message_id="m-1",
        )
    assert columns(Message.objects.get(pk=stored.pk)) == columns(stored)
    assert columns(Conversation.objects.get(pk=chat.pk)) == columns(locked)
    known = hot.known(chat, "m-1")
    assert known
    assert columns(known) == columns(stored)
    assert hot.known(chat, "m-2") is None


def test_what_was_said_is_the_rows(server, chat, say):
    for side in ("customer", "bot", "customer"):
        say(chat, side, f"By the {side}")
    Message.objects.filter(seq=1).update(sent_at=DAY, translations={"vi": "Xin chào"})
    rows = Message.objects.filter(conversation=chat).order_by("seq")
    found = hot.said(server.key, chat.pk, after=0, limit=10)
    assert found is not None
    assert [columns(row) for row in found] == [columns(row) for row in rows]
    assert [row.seq for row in hot.said(server.key, chat.pk, after=1, limit=1) or []] == [2]
    assert hot.said(server.key, chat.pk, after=3, limit=1) == []


def test_who_may_not_see_it_reads_nothing(server, page, chat, client_b):
    strangers = [make_key(client_b).key, page.key]
    assert all(hot.said(key, chat.pk, after=0, limit=1) is None for key in strangers)
    with transaction.atomic():
        assert all(hot.lock_visible(key, chat.pk) is None for key in strangers)
