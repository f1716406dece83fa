"""What agents do in a chat: answer, leave a note, read, snooze, end."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import Invalid
from chats.models import AssignType, Conversation, Message, Status
from chats.services.core import conversations, lifecycle, messages, presence
from chats.services.desk import assignment
from chats.shapes import desk as desk_shapes
from identity.models import User

MAX_SNOOZE = timedelta(days=366)


def send(chat: Conversation, body: desk_shapes.ManualChatMessageDto, *, by: User) -> Message:
    """Store an agent's message to the customer, or an internal note.

    A message assigns the chat to its sender if no agent has it, and wakes a snoozed chat. 409 if
    another agent has the chat; an admin may answer there without taking it.
    """
    with transaction.atomic():
        chat = conversations.lock(chat)
        existing = messages.find_existing(
            chat, body.client_message_id, messages.Author.from_user(by), is_note=body.is_note
        )
        if existing:
            return existing  # Repeated request: return the stored message.
        if not body.is_note:
            lifecycle.ensure_not_ended(chat)
            assignment.ensure_own_chat(chat, by=by)
            if chat.status == Status.SNOOZED:
                lifecycle.wake(chat)
            if chat.assign_type != AssignType.AGENT:
                lifecycle.to_agent(chat, by, by=by)
        message = messages.append_by_agent(
            chat,
            by=by,
            content=messages.build_content(chat, body),
            is_note=body.is_note,
            client_message_id=body.client_message_id,
        )
    presence.touch(by)
    return message


def snooze(chat: Conversation, *, until: datetime, by: User) -> Conversation:
    """Snooze a chat until a time in the coming year; 409 if another agent has it."""
    if not timezone.now() < until <= timezone.now() + MAX_SNOOZE:
        raise Invalid.field("body", "until", msg="Must lie in the future, at most a year ahead.")
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.ensure_not_ended(chat)
        assignment.ensure_own_chat(chat, by=by)
        lifecycle.snooze(chat, until=until)
    return chat


def mark_read(chat: Conversation) -> Conversation:
    """Set `unread_count` to 0: the customer's messages have been read."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        chat.unread_count = 0
        chat.save(update_fields=["unread_count"])
    return chat


def end(chat: Conversation, *, by: User) -> Conversation:
    """An agent ends a chat; 409 if another agent has it."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.ensure_not_ended(chat)
        assignment.ensure_own_chat(chat, by=by)
        lifecycle.end(chat, by="agent")
    return chat


def end_for_customer(chat: Conversation) -> Conversation:
    """The customer ends a chat: on a page, by a server, or through an agent on request."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.end(chat, by="customer")
    return chat
