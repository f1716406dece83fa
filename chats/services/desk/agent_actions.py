"""Agents' actions in a chat: assign it, release it, reply, add a note, prioritize, snooze, end,
reopen, mark as read. `routing` assigns chats by the client's strategy."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chatplatform import jobs
from chatplatform.api.errors import ApiError, Invalid, NotFound, StaleVersion
from chatplatform.channel_names import MESSAGING_CHANNELS
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Message,
    Priority,
    Status,
    text_content,
)
from chats.schemas import desk as desk_schemas
from chats.services.core import (
    agent_messages,
    attachments,
    channel_hooks,
    conversations,
    customers,
    handoffs,
    lifecycle,
    message_status,
    messages,
    presence,
    team_notifications,
)
from identity.models import User

MAX_SNOOZE = timedelta(days=366)


class ChatContinued(ApiError):
    code, status = "chat_continued", 409
    detail = "The customer has a newer conversation. Reply there."


def send(
    chat: Conversation,
    body: desk_schemas.ManualChatMessageDto,
    *,
    by: User,
    files: Sequence[attachments.StoredFile] = (),
) -> Message:
    """Store an agent's message to the customer or a note (see `agent_messages.send`). Record that
    the agent is online and, after a message, that they are no longer typing."""
    message = agent_messages.send(chat, body, by=by, files=files)
    presence.touch(by)
    if not body.is_note:
        presence.note_typing(chat, by=by, is_typing=False)
    return message


def snooze(chat: Conversation, *, until: datetime, by: User) -> Conversation:
    """Snooze a chat until a time at most 366 days ahead; 409 if the chat has ended, or if another
    agent has it and the caller is not an admin."""
    if not timezone.now() < until <= timezone.now() + MAX_SNOOZE:
        raise Invalid.field("body", "until", msg="Must be in the future, up to a year ahead.")
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.ensure_not_ended(chat)
        lifecycle.ensure_own_chat(chat, by=by)
        lifecycle.snooze(chat, until=until, by=by)
    return chat


def prioritize(chat: Conversation, *, priority: str, by: User) -> Conversation:
    """Set a chat's priority, even if a colleague has the chat; 409 if the chat has ended."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.ensure_not_ended(chat)
        if chat.priority != priority:
            lifecycle.prioritize(chat, Priority(priority), by=by)
    return chat


def reopen(chat: Conversation, *, by: User) -> Conversation:
    """Reopen a chat. A snoozed chat keeps its owner, an ended chat is assigned to the agent, and an
    open chat stays as it is. 409 if another agent has the snoozed chat and the caller is not an
    admin, or if the chat has ended and the customer has a newer one."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        if chat.status == Status.SNOOZED:
            lifecycle.ensure_own_chat(chat, by=by)
            lifecycle.wake(chat, by=by)
        elif chat.status == Status.ENDED:
            newer = Conversation.objects.filter(previous_chat=chat)
            if chat.ended_by == "merged" or newer.exists():
                raise ChatContinued
            lifecycle.reopen_for_agent(chat, by=by)
    return chat


def mark_read(chat: Conversation) -> Conversation:
    """Set `unread_count` to 0 and record that an agent has read the customer's messages. On a
    messaging channel, enqueue a read receipt if there were unread messages."""
    with transaction.atomic():
        message_status.record_read_by_agent(chat)
        chat = conversations.lock(chat)
        if chat.unread_count and chat.channel in MESSAGING_CHANNELS:
            channel_hooks.sender().enqueue_read_receipt(chat)
        chat.unread_count = 0
        chat.save(update_fields=["unread_count"])
    return chat


def end(chat: Conversation, *, by: User | None) -> Conversation:
    """End a chat; `by` is None if the customer ends it. 403 for a blocked customer; 409 if it has
    ended already, or if another agent has it and the caller is not an admin."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        lifecycle.ensure_not_ended(chat)
        if by:
            lifecycle.ensure_own_chat(chat, by=by)
        else:
            customers.ensure_not_blocked(chat.customer)
        lifecycle.end(chat, by="agent" if by else "customer", agent=by)
    return chat


def assign(chat: Conversation, body: desk_schemas.ChatAssignDto, *, by: User) -> Conversation:
    """Assign a chat to an agent, the queue or the bot. 409 if another agent has the chat and the
    caller is not an admin. To take a chat from one agent and assign it to another, an admin must
    send the new agent's id or the version of the chat that they have seen; else 409."""
    agent = _agent_to_assign(by, body.user_id) if body.assign_type == "agent" else None
    with transaction.atomic():
        chat = conversations.lock(chat)
        if body.expected_version not in {None, chat.version}:
            raise StaleVersion(version=chat.version)
        lifecycle.ensure_not_ended(chat)
        is_intended = body.user_id is not None or body.expected_version is not None
        if agent is None:
            _release(chat, body.assign_type, by=by)
        elif chat.assignee_id != agent.pk:
            lifecycle.ensure_own_chat(chat, by=by)
            if chat.assignee_id and not is_intended:
                raise lifecycle.AlreadyAssigned(chat)
            lifecycle.to_agent(chat, agent, by=by)
        if body.return_after_seconds:
            chat.return_at = timezone.now() + timedelta(seconds=body.return_after_seconds)
            chat.save(update_fields=["return_at"])
        if body.note:
            messages.append_by_agent(chat, by=by, content=text_content(body.note), is_note=True)
    return chat


def unassign(chat: Conversation, *, by: User) -> Conversation:
    """Return the chat to the bot, or to the queue if the bot is off. 409 if another agent has the
    chat and the caller is not an admin."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        bot_is_off = conversations.bot_off_reason(chat.bot)
        _release(chat, AssignType.QUEUE if bot_is_off else AssignType.BOT, by=by)
    return chat


def return_chats_of_agent(user_id: int) -> None:
    """Move a user's chats to the queue if the user is disabled or may no longer have chats."""
    unavailable = User.objects.filter(
        Q(is_disabled=True) | ~Q(role__in=team_notifications.ROLES), pk=user_id
    )
    rows = Conversation.objects.filter(assignee__in=unavailable).exclude(status=Status.ENDED)
    for chat in rows.order_by("id"):
        with jobs.commit():
            locked = conversations.lock(chat)
            if rows.filter(pk=locked.pk).exists():
                lifecycle.to_queue(locked, reason="agent_gone")


def _release(chat: LockedConversation, to: str, *, by: User) -> None:
    """Move the chat to the queue or the bot; does nothing if it is already there."""
    lifecycle.ensure_not_ended(chat)
    if chat.assign_type == to:
        return
    lifecycle.ensure_own_chat(chat, by=by)
    if to == AssignType.BOT:
        lifecycle.to_bot(chat, by=by)
    elif chat.assign_type == AssignType.BOT:
        handoffs.hand_over(chat, reason="staff_request", by=by)
    else:
        lifecycle.to_queue(chat, reason="staff_request", by=by)


def _agent_to_assign(by: User, user_id: int | None) -> User:
    """The person with this id, or the caller if there is no id. 404 for a person of another client,
    422 for a person who may not have conversations."""
    if user_id is None:
        return by
    assert by.client_id
    agent = team_notifications.team(by.client_id).filter(pk=user_id).first()
    if agent is None and User.objects.filter(client_id=by.client_id, pk=user_id).exists():
        raise Invalid.field("body", "user_id", msg="This person can't take conversations.")
    if agent is None:
        raise NotFound("No agent with this ID can take it.", field="user_id")
    return agent
