"""The clients for Valkey, with short timeouts, and calls that are fast (`round_trip`) or may fail
(`BestEffort`)."""

import functools
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import redis
import redis.asyncio
from django.conf import settings

Result = TypeVar("Result")
log = logging.getLogger(__name__)
# The errors of a call while Valkey is down.
ERRORS = (redis.RedisError, OSError)
_PAUSE_SECONDS = 2.0


def connect(*, timeout_seconds: float = 1, max_connections: int | None = None) -> redis.Redis:
    """A new client; the caller closes it."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=1,
        max_connections=max_connections,
    )


def connect_async() -> redis.asyncio.Redis:
    """A client for the event loop, without a read timeout, since subscriptions may be idle."""
    return redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1)


def can_save(persistence: Mapping[str, Any]) -> bool:
    """Whether Valkey can write to its disk, judging by its persistence status. If not, it refuses
    all writes."""
    states = ("aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status")
    return all(persistence.get(state, "ok") == "ok" for state in states)


@functools.cache
def shared() -> redis.Redis:
    """The client that all threads of this process share."""
    return connect(max_connections=64)


# Idle connections for `round_trip`. A forked process does not share them with its parent.
_idle = deque[Any]()
os.register_at_fork(after_in_child=_idle.clear)


def round_trip(commands: Sequence[Sequence[Any]]) -> list[Any]:
    """Send commands together and return their responses; raises the first error among them.

    For calls that every request makes: the library's pool would take three times the CPU time. If
    Valkey has closed the idle connection, the commands are sent again on a new one.
    """
    try:
        connection, is_new = _idle.pop(), False
    except IndexError:
        pool = shared().connection_pool
        connection, is_new = pool.connection_class(**pool.connection_kwargs), True
    try:
        responses = _exchange(connection, commands)
    except redis.ConnectionError:
        if is_new:
            raise
        responses = _exchange(connection, commands)
    _idle.append(connection)
    for response in responses:
        if isinstance(response, redis.ResponseError):
            raise response
    return responses


def _exchange(connection: Any, commands: Sequence[Sequence[Any]]) -> list[Any]:
    # The library disconnects after a failure, and connects again before it sends.
    connection.send_packed_command(connection.pack_commands(commands))
    return [_read_response(connection) for _ in commands]


def _read_response(connection: Any) -> Any:
    try:
        return connection.read_response()
    except redis.ResponseError as exc:
        return exc  # the following responses must still be read


class BestEffort:
    """Makes calls that may fail. After a failure, which is logged, calls are skipped for two
    seconds, so that not every request waits for a Valkey that does not respond."""

    def __init__(self, warning: str) -> None:
        self._warning = warning
        self._paused_until = 0.0

    def __call__(self, action: Callable[[redis.Redis], Result], default: Result) -> Result:
        """The action's result; `default` if Valkey is down or calls are skipped."""
        if time.monotonic() < self._paused_until:
            return default
        try:
            return action(shared())
        except ERRORS as exc:
            self._paused_until = time.monotonic() + _PAUSE_SECONDS
            log.warning("%s: %s", self._warning, exc)
            return default
