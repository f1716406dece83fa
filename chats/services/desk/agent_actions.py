"""Agents' actions in a chat: reply, leave a note, mark as read, snooze, end."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import Invalid
from chatplatform.customer_channels import MESSAGING_CHANNELS
from chats.models import Conversation, Message
from chats.services.core import (
    agent_messages,
    attachments,
    channel_hooks,
    conversations,
    lifecycle,
    message_status,
    presence,
)
from chats.shapes import desk as desk_shapes
from identity.models import User

MAX_SNOOZE = timedelta(days=366)


def send(
    chat: Conversation,
    body: desk_shapes.ManualChatMessageDto,
    *,
    by: User,
    files: Sequence[attachments.StoredFile] = (),
) -> Message:
    """Store an agent's message to the customer or a note (see `agent_messages.send`), and show that
    the agent is online and no longer typing."""
    message = agent_messages.send(chat, body, by=by, files=files)
    presence.touch(by)
    if not body.is_note:
        presence.note_typing(chat, by=by, is_typing=False)
    return message


def snooze(chat: Conversation, *, until: datetime, by: User) -> Conversation:
    """Snooze a chat until a time within the next year; 409 if another agent has it."""
    if not timezone.now() < until <= timezone.now() + MAX_SNOOZE:
        raise Invalid.field("body", "until", msg="Must lie in the future, at most a year ahead.")
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.ensure_not_ended(chat)
        lifecycle.ensure_own_chat(chat, by=by)
        lifecycle.snooze(chat, until=until, by=by)
    return chat


def mark_read(chat: Conversation) -> Conversation:
    """Set `unread_count` to 0 and record that the customer's messages have been read."""
    with transaction.atomic():
        message_status.record_read_by_agent(chat)
        chat = conversations.lock(chat)
        if chat.unread_count and chat.channel in MESSAGING_CHANNELS:
            channel_hooks.sender().enqueue_seen(chat)
        chat.unread_count = 0
        chat.save(update_fields=["unread_count"])
    return chat


def end(chat: Conversation, *, by: User | None) -> Conversation:
    """End a chat; `by` is None if the customer ends it. 409 if it has ended already, or if another
    agent has it and the caller is no admin."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.ensure_not_ended(chat)
        if by:
            lifecycle.ensure_own_chat(chat, by=by)
        lifecycle.end(chat, by="agent" if by else "customer", agent=by)
    return chat
