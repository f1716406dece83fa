"""Routing: assigns waiting chats to agents by the client's strategy (`choose_agent`)."""

from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from bots.models import Bot
from bots.services import business_hours
from chatplatform.api.errors import NotFound
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Notification,
    NotificationKind,
    Status,
)
from chats.services.core import conversations, lifecycle, presence, team_notifications
from identity.models import AssignStrategy, ClientConfig, Role, User

# The maximum number of chats that one call assigns; the others wait for the next call.
BATCH = 200


def choose_agent(chat: Conversation, config: ClientConfig, online: set[int]) -> User | None:
    """The agent who gets a waiting chat; None if no agent has capacity. The agent who had the chat
    last, and lost it or gave it up, gets it again only if no other agent has capacity."""
    agents = _agents_with_capacity(config, online)
    rows = Notification.objects.filter(conversation=chat, kind=NotificationKind.UNASSIGNED)
    last_owner = rows.order_by("-id").values_list("user_id", flat=True).first()
    others = [agent for agent in agents if agent.pk != last_owner]
    return next(iter(others or agents), None)


def _agents_with_capacity(config: ClientConfig, online: set[int]) -> list[User]:
    """Agents who are online, not away and below their capacity; the strategy's first choice comes
    first. If nobody at the client has the role agent, its admins and owners count as agents."""
    team = team_notifications.team(config.client_id)
    agents = team.filter(role=Role.AGENT)
    last = Notification.objects.filter(user=OuterRef("pk"), kind=NotificationKind.ASSIGNED)
    # The filter fits the index of open chats; an agent may have many ended chats.
    owned = Conversation.objects.filter(
        client=config.client_id,
        assign_type=AssignType.AGENT,
        assignee=OuterRef("pk"),
        status=Status.OPEN,
        is_preview=False,
    )
    counted = owned.values("assignee").annotate(count=Count("pk")).values("count")
    candidates: Any = (agents if agents.exists() else team).annotate(
        open_chats=Coalesce(Subquery(counted), 0),
        last_assigned_at=Subquery(last.order_by("-id").values("created_at")[:1]),
    )
    least_busy = config.assign_strategy == AssignStrategy.LEAST_BUSY
    return sorted(
        (user for user in candidates.filter(pk__in=online, is_away=False)
         if user.open_chats < config.agent_capacity),
        key=lambda user: (
            user.open_chats if least_busy else 0,
            user.last_assigned_at is not None,
            user.last_assigned_at or user.created_at,
            user.pk,
        ),
    )  # fmt: skip


def assign_waiting(client_id: int) -> None:
    """Assign a client's waiting chats by priority, then by wait, until no agent has capacity."""
    # Read before any row is locked: Valkey may take a second to fail.
    online = presence.online(client_id)
    if not online:
        return
    rows = _waiting().filter(client_id=client_id).exclude(bot__in=_closed_bots(client_id))
    urgent_first = conversations.RANK.desc()
    for chat in rows.order_by(urgent_first, "waiting_since", "id")[:BATCH]:
        if not _assign(chat, online):
            return


def _closed_bots(client_id: int) -> list[Bot]:
    """The client's bots that are outside their business hours now. Their chats are not assigned
    until the next opening."""
    now = timezone.now()
    config = ClientConfig.objects.select_related("client").get(client=client_id)
    rows = Bot.objects.filter(client_id=client_id).only("business_hours", "holidays")
    return [bot for bot in rows if not business_hours.is_open(config, bot, now)]


def clients_with_waiting() -> list[int]:
    """Clients that assign by strategy and have waiting chats."""
    rows = _waiting().exclude(client__config__assign_strategy=AssignStrategy.MANUAL)
    return list(rows.values_list("client_id", flat=True).distinct())


def _waiting() -> QuerySet[Conversation]:
    return Conversation.objects.filter(
        assign_type=AssignType.QUEUE, status=Status.OPEN, is_preview=False
    )


def _assign(row: Conversation, online: set[int]) -> bool:
    """Assign one chat; False if neither this chat nor any chat after it can be assigned."""
    with transaction.atomic():
        # The config is locked, so that two calls for the same client never use the same capacity.
        config = ClientConfig.objects.select_for_update(no_key=True).get(client_id=row.client_id)
        if config.assign_strategy == AssignStrategy.MANUAL:
            return False
        chat = _lock_if_waiting(row)
        if chat is None:
            return True
        agent = choose_agent(chat, config, online)
        if agent is None:
            return False
        # If the agent has just lost the right to have chats, the timer soon chooses another agent.
        with suppress(lifecycle.AgentGone):
            lifecycle.to_agent(chat, agent, by=None)
    return True


def _lock_if_waiting(row: Conversation) -> LockedConversation | None:
    """Lock the chat and return it; None if it no longer waits, or was deleted."""
    try:
        chat = conversations.lock(row)
    except NotFound:
        return None
    is_waiting = chat.assign_type == AssignType.QUEUE and chat.status == Status.OPEN
    return chat if is_waiting else None
