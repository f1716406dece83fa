"""Previews: chats in which a client's users try a bot. They notify nobody, and no report counts
them."""

from typing import Any

from django.db import transaction

from bots.language import detection
from bots.models import Bot
from bots.services import bots
from bots.services.engines import engine_for
from chatplatform.api.errors import ApiError, Invalid
from chats.models import (
    Conversation,
    Customer,
    LockedConversation,
    Message,
    SenderType,
    text_content,
)
from chats.schemas.bot_preview import GenerateChatRequest, GeneratedChat
from chats.schemas.message import ConvMessage
from chats.services.core import conversations, customers, lifecycle, messages, reply_policy
from chats.services.core.messages import Author
from chats.services.reply import incoming
from identity.models import Client, User
from identity.services import credits


class PreviewOff(ApiError):
    code, status = "preview_off", 409
    detail = "This bot's preview is switched off: set allow_preview."


class NotAPreview(ApiError):
    code, status = "not_a_preview", 409
    detail = "This is a customer's conversation, so you can't write as the customer."


def open_preview(
    client: Client,
    bot_id: int,
    body: GenerateChatRequest,
    *,
    by: User,
    client_message_id: str | None = None,
) -> Message:
    """Open a preview with these messages; return the last one, to which a reply is coming."""
    bot = bots.get(client, bot_id)
    if not bot.allow_preview:
        raise PreviewOff
    if not body.messages:
        raise Invalid.field("body", "messages", msg="A new chat needs a message.", type="missing")
    _ensure_credits(bot)
    with transaction.atomic():
        # This customer represents the user in all of the user's previews.
        customer, _ = Customer.objects.get_or_create(
            client=by.client,
            external_id=customers.previewer_id(by),
            defaults={"name": by.full_name, "email": by.email},
        )
        existing = _existing_message(customer, client_message_id)
        if existing:
            return existing
        chat = conversations.open_chat(
            bot,
            customer=customer,
            channel="web",
            is_preview=True,
            language=body.language
            or detection.detect(
                body.messages[0].content, default=bot.default_language, offered=bot.languages
            ),
        )
        messages.append_welcome(chat)
        return _append(chat, body, client_message_id)


def continue_chat(
    chat: Conversation,
    body: GenerateChatRequest,
    *,
    client_message_id: str | None = None,
    earlier_result_id: str | None = None,
) -> Message:
    """Add messages to a preview; return the last one. Without messages, in any chat, return the
    customer's latest message, and request a reply if the bot still owes one."""
    if body.messages or _owes_reply(chat):
        _ensure_credits(chat.bot)
    if not body.messages:
        return incoming.request_reply_again(chat, earlier_result_id=earlier_result_id)
    if not chat.is_preview:
        raise NotAPreview
    with transaction.atomic():
        chat = conversations.lock(chat)
        existing = _existing_message(chat.customer, client_message_id)
        if existing:
            return existing
        lifecycle.ensure_not_ended(chat)
        return _append(chat, body, client_message_id)


def _owes_reply(chat: Conversation) -> bool:
    rows = Message.objects.filter(conversation=chat, sender_type=SenderType.CUSTOMER)
    latest = rows.order_by("-seq").first()
    return latest is not None and messages.find_reply(latest) is None


def _ensure_credits(bot: Bot) -> None:
    """Raise 402 if the credits don't cover a reply; a customer's chat would be handed over
    instead."""
    cost = reply_policy.highest_cost(engine_for(bot.client, bot))
    credits.ensure_enough(bot.client_id, cost=cost)


def with_receipt(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn as the client's team sees it, with the reply's receipt."""
    reply = turn["reply"]
    receipts = Message.objects.filter(pk=reply["id"]) if reply else Message.objects.none()
    return GeneratedChat.from_turn(turn, receipts.values_list("receipt", flat=True).first() or {})


def _existing_message(customer: Customer, client_message_id: str | None) -> Message | None:
    """The message that an earlier request with the same `client_message_id` stored, if any."""
    if client_message_id is None:
        return None
    rows = Message.objects.for_client(customer.client)
    return rows.filter(conversation__customer=customer, client_message_id=client_message_id).first()


def _append(
    chat: LockedConversation, body: GenerateChatRequest, client_message_id: str | None
) -> Message:
    """Store the messages; the last one is received like a customer's message and gets a reply."""
    *earlier, last = body.messages
    for item in earlier:
        messages.append(
            chat,
            author=(Author.customer_of if item.role == "user" else Author.bot_of)(chat),
            content=text_content(item.content),
            language=body.language or detection.detect(item.content, default=chat.language),
        )
    message = ConvMessage(
        text=last.content, language=body.language, client_message_id=client_message_id
    )
    return incoming.receive(chat, message).message
