"""Agents' messages to customers, from the desk or through a channel's own operations."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from chats.models import AssignType, Conversation, LockedConversation, Message, Status
from chats.services.core import answer_mails, attachments, conversations, lifecycle, messages
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
    """Store an agent's message or note; a message wakes the chat and takes it if no agent has it.
    409 if it has ended, another agent has it, or its reply window is closed. With the channel's
    `tag` for a message outside the window, the channel decides."""
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
            _take(chat, by=by)
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
    wakes and takes the chat as `send` does."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        existing = messages.find_existing(chat, client_message_id, messages.Author.from_user(by))
        if existing:
            return existing
        _take(chat, by=by)
        return messages.append_by_agent(
            chat, by=by, content=[template], client_message_id=client_message_id
        )


def _take(chat: LockedConversation, *, by: User) -> None:
    """Wake the chat and, if no agent has it, assign it; 409 if it ended or another agent has it."""
    lifecycle.ensure_not_ended(chat)
    lifecycle.ensure_own_chat(chat, by=by)
    if chat.status == Status.SNOOZED:
        lifecycle.wake(chat)
    if chat.assign_type != AssignType.AGENT:
        lifecycle.to_agent(chat, by, by=by)
