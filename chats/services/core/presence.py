"""Tracks in Valkey which of a client's users are online and which agent is typing in a chat.
Also computes how long agents usually take to answer.

Presence only decides who is assigned and notified. Without Valkey, nobody counts as online, so
chats wait in the queue, and everyone is notified.
"""

import math
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import redis
from django.core.cache import cache

from chatplatform.ids import first_id
from chatplatform.jobs import enqueue
from chatplatform.live import valkey
from chatplatform.sql import fetch_row
from chats.models import Conversation
from identity.models import AssignStrategy, Client, Role, User

# How long a person counts as online after their last activity.
ONLINE_SECONDS = 90
TYPING_SECONDS = 10
_best_effort = valkey.BestEffort("presence unknown")
# The usual wait is computed from the newest `_MAX_EXAMINED` conversations of `_PERIOD`. Agents must
# have answered at least `_MIN_ANSWERED` of them after a handover.
_MAX_EXAMINED, _MIN_ANSWERED, _CACHE_SECONDS = 1_000, 5, 600
_PERIOD = timedelta(days=30)
_USUAL_WAIT = """
    SELECT percentile_cont(0.5) WITHIN GROUP (
        ORDER BY extract(epoch FROM answer.created_at - chat.handed_off_at)
    )
    FROM (
        SELECT id, handed_off_at, is_preview FROM chats_conversation
        WHERE bot_id = %s AND id >= %s ORDER BY id DESC LIMIT %s
    ) AS chat
    CROSS JOIN LATERAL (
        SELECT created_at FROM chats_message
        WHERE conversation_id = chat.id AND sender_type = 'agent' AND NOT is_note
            AND created_at >= chat.handed_off_at
        ORDER BY seq LIMIT 1
    ) AS answer
    WHERE chat.handed_off_at IS NOT NULL AND NOT chat.is_preview
    HAVING count(*) >= %s
"""


def touch(user: User) -> None:
    """Count a person as online for the next 90 seconds; does not fail without Valkey. If they were
    offline before and the client assigns by strategy, the assignment of waiting chats is enqueued.
    Viewers never count as online."""
    client_id = user.client_id
    if user.role == Role.VIEWER or client_id is None:
        return
    was_offline = _best_effort(lambda client: _touch(client, client_id, user.pk), default=False)
    if was_offline:
        enqueue_assignment(Client.objects.select_related("config").get(pk=client_id))


def online(client_id: int) -> set[int]:
    """Ids of the client's users who are online; empty if Valkey is unavailable."""

    def read(client: redis.Redis) -> set[int]:
        members: Any = client.zrangebyscore(_key(client_id), time.time() - ONLINE_SECONDS, "+inf")
        return {int(member) for member in members}

    return _best_effort(read, default=set())


def away(client_id: int) -> set[int]:
    """Ids of the client's users who have set themselves as away, online or not."""
    rows = User.objects.filter(client_id=client_id, is_away=True)
    return set(rows.values_list("pk", flat=True))


def available(client_id: int) -> set[int]:
    """Ids of the client's users who are online and not away."""
    found = online(client_id)
    return found - away(client_id) if found else found


def usual_wait(bot_id: int) -> int | None:
    """The median number of minutes from the handover to an agent's answer in the bot's latest
    chats, cached for ten minutes. None if agents have answered too few of these chats."""

    def compute() -> int:
        begin = first_id(datetime.now(UTC) - _PERIOD)
        row = fetch_row(_USUAL_WAIT, [bot_id, begin, _MAX_EXAMINED, _MIN_ANSWERED])
        return math.ceil(row[0] / 60) if row else 0

    return cache.get_or_set(f"usual-wait:{bot_id}", compute, _CACHE_SECONDS) or None


def note_typing(chat: Conversation, *, by: User, is_typing: bool) -> None:
    """Record for ten seconds that the agent is typing, or record that they have stopped. Does not
    fail without Valkey."""
    key = _typing_key(chat)
    _best_effort(
        lambda client: (
            client.set(key, by.pk, ex=TYPING_SECONDS) if is_typing else client.delete(key)
        ),
        default=None,
    )


def is_agent_typing(chat: Conversation) -> bool:
    """Whether the agent who has the chat is typing in it; the widget polls this."""
    if chat.assignee_id is None:
        return False
    typist = _best_effort(lambda client: client.get(_typing_key(chat)), default=None)
    return typist == str(chat.assignee_id).encode()


def _typing_key(chat: Conversation) -> str:
    return f"typing:{chat.pk}"


def _key(client_id: int) -> str:
    """The key of a sorted set of user ids, scored by the time of the users' last activity in
    seconds."""
    return f"presence:{client_id}"


def _touch(client: redis.Redis, client_id: int, user_id: int) -> bool:
    """Record the user's activity; return whether they were offline before."""
    now, key = time.time(), _key(client_id)
    with client.pipeline(transaction=True) as pipe:
        pipe.zscore(key, str(user_id))
        pipe.zadd(key, {str(user_id): now})
        pipe.zremrangebyscore(key, "-inf", now - ONLINE_SECONDS)
        pipe.expire(key, ONLINE_SECONDS)
        before = pipe.execute()[0]
    return before is None or before < now - ONLINE_SECONDS


def enqueue_assignment(client: Client) -> None:
    """Enqueue the assignment of waiting chats to agents with capacity, if the client assigns by
    strategy."""
    if client.config.assign_strategy != AssignStrategy.MANUAL:
        enqueue(
            "chats.assign_waiting",
            client_id=client.pk,
            ordering_key=f"assign:{client.pk}",
            priority=-1,
            client=client.pk,
        )
