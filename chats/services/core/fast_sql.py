"""The most frequent statements, in SQL (see docs/decisions/0011).

They read and lock the same rows as the ORM would; but the client is the key's own, which is at
most a second old.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from django.db import connection

from chatplatform.sql import Columns
from chats.models import Conversation, LockedConversation, Message
from chats.services.core import message_json
from identity.auth import Principal

_CHAT, _MESSAGE = Columns(Conversation), Columns(Message)

# What a message changes in its conversation's row.
COUNTERS = (
    "last_seq", "last_event_seq", "message_count", "last_message_id", "last_message_at",
    "first_response_at", "unread_count", "waiting_since", "return_at", "language",
)  # fmt: skip

_VISIBLE = """chat.id = %(chat)s AND chat.client_id = %(client)s AND NOT chat.is_preview
  AND (%(bot)s::bigint IS NULL OR chat.bot_id = %(bot)s::bigint)
  AND (%(page)s::bigint IS NULL
       OR chat.opened_by_key_id = %(page)s::bigint AND chat.visitor_id = %(visitor)s::bigint)"""

_LOCK = f"""
SELECT {_CHAT.column_list("chat")}, customer.name, bot.bot_name, bot.languages,
    config.burst_wait_ms, config.auto_translate, config.out_of_hours_message <> '{{}}'::jsonb
FROM chats_conversation chat
JOIN chats_customer customer ON customer.id = chat.customer_id
JOIN bots_bot bot ON bot.id = chat.bot_id
JOIN identity_clientconfig config ON config.client_id = chat.client_id
WHERE {_VISIBLE}
FOR NO KEY UPDATE OF chat
"""

_STORE = f"""
WITH stored AS (
    INSERT INTO chats_message ({_MESSAGE.column_list()})
    VALUES ({_MESSAGE.placeholders})
)
UPDATE chats_conversation SET {", ".join(f"{name} = %s" for name in COUNTERS)} WHERE id = %s
"""

_FIND = f"""
SELECT {_MESSAGE.column_list("message")} FROM chats_message message
WHERE message.conversation_id = %s AND message.client_message_id = %s
"""

# One row of nulls if the chat has no message behind `after`; no row if the key sees no such chat.
_READ, _READ_BY_VISITOR = (
    f"""
SELECT message.seq, row_to_json(message)::text FROM chats_conversation chat
LEFT JOIN LATERAL (
    SELECT {columns} FROM chats_shown_message
    WHERE conversation_id = chat.id AND NOT is_note AND seq > %(after)s
    ORDER BY seq LIMIT %(limit)s
) message ON true
WHERE {_VISIBLE}
ORDER BY message.seq
"""
    for columns in (message_json.COLUMNS, message_json.VISITORS_COLUMNS)
)


@dataclass(frozen=True)
class MessageTarget:
    """A chat that a customer writes in, and what the message needs of other rows."""

    chat: LockedConversation
    customer_name: str
    bot_name: str
    # The languages that the bot is offered in.
    languages: list[str]
    burst_wait: timedelta
    auto_translate: bool
    tells_hours: bool

    @classmethod
    def from_chat(cls, chat: LockedConversation) -> Self:
        config = chat.client.config
        return cls(
            chat,
            chat.customer.name,
            chat.bot.bot_name,
            chat.bot.languages,
            timedelta(milliseconds=config.burst_wait_ms),
            config.auto_translate,
            bool(config.out_of_hours_message),
        )


def lock_chat(caller: Principal, chat_id: uuid.UUID) -> MessageTarget | None:
    """Lock a conversation that the caller may see; None for any other."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, _parameters(caller, chat_id))
        values = cursor.fetchone()
    if values is None:
        return None
    chat = _CHAT.row(values[: len(_CHAT)])
    chat.client = caller.client
    customer_name, bot_name, offered, burst_wait_ms, auto_translate, tells_hours = values[
        len(_CHAT) :
    ]
    return MessageTarget(
        LockedConversation(chat),
        customer_name,
        bot_name,
        offered,
        timedelta(milliseconds=burst_wait_ms),
        auto_translate,
        tells_hours,
    )


def find_message(chat: Conversation, client_message_id: str) -> Message | None:
    """The message of a chat to which its sender gave this id."""
    with connection.cursor() as cursor:
        cursor.execute(_FIND, [chat.pk, client_message_id])
        values = cursor.fetchone()
    return _MESSAGE.row(values) if values else None


def store_message(chat: LockedConversation, message: Message) -> None:
    """Insert a message, and write the `COUNTERS` of its conversation."""
    counters = [getattr(chat, name) for name in COUNTERS]
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [*_MESSAGE.values(message), *counters, chat.pk])
    message._state.adding = False


def read_messages(
    caller: Principal, chat_id: uuid.UUID, *, after: int, limit: int
) -> list[tuple[int, str]] | None:
    """`seq` and JSON, as this caller is shown it, of the messages behind a seq that the customer
    may read, oldest first; None if the caller may not see the chat.
    """
    statement = _READ_BY_VISITOR if caller.is_page else _READ
    with connection.cursor() as cursor:
        cursor.execute(statement, _parameters(caller, chat_id) | {"after": after, "limit": limit})
        rows = cursor.fetchall()
    if not rows:
        return None
    return [row for row in rows if row[0]]


def _parameters(caller: Principal, chat_id: uuid.UUID) -> dict[str, Any]:
    assert caller.key
    return {
        "chat": chat_id,
        "client": caller.client_id,
        "bot": caller.key.bot_id,
        "page": caller.key.pk if caller.is_page else None,
        "visitor": caller.visitor_id,
    }
