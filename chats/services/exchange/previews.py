"""The staff's preview of a bot: real chats with real replies, marked as previews."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from bots.knowledge import language as languages
from bots.models import Bot
from bots.services import bots
from chatplatform.api import idempotency
from chatplatform.api.errors import ApiError, Invalid
from chats.models import (
    Channel,
    Conversation,
    Customer,
    LockedConversation,
    Message,
    SenderType,
    text_content,
)
from chats.services.core import conversations, lifecycle, messages
from chats.services.reply import incoming
from chats.shapes.generate import GenerateChatRequest, GeneratedChat
from chats.shapes.insight import ChatGptMessage
from chats.shapes.message import ConvMessage
from identity.models import Client, User

PROVIDER = "preview"


class PreviewOff(ApiError):
    code, status = "preview_off", 409
    detail = "This bot's preview is switched off: set allow_preview."


class NotAPreview(ApiError):
    code, status = "not_a_preview", 409
    detail = "This is a customer's chat: nobody speaks in the customer's place."


def begin(client: Client, bot_id: int, given: GenerateChatRequest, *, by: User) -> Message:
    """Open a preview with what was said; the last message, whose reply is under way."""
    bot = bots.get(client, bot_id)
    if not bot.allow_preview:
        raise PreviewOff
    if not given.messages:
        raise Invalid.field("body", "messages", msg="A new chat needs a message.", type="missing")
    with transaction.atomic():
        staff = _staff(by)
        known = _said_before(staff)
        if known:
            return known
        chat = conversations.begin(
            bot,
            customer=staff,
            channel=Channel.API,
            provider=PROVIDER,
            language=given.language or bot.default_language,
        )
        return _say(chat, given)


def go_on(chat: Conversation, given: GenerateChatRequest) -> Message:
    """The next turn of a preview; in a customer's chat, another try at the customer's last word."""
    if not given.messages:
        return incoming.request_reply_again(chat)
    if chat.provider != PROVIDER:
        raise NotAPreview
    with transaction.atomic():
        chat = conversations.lock(chat)
        known = _said_before(chat.customer)
        if known:
            return known
        lifecycle.refuse_ended(chat)
        return _say(chat, given)


def generated(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn as the staff see it, with what the reply took."""
    reply = turn["reply"]
    receipts = Message.objects.filter(pk=reply["id"]) if reply else Message.objects.none()
    return GeneratedChat.from_turn(turn, receipts.values_list("receipt", flat=True).first() or {})


def _staff(user: User) -> Customer:
    """The one who tries the bot, as a customer."""
    customer: Customer = Customer.objects.get_or_create(
        client=user.client,
        external_id=f"staff:{user.pk}",
        defaults={"name": user.full_name, "email": user.email},
    )[0]
    return customer


def _said_before(staff: Customer) -> Message | None:
    """The last message of a request that came before, with the same Idempotency-Key."""
    request_id = idempotency.current_id()
    if request_id is None:
        return None
    rows: QuerySet[Message] = Message.objects.for_client(staff.client)
    return rows.filter(conversation__customer=staff, client_message_id=request_id).first()


def _say(chat: LockedConversation, given: GenerateChatRequest) -> Message:
    *earlier, last = given.messages
    for one in earlier:
        messages.append(
            chat,
            author=_author(chat, one),
            content=text_content(one.content),
            language=given.language or languages.detect(one.content, default=chat.language),
        )
    return incoming.receive(chat, ConvMessage(text=last.content, language=given.language)).message


def _author(chat: Conversation, said: ChatGptMessage) -> messages.Author:
    if said.role == "user":
        return messages.Author(SenderType.CUSTOMER, str(chat.customer_id), chat.customer.name)
    bot: Bot = chat.bot
    return messages.Author(SenderType.BOT, str(bot.pk), bot.bot_name)
