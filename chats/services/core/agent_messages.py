"""Agents' messages to customers, sent from the desk or by a channel's own operations."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import ApiError, first_or_404
from chatplatform.channel_names import MESSAGING_CHANNELS
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Message,
    SenderType,
    Status,
)
from chats.schemas.desk import ManualChatMessageDto
from chats.services.core import (
    answer_mails,
    attachments,
    conversations,
    enqueue_translations,
    lifecycle,
    message_status,
    messages,
)
from identity.models import User
from identity.services import audit


class NotLatestMessage(ApiError):
    code, status = "not_latest_message", 409
    detail = "You can only change the latest message you sent in this conversation."


class SentByChannel(ApiError):
    code, status = "sent_by_channel", 409
    detail = "A messaging channel has sent this message, so it can't be changed here."


def send(
    chat: Conversation,
    body: ManualChatMessageDto,
    *,
    by: User,
    files: Sequence[attachments.StoredFile] = (),
    tag: str | None = None,
) -> Message:
    """Store an agent's message or note. A message reopens a snoozed chat. If no agent has the chat,
    the message assigns it to the sender.

    A message raises 409 if the chat has ended, the channel's account cannot send, the reply window
    is closed, or another agent has the chat and the sender is not an admin. With a `tag`, the
    channel's reason for a message outside the window, only the channel checks the window.
    """
    with transaction.atomic():
        chat = conversations.lock(chat)
        author = messages.Author.from_user(by)
        existing = messages.find_existing(
            chat, body.client_message_id, author, is_note=body.is_note
        )
        if existing:
            return existing
        if not body.is_note:
            if tag is None:
                lifecycle.ensure_can_reply(chat)
            else:
                lifecycle.ensure_reachable(chat)
            _claim(chat, by=by)
        message = messages.append_by_agent(
            chat,
            by=by,
            content=messages.build_content(chat, body, files),
            is_note=body.is_note,
            client_message_id=body.client_message_id,
            metadata={"channel_tag": tag} if tag else {},
        )
        attachments.attach(message, files)
        answer_mails.enqueue_for(chat, message)
        return message


def send_template(
    chat: Conversation, template: dict[str, Any], *, by: User, client_message_id: str | None = None
) -> Message:
    """Store a template message, which the channel accepts even if the reply window is closed. It
    reopens and assigns the chat as in `send`."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        existing = messages.find_existing(chat, client_message_id, messages.Author.from_user(by))
        if existing:
            return existing
        lifecycle.ensure_reachable(chat)
        _claim(chat, by=by)
        return messages.append_by_agent(
            chat, by=by, content=[template], client_message_id=client_message_id
        )


def edit(chat: Conversation, message_id: uuid.UUID, text: str, *, by: User) -> Message:
    """Replace the text of the agent's latest message to the customer, who sees that it was edited.
    The message keeps its files, and a new translation is enqueued."""
    with transaction.atomic():
        locked, message = _lock_latest_own(chat, message_id, by=by)
        messages.replace_text(message, text, at=timezone.now())
        language = enqueue_translations.language_of_agent(locked, text)
        message_status.write(message, language=language)
        enqueue_translations.enqueue_for_customer(locked, message)
        _record_change(locked, message, "message.edited", by=by)
    return message


def delete(chat: Conversation, message_id: uuid.UUID, *, by: User) -> Message:
    """Clear the agent's latest message to the customer, who sees that a message was deleted."""
    with transaction.atomic():
        locked, message = _lock_latest_own(chat, message_id, by=by)
        messages.clear(message, at=timezone.now())
        _record_change(locked, message, "message.deleted", by=by)
    return message


def _lock_latest_own(
    chat: Conversation, message_id: uuid.UUID, *, by: User
) -> tuple[LockedConversation, Message]:
    """Lock the chat, and return it with the agent's message. 404 if the chat has no such message,
    409 if the chat has ended or the agent may not change the message."""
    locked = conversations.lock(chat)
    lifecycle.ensure_not_ended(locked)
    rows = Message.objects.filter(conversation=locked, is_note=False)
    message = first_or_404(rows.filter(pk=message_id))
    if locked.channel in MESSAGING_CHANNELS:
        raise SentByChannel
    own_messages = rows.filter(sender_type=SenderType.AGENT, sender_id=str(by.pk), deleted_at=None)
    latest = own_messages.order_by("-seq").first()
    if latest is None or latest.pk != message.pk:
        raise NotLatestMessage
    return locked, message


def _record_change(chat: LockedConversation, message: Message, action: str, *, by: User) -> None:
    """Announce the change, except in previews, and record it in the audit log without the message's
    text."""
    if not chat.is_preview:
        message_status.announce_message(chat, "message.updated", message)
    audit.record(chat.client_id, action, by=by, subject=f"message:{message.pk}")


def _claim(chat: LockedConversation, *, by: User) -> None:
    """Reopen the chat if it is snoozed, and assign it if no agent has it. 409 if it has ended, or
    if another agent has it and the caller is not an admin."""
    lifecycle.ensure_not_ended(chat)
    lifecycle.ensure_own_chat(chat, by=by)
    if chat.status == Status.SNOOZED:
        lifecycle.wake(chat)
    if chat.assign_type != AssignType.AGENT:
        lifecycle.to_agent(chat, by, by=by)
