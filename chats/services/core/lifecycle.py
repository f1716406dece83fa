"""The life of a conversation: every move of its status and its owner, and nothing else.

Two axes: `status` says whether work is expected, `assign_type` who must act next. Each function is
one move: it refuses what is not allowed, adds 1 to `version`, and announces what happened. Nothing
else writes these columns.
"""

from datetime import datetime
from typing import Any, Literal

from django.utils import timezone

from chatplatform.api.errors import ApiError
from chatplatform.jobs import enqueue
from chats.models import AssignType, Conversation, LockedConversation, Message, SenderType, Status
from chats.services.core import conversations, notifications
from identity.models import User

EndedBy = Literal["customer", "agent", "bot", "inactivity", "api"]


class AgentGone(ApiError):
    """Whoever was to have the chat has just lost the right to."""

    code, status = "agent_gone", 409
    detail = "This person may not have chats any more: choose somebody else."


class BotIsOff(ApiError):
    """The bot is disabled, or its client's people answer in its place."""

    code, status = "bot_disabled", 409
    detail = "The bot does not answer now: leave the chat in the queue or with an agent."


def to_agent(chat: LockedConversation, agent: User, *, by: User | None) -> None:
    """An agent takes it, or is given it by a person or (`by` none) by the client's strategy."""
    ensure_not_ended(chat)
    _hold(agent, chat)
    before = chat.assignee
    _move(
        chat,
        assign_type=AssignType.AGENT,
        assignee=agent,
        assigned_at=timezone.now(),
        return_at=None,
        waiting_since=chat.waiting_since or _unanswered_since(chat),
    )
    conversations.announce_change(chat, "conversation.assigned")
    notifications.notify_assigned(chat, to=agent, by=by)
    if before and before != agent:
        notifications.notify_unassigned(chat, from_=before, by=by)
        conversations.enqueue_assignment(chat)


def to_queue(chat: LockedConversation, *, reason: str, by: User | None = None) -> None:
    """The chat waits for an agent. `desk.routing.choose_agent` chooses one, in a job.

    From the bot only by `handoffs.hand_over`, which also tells the customer.
    """
    ensure_not_ended(chat)
    from_bot, before = chat.assign_type == AssignType.BOT, chat.assignee
    _move(
        chat,
        assign_type=AssignType.QUEUE,
        assignee=None,
        return_at=None,
        handoff_reason=reason if from_bot else chat.handoff_reason or reason,
        waiting_since=chat.waiting_since or timezone.now(),
    )
    if from_bot:
        conversations.announce_change(chat, "conversation.handed_off", reason=reason)
    else:
        conversations.announce_change(chat, "conversation.unassigned")
    if before:
        notifications.notify_unassigned(chat, from_=before, by=by)
    notifications.notify_waiting(chat)
    conversations.enqueue_assignment(chat)


def to_bot(chat: LockedConversation, *, by: User | None) -> None:
    """Back to the bot; 409 `bot_disabled` where it is off."""
    ensure_not_ended(chat)
    if conversations.bot_off_reason(chat.bot):
        raise BotIsOff
    before = chat.assignee
    _move(
        chat,
        assign_type=AssignType.BOT,
        assignee=None,
        return_at=None,
        handoff_reason=None,
        waiting_since=None,
    )
    conversations.announce_change(chat, "conversation.unassigned")
    if before:
        notifications.notify_unassigned(chat, from_=before, by=by)
        conversations.enqueue_assignment(chat)


def snooze(chat: LockedConversation, *, until: datetime) -> None:
    """Nothing is expected until a time, or until the customer writes."""
    ensure_not_ended(chat)
    _move(chat, status=Status.SNOOZED, snoozed_until=until, return_at=None)
    conversations.announce_change(chat, "conversation.snoozed")
    if chat.assignee_id:
        conversations.enqueue_assignment(chat)


def wake(chat: LockedConversation) -> None:
    """A snoozed conversation is open again, with the owner it had."""
    _move(chat, status=Status.OPEN, snoozed_until=None)
    conversations.announce_change(chat, "conversation.reopened")
    if chat.assign_type == AssignType.QUEUE:
        conversations.enqueue_assignment(chat)


def end(chat: LockedConversation, *, by: EndedBy) -> None:
    """The end; who had it stays in the row. What the client asks for follows by a worker."""
    ensure_not_ended(chat)
    _move(
        chat,
        status=Status.ENDED,
        ended_at=timezone.now(),
        ended_by=by,
        snoozed_until=None,
        return_at=None,
        waiting_since=None,
    )
    conversations.announce_change(chat, "conversation.ended")
    config = chat.client.config
    if config.auto_summary or config.auto_tag or config.auto_sentiment:
        enqueue("chats.run_after_end", client_id=chat.client_id, conversation_id=str(chat.pk))
    if chat.assignee_id:
        conversations.enqueue_assignment(chat)


def reopen(chat: LockedConversation) -> None:
    """The customer writes soon after the end: begin again, with the bot where it is on.

    The bot reads nothing of what was said before the end.
    """
    reason = conversations.bot_off_reason(chat.bot)
    _move(
        chat,
        status=Status.OPEN,
        assign_type=AssignType.QUEUE if reason else AssignType.BOT,
        assignee=None,
        handoff_reason=reason,
        waiting_since=timezone.now() if reason else None,
        ended_at=None,
        ended_by=None,
        read_from_seq=chat.last_seq,
    )
    conversations.announce_change(chat, "conversation.reopened")
    if reason:
        notifications.notify_waiting(chat)
        conversations.enqueue_assignment(chat)


def ensure_not_ended(chat: LockedConversation) -> None:
    """409 `chat_ended`."""
    if chat.status == Status.ENDED:
        raise conversations.ChatEnded


def _hold(agent: User, chat: Conversation) -> None:
    """409 `agent_gone` where the agent may have no chat; else he may until this move is made.

    Who locks him out meanwhile waits, and the job that takes his chats away finds this one.
    """
    rows = notifications.staff(chat.client_id).filter(pk=agent.pk)
    if not rows.select_for_update(no_key=True).exists():
        raise AgentGone


def _unanswered_since(chat: Conversation) -> datetime | None:
    """Since when the customer's last word stands there; None where somebody else had it.

    History that was moved in is nobody's word of now.
    """
    said = Message.objects.filter(conversation=chat, is_note=False, sent_at=None)
    last = said.order_by("-seq").first()
    return last.created_at if last and last.sender_type == SenderType.CUSTOMER else None


def _move(chat: LockedConversation, **changes: Any) -> None:
    """Write a move; a reply begun under the version before it will be dropped."""
    for name, value in (changes | {"version": chat.version + 1}).items():
        setattr(chat, name, value)
    chat.save(update_fields=[*changes, "version"])
