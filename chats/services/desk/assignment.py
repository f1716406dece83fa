"""Assignment: who has a chat, by people's wish or by the client's strategy."""

import uuid
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from chatplatform.api.errors import ApiError, Invalid, StaleVersion
from chatplatform.jobs import hold_lease
from chats.models import (
    AssignType,
    Conversation,
    Notification,
    NotificationKind,
    Status,
    text_content,
)
from chats.services.core import (
    conversations,
    handoffs,
    lifecycle,
    messages,
    notifications,
    presence,
)
from chats.shapes import desk as desk_shapes
from chats.shapes.people import Identity
from identity.models import AssignStrategy, ClientConfig, Role, User

# Chats that one job hands out; what is left waits for the next.
BATCH = 200


class AlreadyAssigned(ApiError):
    """Another agent has it; field `assignee`: who."""

    code, status = "already_assigned", 409
    detail = "Another agent has this chat."

    def __init__(self, chat: Conversation) -> None:
        assert chat.assignee
        super().__init__(assignee=Identity.from_row(chat.assignee).model_dump())


def assign(chat: Conversation, given: desk_shapes.ChatAssignDto, *, by: User) -> Conversation:
    """Give a chat to an agent, the queue or the bot, as its reader asks.

    What is with another agent is moved only by that agent or an admin, and only where the request
    shows that it is meant: it names the agent, or the version that was seen.
    """
    agent = _agent(by, given.user_id) if given.assign_type == "agent" else None
    with transaction.atomic():
        chat = conversations.lock(chat)
        if given.expected_version not in {None, chat.version}:
            raise StaleVersion(version=chat.version)
        lifecycle.refuse_ended(chat)
        is_meant = given.user_id is not None or given.expected_version is not None
        if agent is None:
            _release(chat, given.assign_type, by=by)
        elif chat.assignee_id != agent.pk:
            _refuse_taking_from_another(chat, by=by, is_meant=is_meant)
            lifecycle.to_agent(chat, agent, by=by)
        if agent and given.return_after_seconds:
            chat.return_at = timezone.now() + timedelta(seconds=given.return_after_seconds)
            chat.save(update_fields=["return_at"])
        if given.note:
            messages.append_of_agent(chat, by=by, content=text_content(given.note), is_note=True)
    return chat


def unassign(chat: Conversation, *, by: User) -> Conversation:
    """Back to the bot, or to the queue where the bot is off; 409 where another agent has it."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        _release(
            chat,
            AssignType.QUEUE if conversations.why_off(chat.bot) else AssignType.BOT,
            by=by,
        )
    return chat


def release(user_id: int) -> None:
    """Back to the queue with the chats of a person who may have none any more.

    Who was let in again meanwhile keeps what he has.
    """
    gone = User.objects.filter(Q(is_disabled=True) | ~Q(role__in=notifications.STAFF), pk=user_id)
    rows = Conversation.objects.filter(assignee__in=gone).exclude(status=Status.ENDED)
    for chat in rows.order_by("id"):
        with transaction.atomic():
            hold_lease()
            locked = conversations.lock(chat)
            if rows.filter(pk=locked.pk).exists():
                lifecycle.to_queue(locked, reason="agent_gone")


def ensure_own_chat(chat: Conversation, *, by: User) -> None:
    """409 where another agent has the chat and the caller is no admin; `chat` is locked."""
    _refuse_taking_from_another(chat, by=by, is_meant=True)


def _release(chat: Conversation, to: str, *, by: User) -> None:
    """To the queue or the bot; nothing happens where it is there already."""
    lifecycle.refuse_ended(chat)
    if chat.assign_type == to:
        return
    ensure_own_chat(chat, by=by)
    if to == AssignType.BOT:
        lifecycle.to_bot(chat, by=by)
    elif chat.assign_type == AssignType.BOT:
        handoffs.hand_over(chat, reason="staff_request", by=by)
    else:
        lifecycle.to_queue(chat, reason="staff_request", by=by)


def _refuse_taking_from_another(chat: Conversation, *, by: User, is_meant: bool) -> None:
    if chat.assignee_id is None:
        return
    may = by.is_admin or chat.assignee_id == by.pk
    if not (may and is_meant):
        raise AlreadyAssigned(chat)


def _agent(by: User, user_id: int | None) -> User:
    """Who is to have it: one of the client's people who may; the caller where nobody is named."""
    if user_id is None:
        return by
    assert by.client_id
    found = notifications.staff(by.client_id).filter(pk=user_id).first()
    if found is None:
        raise Invalid.field("body", "user_id", msg="There is no such agent who could take it.")
    return found


