"""Helpers for tests of conversations."""

from typing import Any

from bots.models import Bot
from chats.models import Conversation, Customer, Message
from identity.services import visitor_tokens
from identity.testing import Person


def make_chat(bot: Bot, **fields: Any) -> Any:
    """A conversation with a new customer, assigned to the bot by default."""
    customer = Customer.objects.create(
        client_id=bot.client_id, name=fields.pop("customer_name", "Zoe")
    )
    fields = {"language": "en", **fields}
    return Conversation.objects.create(
        client_id=bot.client_id, bot=bot, customer=customer, **fields
    )


def make_preview(bot: Bot, by: Person, **fields: Any) -> Any:
    """A preview in which this person tries the bot."""
    chat = make_chat(bot, is_preview=True, **fields)
    assert by.user
    Customer.objects.filter(pk=chat.customer_id).update(external_id=f"staff:{by.user.pk}")
    return chat


def put_message(chat: Any, sender_type: str, **fields: Any) -> Message:
    """A new message at the end of a conversation, stored without side effects."""
    chat.last_seq += 1
    chat.save(update_fields=["last_seq"])
    fields = {"content": [], **fields}
    return Message.objects.create(
        client_id=chat.client_id, conversation=chat, seq=chat.last_seq, sender_type=sender_type,
        **fields,
    )  # fmt: skip


def visitor_of(public_key: Person, chat: Conversation) -> Person:
    """The visitor for whom this public key opened the conversation."""
    assert chat.visitor_id
    token = visitor_tokens.issue(bot_id=chat.bot_id, visitor_id=chat.visitor_id)
    return Person({**public_key.headers, visitor_tokens.HEADER: token}, key=public_key.key)


def visit(public_key: Person, **body: Any) -> tuple[Person, Any]:
    """A new visitor, and the conversation that the public key opens for them."""
    reply = public_key.post("/ai/client/chat", body)
    assert reply.status_code == 201, reply.content
    chat = Conversation.objects.get(pk=reply.json()["id"])
    return visitor_of(public_key, chat), chat
