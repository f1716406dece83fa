"""Helpers for tests of chats."""

from typing import Any

from bots.models import Bot
from chats.models import Conversation, Customer


def make_chat(bot: Bot, **fields: Any) -> Any:
    """A conversation of a customer of its own, assigned to the bot by default."""
    customer = Customer.objects.create(
        client_id=bot.client_id, name=fields.pop("customer_name", "Zoe")
    )
    fields = {"language": "en", **fields}
    return Conversation.objects.create(
        client_id=bot.client_id, bot=bot, customer=customer, **fields
    )
