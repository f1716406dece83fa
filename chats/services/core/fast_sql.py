"""The statements of what is asked for most, in SQL (see docs/decisions/0011).

The same rows under the same locks as by the ORM; but the client is the key's own, which is at most
a second old, and of a chat's neighbours only what a message needs is read.
"""

import uuid
from typing import Any, TypeVar

from django.db import connection, models

from bots.models import Bot
from chatplatform.sql import Columns
from chats.models import Conversation, Customer, LockedConversation, Message
from identity.models import ApiKey, ClientConfig, KeyScope

Row = TypeVar("Row", bound=models.Model)


_CHAT, _MESSAGE = Columns(Conversation), Columns(Message)

# What a message changes in its conversation's row.
COUNTED = (
    "last_seq", "last_event_seq", "message_count", "last_message_id", "last_message_at",
    "first_response_at", "unread_count", "waiting_since", "return_at",
)  # fmt: skip

_VISIBLE = """chat.id = %(chat)s AND chat.client_id = %(client)s
  AND (%(bot)s::bigint IS NULL OR chat.bot_id = %(bot)s::bigint)
  AND (%(page)s::bigint IS NULL OR chat.opened_by_key_id = %(page)s::bigint)"""

_LOCK = f"""
SELECT {_CHAT.column_list("chat")}, customer.name, bot.bot_name,
    config.id, config.burst_wait_ms, config.auto_translate
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
    VALUES ({_MESSAGE.places})
)
UPDATE chats_conversation SET {", ".join(f"{name} = %s" for name in COUNTED)} WHERE id = %s
"""

_KNOWN = f"""
SELECT {_MESSAGE.column_list("said")} FROM chats_message said
WHERE said.conversation_id = %s AND said.client_message_id = %s
"""

# One row of nulls where the chat is there and says nothing behind `after`.
_SAID = f"""
SELECT {_MESSAGE.column_list("said")} FROM chats_conversation chat
LEFT JOIN LATERAL (
    SELECT * FROM chats_message
    WHERE conversation_id = chat.id AND NOT is_note AND seq > %(after)s
    ORDER BY seq LIMIT %(limit)s
) said ON true
WHERE {_VISIBLE}
ORDER BY said.seq
"""


def lock_chat(key: ApiKey, chat_id: uuid.UUID) -> LockedConversation | None:
    """A conversation that the key may see, locked; None for any other.

    What is not read of its bot, its customer and its client's settings loads itself when asked for.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, _asked(key, chat_id))
        read = cursor.fetchone()
    if read is None:
        return None
    chat = _CHAT.row(read[: len(_CHAT)])
    customer, bot, config, burst_wait_ms, auto_translate = read[len(_CHAT) :]
    chat.customer = _partly(Customer, id=chat.customer_id, name=customer)
    chat.bot = _partly(Bot, id=chat.bot_id, client_id=chat.client_id, bot_name=bot)
    chat.client = key.client
    chat.client.config = _partly(
        ClientConfig,
        id=config,
        client_id=chat.client_id,
        burst_wait_ms=burst_wait_ms,
        auto_translate=auto_translate,
    )
    return LockedConversation(chat)


def find_message(chat: Conversation, client_message_id: str) -> Message | None:
    """The message of a chat that its sender gave this id."""
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN, [chat.pk, client_message_id])
        read = cursor.fetchone()
    return _MESSAGE.row(read) if read else None


def store_message(chat: LockedConversation, message: Message) -> None:
    """Insert a message, and write what it `COUNTED` in its conversation."""
    counted = [getattr(chat, name) for name in COUNTED]
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [*_MESSAGE.written(message), *counted, chat.pk])
    message._state.adding = False


def read_messages(
    key: ApiKey, chat_id: uuid.UUID, *, after: int, limit: int
) -> list[Message] | None:
    """What the customer may read behind a seq, oldest first; None where the key sees no chat."""
    with connection.cursor() as cursor:
        cursor.execute(_SAID, _asked(key, chat_id) | {"after": after, "limit": limit})
        found = cursor.fetchall()
    if not found:
        return None
    return [_MESSAGE.row(values) for values in found if values[0]]


def _asked(key: ApiKey, chat_id: uuid.UUID) -> dict[str, Any]:
    return {
        "chat": chat_id,
        "client": key.client_id,
        "bot": key.bot_id,
        "page": key.pk if key.scope == KeyScope.PUBLIC else None,
    }


def _partly(model: type[Row], **known: Any) -> Row:
    """A row of which only some columns are known here."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname in known]
    assert len(names) == len(known), f"{model.__name__} has not all of {list(known)}"
    return model.from_db(connection.alias, names, [known[name] for name in names])
