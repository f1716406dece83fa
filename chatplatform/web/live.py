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
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

import orjson
import redis
import redis.asyncio
from django.conf import settings

from chatplatform.api.encoding import as_json
from chatplatform.api.errors import ApiError

log = logging.getLogger(__name__)
_PREFIX = "live:"
_KEPT_SECONDS = 300
_KEPT_ENTRIES = 5000
_PAUSE_SECONDS = 2.0  # after a failure: no request waits twice for a broker that is away


class BrokerAway(ApiError):
    code, status = "unavailable", 503
    detail = "The message broker is not reachable; try again."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "2"}


class _Publisher:
    def __init__(self) -> None:
        self._client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1, max_connections=64
        )
        self._away_until = 0.0

    def push(self, name: str, event: str, data: dict[str, Any]) -> None:
        key = _PREFIX + name
        with self._best_effort(), self._client.pipeline(transaction=False) as pipe:
            pipe.xadd(
                key,
                {"event": event, "data": as_json(data)},
                maxlen=_KEPT_ENTRIES,
                approximate=True,
            )
            pipe.expire(key, _KEPT_SECONDS)
            pipe.publish(key, b"")
            pipe.execute()

    def signal(self, name: str, data: dict[str, Any]) -> None:
        with self._best_effort():
            self._client.publish(_PREFIX + name, as_json(data))

    def keep(self, name: str, value: bytes, seconds: int) -> None:
        try:
            self._client.set(_PREFIX + name, value, ex=seconds)
        except (redis.RedisError, OSError) as exc:
            raise BrokerAway from exc

    def take(self, name: str) -> bytes | None:
        try:
            found: Any = self._client.getdel(_PREFIX + name)
        except (redis.RedisError, OSError) as exc:
            raise BrokerAway from exc
        return bytes(found) if found is not None else None

    @contextlib.contextmanager
    def _best_effort(self) -> Iterator[None]:
        if time.monotonic() < self._away_until:
            raise _Away
        try:
            yield
        except (redis.RedisError, OSError) as exc:
            self._away_until = time.monotonic() + _PAUSE_SECONDS
            log.warning("live update dropped: %s", exc)


class _Away(Exception):
    """The broker did not answer a moment ago."""


_publisher: _Publisher | None = None
_publisher_lock = threading.Lock()


def _the_publisher() -> _Publisher:
    global _publisher  # noqa: PLW0603 - one connection pool a process
    with _publisher_lock:
        if _publisher is None:
            _publisher = _Publisher()
    return _publisher


def push(name: str, event: str, data: dict[str, Any]) -> None:
    """Add an event to the stream `name`; best effort, never raises, waits 1 s at most."""
    with contextlib.suppress(_Away):
        _the_publisher().push(name, event, data)


def signal(name: str, data: dict[str, Any]) -> None:
    """Say something to whoever listens to `name` at this moment; kept nowhere, as `push` else."""
    with contextlib.suppress(_Away):
        _the_publisher().signal(name, data)


def keep(name: str, value: bytes, *, seconds: int) -> None:
    """Keep a value for a while, for one `take`; 503 with the broker away."""
    _the_publisher().keep(name, value, seconds)


def take(name: str) -> bytes | None:
    """A kept value, which is gone then: of two that come at once, one gets it."""
    return _the_publisher().take(name)


class Listener:
    """One pattern subscription for all the open requests of this process."""

    def __init__(self) -> None:
        self._client = redis.asyncio.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=1, decode_responses=False
        )
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._hearing: dict[str, set[asyncio.Queue[dict[str, Any]]]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._up = asyncio.Event()

    async def wait_until_up(self, seconds: float = 1.0) -> None:
        """Until what is signalled is heard; not longer, for the broker may be away."""
        self._begin()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._up.wait(), seconds)

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
                        if message["type"] == "psubscribe":
                            self._up.set()
                        if message["type"] == "pmessage":
                            self._wake(message["channel"].decode())
                            self._tell(message["channel"].decode(), message["data"])
            except (redis.RedisError, OSError) as exc:
                self._up.clear()
                log.warning("live subscription lost, trying again: %s", exc)
                await asyncio.sleep(0.5)

    def _wake(self, key: str) -> None:
        for event in self._waiting.get(key, ()):
            event.set()

    def _tell(self, key: str, said: bytes) -> None:
        for heard in self._hearing.get(key, ()):
            heard.put_nowait(orjson.loads(said) if said else {})

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

    async def signals(
        self, name: str, *, poll_seconds: float = 5.0
    ) -> AsyncIterator[dict[str, Any] | None]:
        """What `signal` says to `name` from now on; None at least every `poll_seconds`."""
        self._begin()
        key, heard = _PREFIX + name, asyncio.Queue[dict[str, Any]]()
        self._hearing[key].add(heard)
        try:
            yield None  # from here on nothing is missed
            while True:
                said = None
                with contextlib.suppress(TimeoutError):
                    said = await asyncio.wait_for(heard.get(), poll_seconds)
                yield said
        finally:
            self._hearing[key].discard(heard)
            if not self._hearing[key]:
                del self._hearing[key]

    async def _read(self, key: str, position: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
        try:
            entries: Any = await self._client.xrange(key, min=position)
            return list(entries)
        except (redis.RedisError, OSError):
            return []
