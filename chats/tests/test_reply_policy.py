"""One rule says whether the bot may reply: a message that is received and Python ask the same."""

import re
from itertools import product

import pytest
from django.conf import settings
from django.db import transaction

from bots.models import Bot
from chats.models import Conversation, Message, ReplyScope
from chats.services.core import conversations, fast_sql, reply_policy
from chats.services.core.reply_policy import bot_may_reply
from chats.testing import make_chat
from identity.models import ClientConfig

# status, owner, whether the bot is disabled, whether an agent has written, and what is said.
CASES = [
    ("open", "bot", False, False, ReplyScope.ALL),
    ("open", "bot", False, True, ReplyScope.ALL),
    ("open", "bot", True, False, ReplyScope.HANDOVER),
    ("open", "queue", False, False, ReplyScope.ANSWERS),
    ("open", "queue", False, True, None),
    ("open", "queue", True, False, None),
    ("open", "agent", False, False, None),
    *((status, owner, False, False, None) for status, owner in product(
        ("ended", "snoozed"), ("bot", "queue", "agent")
    )),
]  # fmt: skip


@pytest.fixture
def put(bot, bea, add_message):
    """A chat in a state."""

    def make(status, owner, *, is_disabled=False, has_agent_written=False):
        Bot.objects.filter(pk=bot.pk).update(is_disabled=is_disabled)
        chat = make_chat(bot)
        if has_agent_written:
            add_message(chat, "agent", "Hello")
        assignee = bea.user if owner == "agent" else None
        rows = Conversation.objects.filter(pk=chat.pk)
        rows.update(status=status, assign_type=owner, assignee=assignee)
        return rows.select_related("bot").get()

    return make


@pytest.mark.parametrize("case", CASES)
def test_what_the_bot_may_say(put, server, add_message, case):
    status, owner, is_disabled, has_agent_written, scope = case
    chat = put(status, owner, is_disabled=is_disabled, has_agent_written=has_agent_written)
    assert bot_may_reply(chat) == scope
    message = add_message(chat, "customer", "Hello?")
    loaded = fast_sql.load_message(str(message.pk))
    assert loaded
    assert loaded.reply_scope == scope
    with transaction.atomic():
        locked = conversations.lock_for_reply(loaded.message)
    assert (locked.chat, *locked[1:]) == (chat, False, scope)
    if status == "open":  # another message opens the chat
        turn = server.post(f"/ai/client/chat/{chat.pk}", {"text": "Hi", "reply": "async"}).json()
        assert (turn["status"] == "pending") == (scope is not None)


@pytest.mark.parametrize(
    "switch", [{"answer_while_waiting": False}, {"agent_reply": True}, {"handed_over_again": True}]
)
def test_what_the_client_wishes_while_the_chat_waits(put, add_message, switch):
    chat = put("open", "queue", has_agent_written=switch == {"handed_over_again": True})
    if "agent_reply" in switch:
        Bot.objects.update(**switch)
    elif "answer_while_waiting" in switch:
        ClientConfig.objects.update(**switch)
    else:
        handover = add_message(chat, "system", "A person will answer.")
        Message.objects.filter(pk=handover.pk).update(receipt={"handoff_reason": "no_answer"})
        assert bot_may_reply(chat) == ReplyScope.ANSWERS
        return
    assert bot_may_reply(chat) is None
    assert bot_may_reply(chat, is_approved=True) == ReplyScope.ALL, "a call's result is told"


@pytest.mark.parametrize(
    ("owner", "is_disabled", "scope"),
    [("bot", True, ReplyScope.HANDOVER), ("queue", True, None), ("agent", False, None)],
)
def test_an_approval_opens_no_other_door(put, owner, is_disabled, scope):
    assert bot_may_reply(put("open", owner, is_disabled=is_disabled), is_approved=True) == scope


def test_who_cannot_pay_gets_no_reply_while_the_chat_waits(put, monkeypatch):
    chat = put("open", "queue")
    assert reply_policy.may_begin(chat, ReplyScope.ANSWERS)
    chat.handoff_reason = "credits_used_up"
    monkeypatch.setattr("identity.services.credits.has_enough", lambda *_, **__: False)
    assert not reply_policy.may_begin(chat, ReplyScope.ANSWERS)
    assert reply_policy.may_begin(chat, ReplyScope.ALL)
    assert not reply_policy.may_begin(chat, None)


def test_a_messages_row_is_written_in_three_ways():
    """One by one, in bulk, and as it is where a client moves."""
    writes = re.compile(r"INSERT INTO chats_message\b|\bMessage\.objects\.(bulk_)?create\(")
    found = [
        str(path.relative_to(settings.BASE_DIR))
        for app in settings.BASE_DIR.iterdir()
        if app.name not in {"bench", "drills"} and (app / "__init__.py").exists()
        for path in [*app.rglob("*.py"), *app.rglob("*.sql")]
        if not {"tests", "testing.py"} & {*path.parts} and writes.search(path.read_text())
    ]
    assert sorted(found) == [
        "chats/migrations/0001_store_message.sql",
        "chats/services/core/messages.py",
    ]
