"""What happens right now: short Valkey streams that the open requests of customers read.

Nothing here is the truth. A delta that gets lost is not sent again, because the finished message
in PostgreSQL carries the whole text; pub/sub only says that there is more to read.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import orjson
import redis
import redis.asyncio
from django.conf import settings

log = logging.getLogger(__name__)
_PREFIX = "live:"
_KEPT_SECONDS = 300
_KEPT_ENTRIES = 5000
_PAUSE_SECONDS = 2.0  # after a failure: no request waits twice for a broker that is away


class _Publisher:
    def __init__(self) -> None:
        self._client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1, max_connections=64
        )
        self._away_until = 0.0

    def push(self, name: str, event: str, data: dict[str, Any]) -> None:
        if time.monotonic() < self._away_until:
            return
        key = _PREFIX + name
        try:
            with self._client.pipeline(transaction=False) as pipe:
                pipe.xadd(
                    key,
                    {"event": event, "data": orjson.dumps(data)},
                    maxlen=_KEPT_ENTRIES,
                    approximate=True,
                )
                pipe.expire(key, _KEPT_SECONDS)
                pipe.publish(key, b"")
                pipe.execute()
        except (redis.RedisError, OSError) as exc:
            self._away_until = time.monotonic() + _PAUSE_SECONDS
            log.warning("live update dropped: %s", exc)


_publisher: _Publisher | None = None
_publisher_lock = threading.Lock()


def push(name: str, event: str, data: dict[str, Any]) -> None:
    """Add an event to the stream `name`; best effort, never raises, waits 1 s at most."""
    global _publisher  # noqa: PLW0603 - one connection pool a process
    with _publisher_lock:
        if _publisher is None:
            _publisher = _Publisher()
    _publisher.push(name, event, data)


class Listener:
    """One pattern subscription for all the open requests of this process."""

    def __init__(self) -> None:
        self._client = redis.asyncio.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=1, decode_responses=False
        )
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        while True:
            try:
                async with self._client.pubsub() as pubsub:
                    await pubsub.psubscribe(f"{_PREFIX}*")
                    self._wake_all()
                    async for message in pubsub.listen():
                        if message["type"] == "pmessage":
                            self._wake(message["channel"].decode())
            except (redis.RedisError, OSError) as exc:
                log.warning("live subscription lost, trying again: %s", exc)
                await asyncio.sleep(0.5)

    def _wake(self, key: str) -> None:
        for event in self._waiting.get(key, ()):
            event.set()

    def _wake_all(self) -> None:
        for key in list(self._waiting):
            self._wake(key)

    async def follow(
        self, name: str, *, poll_seconds: float = 1.0
    ) -> AsyncIterator[tuple[str, dict[str, Any]] | None]:
        """The events of a stream from its beginning, as they come.

        Yields None at least every `poll_seconds`, so that the caller can look at the database:
        with the broker away a reply still arrives, only later.
        """
        self._begin()
        key, wake, position = _PREFIX + name, asyncio.Event(), "-"
        self._waiting[key].add(wake)
        try:
            yield None  # from here on nothing is missed: now is the time to look
            while True:
                wake.clear()
                for entry_id, fields in await self._read(key, position):
                    position = "(" + entry_id.decode()
                    yield fields[b"event"].decode(), orjson.loads(fields[b"data"])
                if wake.is_set():
                    continue
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), poll_seconds)
                if not wake.is_set():
                    yield None
        finally:
            self._waiting[key].discard(wake)
            if not self._waiting[key]:
                del self._waiting[key]

    async def _read(self, key: str, position: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
        try:
            entries: Any = await self._client.xrange(key, min=position)
            return list(entries)
        except (redis.RedisError, OSError):
            return []
