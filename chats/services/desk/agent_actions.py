"""What people do in a chat at their desk: answer, note, read, put it off, end it."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from chatplatform.api.errors import Invalid
from chats.models import AssignType, Conversation, Message, Status
from chats.services.core import conversations, lifecycle, messages, presence
from chats.services.desk import assignment
from chats.shapes import desk as desk_shapes
from identity.models import User

LONGEST_SNOOZE = timedelta(days=366)


def send(chat: Conversation, given: desk_shapes.ManualChatMessageDto, *, by: User) -> Message:
    """Store a person's message to the customer, or an internal note.

    Who answers in a chat of nobody has it from then on, and a snoozed one opens. 409 where another
    agent has it; an admin may answer there without taking it.
    """
    with transaction.atomic():
        chat = conversations.lock(chat)
        known = messages.find_known(
            chat, given.client_message_id, messages.of_person(by), is_note=given.is_note
        )
        if known:
            return known  # said again, and done again nothing
        if not given.is_note:
            lifecycle.refuse_ended(chat)
            assignment.ensure_own_chat(chat, by=by)
            if chat.status == Status.SNOOZED:
                lifecycle.wake(chat)
            if chat.assign_type != AssignType.AGENT:
                lifecycle.to_agent(chat, by, by=by)
        message = messages.append_of_agent(
            chat,
            by=by,
            content=messages.content_of(chat, given),
            is_note=given.is_note,
            client_message_id=given.client_message_id,
        )
    presence.touch(by)
    return message


def snooze(chat: Conversation, *, until: datetime, by: User) -> Conversation:
    """Put a chat off until a time in the coming year; 409 where another agent has it."""
    if not timezone.now() < until <= timezone.now() + LONGEST_SNOOZE:
        raise Invalid.field("body", "until", msg="Must lie in the future, at most a year ahead.")
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.refuse_ended(chat)
        assignment.ensure_own_chat(chat, by=by)
        lifecycle.snooze(chat, until=until)
    return chat


def mark_read(chat: Conversation) -> Conversation:
    """A person has seen what the customer wrote."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        chat.unread_count = 0
        chat.save(update_fields=["unread_count"])
    return chat


def end(chat: Conversation, *, by: User) -> Conversation:
    """An agent ends a chat; 409 where another agent has it."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.refuse_ended(chat)
        assignment.ensure_own_chat(chat, by=by)
        lifecycle.end(chat, by="agent")
    return chat


def end_for_customer(chat: Conversation) -> Conversation:
    """The customer ends it, through a page, a server, or a person who was asked to."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.end(chat, by="customer")
    return chat
