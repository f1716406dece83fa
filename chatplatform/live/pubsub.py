"""Live updates through Valkey: short streams that open requests follow, messages and signals to
listeners, and values that are stored for one use.

Valkey is not the source of truth: a lost update is not sent again, since the finished message in
PostgreSQL contains the whole text.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Any

import orjson
from django.db import connection, transaction

from chatplatform.json_encoding import as_json
from chatplatform.live import valkey
from chatplatform.live.stopping import Stopping

log = logging.getLogger(__name__)
_PREFIX = "live:"
_STREAM_SECONDS = 300  # how long a stream is kept after its last event
_STREAM_EVENTS = 5000  # about how many of its latest events are kept
MAX_POLLS_PER_SECOND = 100  # by all followers of streams in a process, while no event comes
_PAUSE_SECONDS = 0.5  # before resubscribing after a lost connection

_best_effort = valkey.BestEffort("live update dropped")


class BrokerUnavailable(Exception):
    """Valkey does not respond, and the operation needs it; the API returns a 503."""


def append(stream: str, event: str, data: dict[str, Any]) -> None:
    """Add an event to a stream. Best effort: never raises, waits 1 s at most."""
    key = _PREFIX + stream
    entry = ("event", event, "data", as_json(data))
    _send(
        [
            ("XADD", key, "MAXLEN", "~", _STREAM_EVENTS, "*", *entry),
            ("EXPIRE", key, _STREAM_SECONDS),
            ("PUBLISH", key, b""),
        ]
    )


def publish(channel: str, data: dict[str, Any]) -> None:
    """Send a message to the current listeners without storing it. Best effort, like `append`."""
    _send([("PUBLISH", _PREFIX + channel, as_json(data))])


def _send(commands: Sequence[Sequence[Any]]) -> None:
    _best_effort(lambda _: valkey.round_trip(commands), None)


class _Signals:
    """Signals to the listeners of `channels` that there is more to read."""

    def __init__(self) -> None:
        self.channels: set[str] = set()

    def __call__(self) -> None:
        _send([("PUBLISH", _PREFIX + channel, b"") for channel in self.channels])


def signal_on_commit(*channels: str) -> None:
    """Signal to the listeners, when the transaction commits, that there is more to read.

    Consecutive signals of a transaction are sent together. Best effort, like `append`.
    """
    hooks = connection.run_on_commit
    signals = hooks[-1][1] if hooks else None
    if isinstance(signals, _Signals):
        signals.channels.update(channels)
        return
    signals = _Signals()
    signals.channels.update(channels)
    transaction.on_commit(signals)


def set_on_signal(event: threading.Event, channel: str) -> None:
    """Start a thread that sets an event on every signal of a channel, which saves a loop from
    polling. The thread runs until the process ends."""

    def listen() -> None:
        with valkey.connect().pubsub() as pubsub:  # type: ignore[no-untyped-call]
            pubsub.subscribe(_PREFIX + channel)
            while True:
                # The first message confirms the subscription. It sets the event too, so that the
                # loop finds what was signaled before.
                if pubsub.get_message(timeout=5):
                    event.set()

    def listen_forever() -> None:
        while True:
            try:
                listen()
            except valkey.ERRORS as exc:
                log.warning("subscription lost, trying again: %s", exc)
                time.sleep(_PAUSE_SECONDS)

    threading.Thread(target=listen_forever, name=f"listen-{channel}", daemon=True).start()


def store(name: str, value: bytes, *, seconds: int) -> None:
    """Store a value for some seconds, for one `pop`; 503 if the broker is down."""
    try:
        valkey.shared().set(_PREFIX + name, value, ex=seconds)
    except valkey.ERRORS as exc:
        raise BrokerUnavailable from exc


def pop(name: str) -> bytes | None:
    """Remove and return a stored value, so that only one caller gets it; None if it is missing or
    has expired. 503 if the broker is down."""
    try:
        value: Any = valkey.shared().getdel(_PREFIX + name)
    except valkey.ERRORS as exc:
        raise BrokerUnavailable from exc
    return bytes(value) if value is not None else None


class Listener:
    """The single pattern subscription that serves all open requests of this process."""

    def __init__(self, stopping: Stopping) -> None:
        self.stopping = stopping
        self._client = valkey.connect_async()
        # By key: the followers of a stream, and the inboxes for the messages of a channel.
        self._followers: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._inboxes: dict[str, set[asyncio.Queue[dict[str, Any]]]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._is_subscribed = asyncio.Event()

    async def wait_until_subscribed(self, seconds: float = 1.0) -> None:
        """Wait for the subscription, at most `seconds`, since the broker may be down."""
        self._start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_subscribed.wait()

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        while True:
            try:
                async with self._client.pubsub() as pubsub:
                    # Streams and feeds are named `kind:id`. Channels without an id only wake loops.
                    await pubsub.psubscribe(f"{_PREFIX}*:*")
                    for key in list(self._followers):
                        self._wake(key)
                    async for message in pubsub.listen():
                        if message["type"] == "psubscribe":
                            self._is_subscribed.set()
                        if message["type"] == "pmessage":
                            self._wake(message["channel"].decode())
                            self._deliver(message["channel"].decode(), message["data"])
            except valkey.ERRORS as exc:
                self._is_subscribed.clear()
                log.warning("live subscription lost, trying again: %s", exc)
                await asyncio.sleep(_PAUSE_SECONDS)

    def _wake(self, key: str) -> None:
        for event in self._followers.get(key, ()):
            event.set()

    def _deliver(self, key: str, payload: bytes) -> None:
        for inbox in self._inboxes.get(key, ()):
            inbox.put_nowait(orjson.loads(payload) if payload else {})

    async def follow(
        self, stream: str, *, poll_seconds: float = 1.0
    ) -> AsyncIterator[tuple[str, dict[str, Any]] | None]:
        """Yield the events of a stream from its beginning, as they arrive.

        Yields None if there is no event yet, and whenever none came for `poll_seconds` (longer if
        very many requests wait). The caller then reads the database, so that a reply arrives, if
        later, even while the broker is down.
        """
        self._start()
        key, wake, position, is_quiet = _PREFIX + stream, asyncio.Event(), "-", True
        self._followers[key].add(wake)
        try:
            while True:
                wake.clear()
                entries = await self._read(key, position)
                for entry_id, fields in entries:
                    position = "(" + entry_id.decode()
                    yield fields[b"event"].decode(), orjson.loads(fields[b"data"])
                if is_quiet and not entries:
                    yield None
                is_quiet = False
                try:
                    # Limits the load on the database, however many requests wait.
                    pause = max(poll_seconds, len(self._followers) / MAX_POLLS_PER_SECOND)
                    async with asyncio.timeout(pause):
                        await wake.wait()
                except TimeoutError:
                    is_quiet = True
        finally:
            self._followers[key].discard(wake)
            if not self._followers[key]:
                del self._followers[key]

    async def messages(
        self, channel: str, *, poll_seconds: float = 5.0
    ) -> AsyncIterator[dict[str, Any] | None]:
        """Yield None once at the start, then the messages of a channel, and None after each
        `poll_seconds` without a message."""
        self._start()
        key, inbox = _PREFIX + channel, asyncio.Queue[dict[str, Any]]()
        self._inboxes[key].add(inbox)
        try:
            yield None  # from here on no message is missed
            while True:
                message = None
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(poll_seconds):
                        message = await inbox.get()
                yield message
        finally:
            self._inboxes[key].discard(inbox)
            if not self._inboxes[key]:
                del self._inboxes[key]

    async def _read(self, key: str, position: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
        try:
            entries: Any = await self._client.xrange(key, min=position)
            return list(entries)
        except valkey.ERRORS:
            return []
