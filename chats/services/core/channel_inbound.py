"""What messaging channels report besides customers' new messages, such as edits and reactions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from bots.language import detection
from bots.models import Bot
from chatplatform.customer_channels import MessagingChannel
from chats.models import AssignType, Conversation, Message, SenderType, Status
from chats.services.core import (
    conversations,
    lifecycle,
    message_status,
    messages,
    translations,
)
from chats.services.core.attachments import StoredFile
from chats.shapes.message import ConvMessage, MessageContent
from identity.models import Client


@dataclass(frozen=True)
class ChannelMessage:
    """A message as a provider delivered it."""

    text: str
    provider_message_id: str | None
    # Locations, and files that could not be stored.
    pieces: Sequence[MessageContent] = ()
    files: Sequence[StoredFile] = ()
    in_reply_to: Message | None = None
    # What the channel adds to the text: a button's payload, an advertisement.
    metadata: dict[str, Any] = field(default_factory=dict)


def store_answer_elsewhere(
    chat: Conversation, message: ChannelMessage, *, author_name: str
) -> Message:
    """Store what a person of the client wrote with another tool. If the bot has the chat, the chat
    moves to the queue, so that the bot does not reply as well."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        if locked.status != Status.ENDED and locked.assign_type == AssignType.BOT:
            lifecycle.to_queue(locked, reason="answered_elsewhere")
        content = messages.build_content(
            locked,
            ConvMessage.model_construct(text=message.text, attachments=list(message.pieces)),
            message.files,
        )
        return messages.append(
            locked,
            author=messages.Author(SenderType.AGENT, None, author_name),
            content=content,
            language=detection.detect(message.text, default=locked.language),
            provider_message_id=message.provider_message_id,
            in_reply_to=message.in_reply_to,
            metadata=message.metadata,
        )


def note_referral(chat: Conversation, referral: dict[str, Any]) -> None:
    """Store what led the customer to the chat, such as a link or an advertisement."""
    with transaction.atomic():
        locked = conversations.lock(chat)
        locked.metadata = {**locked.metadata, "referral": referral}
        locked.save(update_fields=["metadata"])


def extend_reply_window(chat: Conversation, until: datetime) -> None:
    """Allow free text until this time; a message that arrives late never shortens the window."""
    rows = Conversation.objects.filter(pk=chat.pk).exclude(reply_window_expires_at__gte=until)
    rows.update(reply_window_expires_at=until)


def set_reachable(chats: QuerySet[Conversation], *, is_reachable: bool) -> None:
    """Record whether the channel's account can send to these chats. Ended chats are updated when
    their customers write again."""
    rows = chats.exclude(status=Status.ENDED).exclude(is_reachable=is_reachable)
    rows.update(is_reachable=is_reachable)


def close_reply_window(chat: Conversation) -> None:
    """Close the reply window now, because the provider reports that it is over."""
    now = timezone.now()
    rows = Conversation.objects.filter(pk=chat.pk).exclude(reply_window_expires_at__lt=now)
    rows.update(reply_window_expires_at=now)


def edit(message: Message, text: str, *, at: datetime) -> None:
    """Replace the text of a message that the customer edited; its files stay. Older edits are
    ignored."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        if row.deleted_at or (row.edited_at and row.edited_at > at):
            return
        messages.replace_text(row, text, at=at)
        translations.enqueue_for_agents(chat, row)
        message_status.announce_message(chat, "message.updated", row)


def unsend(message: Message, *, at: datetime) -> None:
    """Clear a message that the customer unsent: its text and files go, the empty row stays."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        if row.deleted_at:
            return
        messages.clear(row, at=at)
        message_status.announce_message(chat, "message.updated", row)


def react(message: Message, *, reaction: str | None, at: datetime) -> None:
    """Set the customer's reaction to a message, or (None) remove it. Older reactions are
    ignored."""
    with transaction.atomic():
        chat, row = message_status.lock(message)
        if row.customer_reacted_at and row.customer_reacted_at > at:
            return
        is_same = row.customer_reaction == (reaction or "")
        message_status.write(row, customer_reaction=reaction or "", customer_reacted_at=at)
        if not is_same:
            message_status.announce_message(chat, "message.updated", row)


def history(client: Client, *, bot: Bot, channel: MessagingChannel) -> QuerySet[Message]:
    """A bot's messages on a channel without notes, unordered; the caller orders and pages them."""
    rows = Message.objects.for_client(client)
    return rows.filter(conversation__bot=bot, conversation__channel=channel, is_note=False)
