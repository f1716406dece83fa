"""Who of a client's people is there right now, as Valkey remembers it.

Nothing rests on it but the choice of whom to ask: with Valkey away nobody seems to be there, chats
wait in the queue, and everyone is notified.
"""

import logging
import threading
import time
from typing import Any

import redis
from django.conf import settings

from chatplatform.jobs import enqueue
from identity.models import AssignStrategy, ClientConfig, Role, User

log = logging.getLogger(__name__)
# Seconds that somebody counts as there after a sign of life.
ONLINE_SECONDS = 90
_PAUSE_SECONDS = 2.0  # after a failure: no request waits twice for a Valkey that is away


class _Presence:
    """One sorted set a client: who, by the second of the last sign of life."""

    def __init__(self) -> None:
        self._client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1, max_connections=64
        )
        self._away_until = 0.0

    def touch(self, client_id: int, user_id: int) -> bool:
        """Note a sign of life; whether the user was away before it."""
        now, key = time.time(), f"presence:{client_id}"
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zscore(key, str(user_id))
            pipe.zadd(key, {str(user_id): now})
            pipe.zremrangebyscore(key, "-inf", now - ONLINE_SECONDS)
            pipe.expire(key, ONLINE_SECONDS)
            before = pipe.execute()[0]
        return before is None or before < now - ONLINE_SECONDS

    def online(self, client_id: int) -> set[int]:
        since = time.time() - ONLINE_SECONDS
        found: Any = self._client.zrangebyscore(f"presence:{client_id}", since, "+inf")
        return {int(member) for member in found}

    def is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def rest(self, error: Exception) -> None:
        self._away_until = time.monotonic() + _PAUSE_SECONDS
        log.warning("presence unknown: %s", error)


_presence: _Presence | None = None
_lock = threading.Lock()


def _shared() -> _Presence:
    global _presence  # noqa: PLW0603 - one connection pool a process
    with _lock:
        if _presence is None:
            _presence = _Presence()
        return _presence


def touch(user: User) -> None:
    """A sign of life of a person: online for the next 90 seconds. Never raises.

    Who comes online is asked for what waits, where the client's chats are assigned by strategy.
    """
    if user.role == Role.VIEWER or user.client_id is None:
        return
    shared = _shared()
    if shared.is_away():
        return
    try:
        came = shared.touch(user.client_id, user.pk)
    except (redis.RedisError, OSError) as exc:
        shared.rest(exc)
        return
    if came and _has_strategy(user.client_id):
        enqueue_assignment(user.client_id)


def online(client_id: int) -> set[int]:
    """Ids of the client's people who are there; empty where Valkey cannot tell."""
    shared = _shared()
    if shared.is_away():
        return set()
    try:
        return shared.online(client_id)
    except (redis.RedisError, OSError) as exc:
        shared.rest(exc)
        return set()


def enqueue_assignment(client_id: int) -> None:
    """Have a client's waiting chats handed to whoever is there and has room."""
    enqueue(
        "chats.assign_waiting",
        client_id=client_id,
        ordering_key=f"assign:{client_id}",
        client=client_id,
    )


def _has_strategy(client_id: int) -> bool:
    rows = ClientConfig.objects.filter(client_id=client_id)
    return rows.exclude(assign_strategy=AssignStrategy.MANUAL).exists()
