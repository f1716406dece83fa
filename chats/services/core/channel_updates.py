"""Handles what messaging channels report in addition to customers' new messages, such as edits,
reactions and prices."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from bots.language import detection
from bots.models import Bot
from chatplatform.channel_names import MessagingChannel
from chats.models import AssignType, Conversation, LockedConversation, Message, SenderType, Status
from chats.models.message import text_content
from chats.schemas.message import ConvMessage, MessageContent
from chats.services.core import (
    attachments,
    channel_context,
    conversations,
    enqueue_translations,
    lifecycle,
    message_status,
    messages,
)
from chats.services.core.channel_context import Line
from identity.models import Client


@dataclass(frozen=True)
class ChannelMessage:
    """A message as a provider delivered it."""

    text: str
    provider_message_id: str | None
    # Locations, and files that could not be stored.
    parts: Sequence[MessageContent] = ()
    files: Sequence[attachments.StoredFile] = ()
    in_reply_to: Message | None = None
    # What the channel adds to the text, such as a button's payload or an advertisement.
    metadata: dict[str, Any] = field(default_factory=dict)


def store_external_reply(
    chat: Conversation, message: ChannelMessage, *, author_name: str
) -> Message:
    """Store a message that someone on the client's team sent with another tool. If the bot has the
    chat, the chat moves to the queue, so that the bot does not reply as well."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        if locked.status != Status.ENDED and locked.assign_type == AssignType.BOT:
            lifecycle.to_queue(locked, reason="answered_elsewhere")
        content = messages.build_content(
            locked,
            ConvMessage.model_construct(text=message.text, attachments=list(message.parts)),
            message.files,
        )
        reply = messages.append(
            locked,
            author=messages.Author(SenderType.AGENT, None, author_name),
            content=content,
            language=detection.detect(message.text, default=locked.language),
            provider_message_id=message.provider_message_id,
            in_reply_to=message.in_reply_to,
            metadata=message.metadata,
        )
        attachments.attach(reply, message.files)
        return reply


def set_thread_owner(chat: Conversation, *, is_ours: bool) -> None:
    """Move the chat from the bot to the queue when another app takes over the customer's thread at
    the provider. When the thread returns (`is_ours`), move the chat back to the bot if it still
    waits in the queue for this reason and the bot is on. A note says who answers from now on."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        if locked.status == Status.ENDED:
            return
        was_elsewhere = locked.handoff_reason == "answered_elsewhere"
        if not is_ours and locked.assign_type == AssignType.BOT:
            lifecycle.to_queue(locked, reason="answered_elsewhere")
        if not is_ours:
            _append_note(locked, "thread_taken")
        elif was_elsewhere or _is_thread_taken(locked):
            _append_note(locked, "thread_returned")
        may_return = was_elsewhere and locked.assign_type == AssignType.QUEUE
        if is_ours and may_return and not conversations.bot_off_reason(locked.bot):
            lifecycle.to_bot(locked, by=None)


def _is_thread_taken(chat: Conversation) -> bool:
    """Whether another app answers the chat by the newest note about that."""
    notes = Message.objects.filter(
        conversation=chat, is_note=True,
        metadata__lines__0__kind__in=["thread_taken", "thread_returned"],
    )  # fmt: skip
    newest = notes.order_by("-seq").first()
    return newest is not None and newest.metadata["lines"][0]["kind"] == "thread_taken"


def note(chat: Conversation, kind: channel_context.Kind) -> None:
    """Add a note for the agents with a line of this kind."""
    with transaction.atomic():
        _append_note(conversations.lock(chat), kind)


def _append_note(chat: LockedConversation, kind: channel_context.Kind) -> None:
    lines = [Line(kind=kind)]
    metadata = {"lines": lines, "no_words": True}
    messages.append_note(chat, channel_context.to_text(lines), {}, metadata=metadata)


def end_call(message: Message, lines: list[Line], text: str) -> None:
    """Replace the lines of a message about a call that has ended, and the text that they are."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        if row.deleted_at:
            return
        content, metadata = text_content(text), {**row.metadata, "lines": lines}
        message_status.write(row, content=content, text=text, metadata=metadata)
        message_status.announce_message(chat, "message.updated", row)


def note_price(message: Message, *, category: str, charged: int) -> None:
    """Store the provider's price category of a message and how many of its parts are charged. If
    the client has entered a price for the category, the cost is stored too."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        pricing: dict[str, Any] = {"category": category, "charged": charged}
        price = chat.client.config.message_prices.get(category)
        if price is not None:
            pricing["cost"] = round(charged * price, 6)
        message_status.write(row, metadata={**row.metadata, "pricing": pricing})


def note_referral(chat: Conversation, referral: dict[str, Any]) -> None:
    """Store what led the customer to the chat, such as a link or an advertisement."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        locked.metadata = {**locked.metadata, "referral": referral}
        locked.save(update_fields=["metadata"])


def extend_reply_window(chat: Conversation, until: datetime | None) -> None:
    """Allow free text until this time, or indefinitely if it is None. A later stored time is kept,
    so that a message that arrives late does not shorten the window."""
    rows = Conversation.objects.filter(pk=chat.pk)
    if until:
        rows = rows.exclude(reply_window_expires_at__gte=until)
    rows.update(reply_window_expires_at=until)


def set_reachable(chats: QuerySet[Conversation], *, is_reachable: bool) -> None:
    """Record whether the channel's account can send to these chats. Ended chats are left out; an
    ended chat is updated if its customer writes again."""
    rows = chats.exclude(status=Status.ENDED).exclude(is_reachable=is_reachable)
    rows.update(is_reachable=is_reachable)


def set_provider_user_id(chats: QuerySet[Conversation], user_id: str) -> None:
    """Store the id of the chats' customer at the channel's provider."""
    chats.exclude(provider_user_id=user_id).update(provider_user_id=user_id)


def close_reply_window(chat: Conversation) -> None:
    """Close the reply window now, because the provider reports that it has closed."""
    now = timezone.now()
    rows = Conversation.objects.filter(pk=chat.pk).exclude(reply_window_expires_at__lt=now)
    rows.update(reply_window_expires_at=now)


def edit(message: Message, text: str, *, at: datetime) -> None:
    """Replace the text of a message that its sender edited; its files stay. An edit that is older
    than the last one is ignored."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        if row.deleted_at or (row.edited_at and row.edited_at > at):
            return
        messages.replace_text(row, text, at=at)
        if row.sender_type == SenderType.CUSTOMER:
            enqueue_translations.enqueue_for_agents(chat, row)
        message_status.announce_message(chat, "message.updated", row)


def unsend(message: Message, *, at: datetime) -> None:
    """Clear a message that its sender unsent: text and files are removed, the empty row stays."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        if row.deleted_at:
            return
        messages.clear(row, at=at)
        message_status.announce_message(chat, "message.updated", row)


def react(message: Message, *, reaction: str | None, at: datetime) -> None:
    """Set the customer's reaction to a message, or remove it if `reaction` is None. A reaction that
    is older than the last one is ignored."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        if row.customer_reacted_at and row.customer_reacted_at > at:
            return
        is_same = row.customer_reaction == (reaction or "")
        message_status.write(row, customer_reaction=reaction or "", customer_reacted_at=at)
        if not is_same:
            message_status.announce_message(chat, "message.updated", row)


def history(client: Client, *, bot: Bot, channel: MessagingChannel) -> QuerySet[Message]:
    """All messages of a bot's chats on a channel, without notes. They are unordered; the caller
    orders and pages them."""
    rows = Message.objects.for_client(client)
    return rows.filter(conversation__bot=bot, conversation__channel=channel, is_note=False)
