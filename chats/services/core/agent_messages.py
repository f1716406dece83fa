"""Agents' messages to customers, from the desk or through a channel's own operations."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from chats.models import AssignType, Conversation, Message, Status
from chats.services.core import attachments, conversations, lifecycle, messages
from chats.shapes.desk import ManualChatMessageDto
from identity.models import User


def send(
    chat: Conversation,
    body: ManualChatMessageDto,
    *,
    by: User,
    files: Sequence[attachments.StoredFile] = (),
    tag: str | None = None,
) -> Message:
    """Store an agent's message or note. A message assigns a chat that no agent has, and wakes it.

    409 if another agent has the chat, it has ended, or the channel takes no free text any more. A
    `tag` is the channel's own word for what may be sent all the same: then the channel decides.
    """
    metadata: dict[str, Any] = {"channel_tag": tag} if tag else {}
    with transaction.atomic():
        chat = conversations.lock(chat)
        existing = messages.find_existing(
            chat, body.client_message_id, messages.Author.from_user(by), is_note=body.is_note
        )
        if existing:
            return existing  # Repeated request: return the stored message.
        if not body.is_note:
            if tag:
                lifecycle.ensure_not_ended(chat)
            else:
                lifecycle.ensure_can_reply(chat)
            lifecycle.ensure_own_chat(chat, by=by)
            if chat.status == Status.SNOOZED:
                lifecycle.wake(chat)
            if chat.assign_type != AssignType.AGENT:
                lifecycle.to_agent(chat, by, by=by)
        message = messages.append_by_agent(
            chat,
            by=by,
            content=messages.build_content(chat, body, files),
            is_note=body.is_note,
            client_message_id=body.client_message_id,
            metadata=metadata,
        )
        attachments.attach(message, files)
        return message