# --- by the client's strategy -------------------------------------------------------------------


def assign_waiting(client_id: int) -> None:
    """Hand waiting chats to agents who are online and below their capacity, oldest first."""
    # Asked before any row is locked: Valkey may be slow to say that it is away.
    online = presence.online(client_id)
    for chat_id in _waiting(client_id)[:BATCH] if online else []:
        if not _assign_one(client_id, chat_id, online):
            return


def clients_with_waiting() -> list[int]:
    """Clients with a strategy whose queue is not empty."""
    rows = Conversation.objects.filter(assign_type=AssignType.QUEUE, status=Status.OPEN)
    rows = rows.exclude(client__config__assign_strategy=AssignStrategy.MANUAL)
    return list(rows.values_list("client_id", flat=True).distinct())


def _waiting(client_id: int) -> "QuerySet[Conversation, uuid.UUID]":
    rows = Conversation.objects.filter(
        client_id=client_id, assign_type=AssignType.QUEUE, status=Status.OPEN
    )
    return rows.order_by("waiting_since", "id").values_list("pk", flat=True)


def _assign_one(client_id: int, chat_id: uuid.UUID, online: set[int]) -> bool:
    """Find an agent for one chat; False where nobody has room."""
    with transaction.atomic():
        # One hand for all of a client's chats: two at once would count the same room twice.
        config = ClientConfig.objects.select_for_update(no_key=True).get(client_id=client_id)
        if config.assign_strategy == AssignStrategy.MANUAL:
            return False
        agents = _with_room(config, online)
        if not agents:
            return False
        found = Conversation.objects.filter(pk=chat_id).first()
        if found is None:
            return True
        chat = conversations.lock(found)
        if chat.assign_type == AssignType.QUEUE and chat.status == Status.OPEN:
            # Who is being locked out at this moment: the schedule looks for another soon.
            with suppress(lifecycle.AgentGone):
                lifecycle.to_agent(chat, _first_choice(chat, agents), by=None)
    return True


def _with_room(config: ClientConfig, online: set[int]) -> list[User]:
    """Agents who are online and below their capacity, the strategy's first choice first.

    Where a client has nobody of the role agent, its admins and owners are its agents.
    """
    people = notifications.staff(config.client_id)
    agents = people.filter(role=Role.AGENT)
    last = Notification.objects.filter(user=OuterRef("pk"), kind=NotificationKind.ASSIGNED)
    ranked: Any = (agents if agents.exists() else people).annotate(
        has=Count("conversation", filter=Q(conversation__status=Status.OPEN)),
        last_at=Subquery(last.order_by("-id").values("created_at")[:1]),
    )
    busy_first = config.assign_strategy == AssignStrategy.LEAST_BUSY
    return sorted(
        (user for user in ranked.filter(pk__in=online) if user.has < config.agent_capacity),
        key=lambda user: (
            user.has if busy_first else 0,
            user.last_at is not None,
            user.last_at or user.created_at,
            user.pk,
        ),
    )


def _first_choice(chat: Conversation, agents: list[User]) -> User:
    """The first of them who has not just let this chat go."""
    rows = Notification.objects.filter(conversation=chat, kind=NotificationKind.UNASSIGNED)
    left = rows.order_by("-id").values_list("user_id", flat=True).first()
    return next((agent for agent in agents if agent.pk != left), agents[0])
