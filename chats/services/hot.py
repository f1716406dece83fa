"""The statements of what is asked for most, in SQL.

Django's way of building a statement costs more processor time than sending it and reading the
answer; of a message to a chat it was three quarters. What is here does no more and no less than
its counterpart by the ORM, under the same locks.
"""

import uuid
from typing import Any, TypeVar

from django.db import connection, models

from bots.models import Bot
from chats.models import Conversation, Customer, Message
from identity.models import ApiKey, ClientConfig, KeyScope

Row = TypeVar("Row", bound=models.Model)

# What a message changes in its conversation's row.
COUNTED = (
    "last_seq", "last_event_seq", "message_count", "last_message_id", "last_message_at",
    "first_response_at", "unread_count", "waiting_since", "return_at",
)  # fmt: skip

_LOCK = """
SELECT chat.*, customer.name AS customer_name, bot.bot_name AS bot_name,
    config.id AS config_id, config.burst_wait_ms, config.auto_translate,
    config.reopen_window_minutes
FROM chats_conversation chat
JOIN chats_customer customer ON customer.id = chat.customer_id
JOIN bots_bot bot ON bot.id = chat.bot_id
JOIN identity_clientconfig config ON config.client_id = chat.client_id
WHERE chat.id = %(chat)s AND chat.client_id = %(client)s
  AND (%(bot)s::bigint IS NULL OR chat.bot_id = %(bot)s::bigint)
  AND (%(page)s::bigint IS NULL OR chat.opened_by_key_id = %(page)s::bigint)
FOR NO KEY UPDATE OF chat
"""

_FIELDS = Message._meta.concrete_fields
_STORE = f"""
WITH stored AS (
    INSERT INTO chats_message ({", ".join(field.column for field in _FIELDS)})
    VALUES ({", ".join(["%s"] * len(_FIELDS))})
)
UPDATE chats_conversation SET {", ".join(f"{name} = %s" for name in COUNTED)} WHERE id = %s
"""


def lock_visible(key: ApiKey, chat_id: uuid.UUID) -> Conversation | None:
    """A conversation that the key may see, as `conversations.lock` gives it; None for any other.

    Of its bot, its customer and its client's settings only what a message needs is read; the rest
    loads itself where it is asked for.
    """
    asked = {
        "chat": chat_id,
        "client": key.client_id,
        "bot": key.bot_id,
        "page": key.pk if key.scope == KeyScope.PUBLIC else None,
    }
    found = next(iter(Conversation.objects.raw(_LOCK, asked)), None)
    if found is None:
        return None
    read = vars(found)
    found.client = key.client
    found.client.config = _partly(
        ClientConfig,
        id=read.pop("config_id"),
        client_id=found.client_id,
        burst_wait_ms=read.pop("burst_wait_ms"),
        auto_translate=read.pop("auto_translate"),
        reopen_window_minutes=read.pop("reopen_window_minutes"),
    )
    found.customer = _partly(Customer, id=found.customer_id, name=read.pop("customer_name"))
    found.bot = _partly(
        Bot, id=found.bot_id, client_id=found.client_id, bot_name=read.pop("bot_name")
    )
    return found


def store(chat: Conversation, message: Message) -> None:
    """Insert a message, and write what it `COUNTED` in its conversation, which is locked."""
    values = [
        field.get_db_prep_save(getattr(message, field.attname), connection) for field in _FIELDS
    ]
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [*values, *(getattr(chat, name) for name in COUNTED), chat.pk])
    message._state.adding = False


def _partly(model: type[Row], **known: Any) -> Row:
    """A row of which only some columns are known here."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname in known]
    return model.from_db(connection.alias, names, [known[name] for name in names])
