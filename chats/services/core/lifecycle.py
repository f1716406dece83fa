"""All changes to the status, owner and priority of a conversation.

`status` says whether it is open, snoozed or ended; `assign_type` says who must act next. Each
change of status or owner is a move, which adds 1 to `version` and is announced. A change of
priority is announced too, but keeps `version`, so that the reply being written is not dropped. No
other module writes these columns of an existing row.
"""

from datetime import datetime
from typing import Any, ClassVar

from django.utils import timezone

from chatplatform.api.errors import ApiError
from chatplatform.api.schemas import Moment, iso
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.jobs import enqueue
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Message,
    Priority,
    SenderType,
    Status,
)
from chats.schemas.conversation import EndedBy
from chats.schemas.people import Identity
from chats.services.core import channel_hooks, conversations, presence, team_notifications
from identity.models import User


class AgentGone(ApiError):
    code, status = "agent_gone", 409
    detail = "This person can't take conversations anymore. Choose someone else."


class AlreadyAssigned(ApiError):
    code, status = "already_assigned", 409
    more: ClassVar = {"assignee": (Identity, "The agent who has the conversation.")}
    detail = "Another agent already has this conversation."

    def __init__(self, chat: Conversation) -> None:
        assert chat.assignee
        super().__init__(assignee=Identity.from_row(chat.assignee).model_dump())


class ReplyWindowClosed(ApiError):
    code, status = "reply_window_closed", 409
    more: ClassVar = {"reply_window_expires_at": (Moment, "When the reply window closed.")}
    detail = (
        "The channel's reply window has closed. Wait for the customer to write, or send what the"
        " channel allows."
    )


class ChannelNotConnected(ApiError):
    code, status = "channel_not_connected", 409
    detail = "The bot isn't connected to this channel, or must be connected again."


class BotDisabled(ApiError):
    code, status = "bot_disabled", 409
    detail = "The bot is disabled. Leave the conversation in the queue or with an agent."


def to_agent(chat: LockedConversation, agent: User, *, by: User | None) -> None:
    """Assign the chat to an agent; `by` is None if a strategy or another system assigns it."""
    ensure_not_ended(chat)
    _ensure_staff(agent, chat)
    before = chat.assignee
    _move(
        chat,
        assign_type=AssignType.AGENT,
        assignee=agent,
        assigned_at=timezone.now(),
        return_at=None,
        waiting_since=chat.waiting_since or _unanswered_since(chat),
    )
    _announce(chat, "conversation.assigned", by=by)
    team_notifications.notify_assigned(chat, to=agent, by=by)
    if before and before != agent:
        team_notifications.notify_unassigned(chat, from_=before, by=by)
        presence.enqueue_assignment(chat.client)


def to_queue(chat: LockedConversation, *, reason: str, by: User | None = None) -> None:
    """Move the chat to the queue, where it waits for an agent. If the bot has the chat, the caller
    must also tell the customer, as `reply.publishing` and `handoffs.hand_over` do. Otherwise an
    earlier `handoff_reason` stays, and only the event says why the chat is back."""
    ensure_not_ended(chat)
    from_bot, before = chat.assign_type == AssignType.BOT, chat.assignee
    _move(
        chat,
        assign_type=AssignType.QUEUE,
        assignee=None,
        return_at=None,
        handoff_reason=reason if from_bot else chat.handoff_reason or reason,
        handed_off_at=chat.handed_off_at or (timezone.now() if from_bot else None),
        waiting_since=chat.waiting_since or timezone.now(),
    )
    event_type = "conversation.handed_off" if from_bot else "conversation.unassigned"
    _announce(chat, event_type, by=by, reason=reason)
    if before:
        team_notifications.notify_unassigned(chat, from_=before, by=by)
    team_notifications.enqueue_waiting(chat)


def to_bot(chat: LockedConversation, *, by: User | None) -> None:
    """Return the chat to the bot; 409 `bot_disabled` if the bot is off."""
    ensure_not_ended(chat)
    if conversations.bot_off_reason(chat.bot):
        raise BotDisabled
    before = chat.assignee
    _move(
        chat,
        assign_type=AssignType.BOT,
        assignee=None,
        return_at=None,
        handoff_reason=None,
        waiting_since=None,
    )
    _announce(chat, "conversation.unassigned", by=by, reason=None)
    if before:
        team_notifications.notify_unassigned(chat, from_=before, by=by)
        presence.enqueue_assignment(chat.client)


def prioritize(chat: LockedConversation, priority: Priority, *, by: User) -> None:
    """Set the chat's priority, by which lists and assignment strategies sort."""
    chat.priority = priority
    chat.save(update_fields=["priority"])
    _announce(chat, "conversation.prioritized", by=by)


def snooze(chat: LockedConversation, *, until: datetime, by: User) -> None:
    """Pause the chat until a time, or until the customer writes if that is earlier."""
    ensure_not_ended(chat)
    _move(chat, status=Status.SNOOZED, snoozed_until=until, return_at=None)
    _announce(chat, "conversation.snoozed", by=by)
    if chat.assignee_id:
        presence.enqueue_assignment(chat.client)


