"""Clients of Valkey: made here only, each with short timeouts."""

import functools
import logging
import time
from collections.abc import Callable
from typing import TypeVar

import redis
import redis.asyncio
from django.conf import settings

Result = TypeVar("Result")
log = logging.getLogger(__name__)
# What a call may raise while Valkey is away.
ERRORS = (redis.RedisError, OSError)
_PAUSE_SECONDS = 2.0


def connect(*, timeout_seconds: float = 1, max_connections: int | None = None) -> redis.Redis:
    """A client of its own; the caller closes it."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=1,
        max_connections=max_connections,
    )


def connect_async() -> redis.asyncio.Redis:
    """A client for the event loop; a subscription may be silent for any time."""
    return redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1)


@functools.cache
def shared() -> redis.Redis:
    """The client that all threads of this process share."""
    return connect(max_connections=64)


class BestEffort:
    """Runs calls that may be lost: a failure is logged and pauses them.

    During the pause no request waits for a Valkey that did not answer the one before.
    """

    def __init__(self, warning: str) -> None:
        self._warning = warning
        self._paused_until = 0.0

    def __call__(self, action: Callable[[redis.Redis], Result], default: Result) -> Result:
        """The action's result; `default` if Valkey is away."""
        if time.monotonic() < self._paused_until:
            return default
        try:
            return action(shared())
        except ERRORS as exc:
            self._paused_until = time.monotonic() + _PAUSE_SECONDS
            log.warning("%s: %s", self._warning, exc)
            return default
