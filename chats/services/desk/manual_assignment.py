"""Assignment by people: an agent takes a chat, gives it to a colleague, or returns it. `routing`
assigns by the client's strategy."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chatplatform import jobs
from chatplatform.api.errors import Invalid, StaleVersion
from chats.models import AssignType, Conversation, LockedConversation, Status, text_content
from chats.services.core import conversations, handoffs, lifecycle, messages, staff_notifications
from chats.shapes import desk as desk_shapes
from identity.models import User


def assign(chat: Conversation, body: desk_shapes.ChatAssignDto, *, by: User) -> Conversation:
    """Assign a chat to an agent, the queue or the bot. A chat moves from one agent to another only
    if the request names the new agent or the version that the caller has seen; else 409."""
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
    chat and the caller is no admin."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        bot_is_off = conversations.bot_off_reason(chat.bot)
        _release(chat, AssignType.QUEUE if bot_is_off else AssignType.BOT, by=by)
    return chat


def return_chats_of_agent(user_id: int) -> None:
    """Move a user's chats to the queue if the user is disabled or no longer on the staff by now."""
    gone = User.objects.filter(
        Q(is_disabled=True) | ~Q(role__in=staff_notifications.STAFF), pk=user_id
    )
    rows = Conversation.objects.filter(assignee__in=gone).exclude(status=Status.ENDED)
    for chat in rows.order_by("id"):
        with jobs.commit():
            locked = conversations.lock(chat)
            if rows.filter(pk=locked.pk).exists():
                lifecycle.to_queue(locked, reason="agent_gone")


def _release(chat: LockedConversation, to: str, *, by: User) -> None:
    """Move the chat to the queue or the bot; nothing happens if it is there already."""
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
    """The staff member with this id, or the caller if the request names nobody; else 422."""
    if user_id is None:
        return by
    assert by.client_id
    agent = staff_notifications.staff(by.client_id).filter(pk=user_id).first()
    if agent is None:
        raise Invalid.field("body", "user_id", msg="There is no such agent who could take it.")
    return agent