def wake(chat: LockedConversation, *, by: User | None = None) -> None:
    """Reopen a snoozed conversation; its owner stays the same."""
    _move(chat, status=Status.OPEN, snoozed_until=None)
    _announce(chat, "conversation.reopened", by=by)
    if chat.assign_type == AssignType.QUEUE:
        presence.enqueue_assignment(chat.client)


def end(chat: LockedConversation, *, by: EndedBy, agent: User | None = None) -> None:
    """End the chat; the row keeps its owner. Jobs then create the insights and ask for the rating
    that the client's settings require."""
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
    _announce(chat, "conversation.ended", by=agent)
    config = chat.client.config
    insights = config.auto_summary or config.auto_tag or config.auto_sentiment
    asks_for_rating = config.ask_feedback and not chat.customer.is_blocked
    if (insights or asks_for_rating) and not chat.is_preview:
        enqueue("chats.run_after_end", client_id=chat.client_id, conversation_id=str(chat.pk))
    if chat.assignee_id:
        presence.enqueue_assignment(chat.client)
    if chat.channel in MESSAGING_CHANNELS and asks_for_rating and by != "merged":
        channel_hooks.sender().enqueue_survey(chat)


def reopen(chat: LockedConversation) -> None:
    """Reopen an ended conversation whose customer writes soon after its end. It goes to the bot or,
    if the bot is off, to the queue. The bot ignores the messages from before the reopening."""
    reason = conversations.bot_off_reason(chat.bot)
    _move(
        chat,
        status=Status.OPEN,
        assign_type=AssignType.QUEUE if reason else AssignType.BOT,
        assignee=None,
        handoff_reason=reason,
        handed_off_at=chat.handed_off_at or (timezone.now() if reason else None),
        waiting_since=timezone.now() if reason else None,
        ended_at=None,
        ended_by=None,
        read_from_seq=chat.last_seq,
    )
    _announce(chat, "conversation.reopened")
    if reason:
        team_notifications.enqueue_waiting(chat)


def reopen_for_agent(chat: LockedConversation, *, by: User) -> None:
    """Reopen an ended conversation and assign it to the agent."""
    _ensure_staff(by, chat)
    _move(
        chat,
        status=Status.OPEN,
        assign_type=AssignType.AGENT,
        assignee=by,
        assigned_at=timezone.now(),
        ended_at=None,
        ended_by=None,
        read_from_seq=chat.last_seq,
    )
    _announce(chat, "conversation.reopened", by=by)


def _announce(
    chat: LockedConversation, event_type: str, *, by: User | None = None, **extra: Any
) -> None:
    """Announce a change, with the person who made it, if any."""
    person = Identity.from_row(by).model_dump() if by else None
    conversations.announce_change(chat, event_type, by=person, **extra)


def ensure_not_ended(chat: LockedConversation) -> None:
    """Raise 409 `chat_ended` if the chat has ended."""
    if chat.status == Status.ENDED:
        raise conversations.ChatEnded


def ensure_can_reply(chat: LockedConversation) -> None:
    """Raise 409 if no message can be sent: `chat_ended` if the chat has ended,
    `channel_not_connected` if the channel's account cannot send, `reply_window_closed` if the
    channel's reply window has closed."""
    ensure_not_ended(chat)
    ensure_reachable(chat)
    window_ends_at = chat.reply_window_expires_at
    if window_ends_at and window_ends_at <= timezone.now():
        raise ReplyWindowClosed(reply_window_expires_at=iso(window_ends_at))


def ensure_reachable(chat: LockedConversation) -> None:
    """Raise 409 `channel_not_connected` if the channel's account cannot send, because it was
    disconnected or its token has expired."""
    if not chat.is_reachable:
        raise ChannelNotConnected


def ensure_own_chat(chat: LockedConversation, *, by: User) -> None:
    """Raise 409 `already_assigned` if another agent has the chat and the caller is not an admin."""
    if chat.assignee_id not in {None, by.pk} and not by.is_admin:
        raise AlreadyAssigned(chat)


def _ensure_staff(agent: User, chat: Conversation) -> None:
    """Raise 409 `agent_gone` if the user may not have chats. The lock makes a change to the user's
    rights wait for this move; the job that then returns their chats to the queue finds this chat,
    too."""
    rows = team_notifications.team(chat.client_id).filter(pk=agent.pk)
    if not rows.select_for_update(no_key=True).exists():
        raise AgentGone


def _unanswered_since(chat: Conversation) -> datetime | None:
    """The time of the last message if the customer wrote it, else None. Ignores notes, messages
    added as history, and those that need no reply."""
    rows = Message.objects.filter(conversation=chat, is_note=False, sent_at=None)
    rows = rows.exclude(metadata__contains={"needs_no_reply": True})
    last = rows.order_by("-seq").first()
    return last.created_at if last and last.sender_type == SenderType.CUSTOMER else None


def _move(chat: LockedConversation, **changes: Any) -> None:
    """Write a move with a new version. Replies that began under an older version are dropped."""
    for name, value in (changes | {"version": chat.version + 1}).items():
        setattr(chat, name, value)
    chat.save(update_fields=[*changes, "version"])
