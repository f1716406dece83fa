"""The live feed: a client's event log as it grows, beside it what is of the moment only.

One reader a client and process follows the log, however many screens are open; each screen's
stream takes from its buffer. A stream that comes with an older Last-Event-ID reads the log itself
until it has caught up. Pub/sub only says that there is more: the log is read from PostgreSQL.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from django.db import Error

from chatplatform import live
from chatplatform.api import Principal
from chatplatform.errors import Invalid
from chatplatform.held import Held, InThread, ServerSent
from chatplatform.live import Listener
from chats.models import Conversation
from identity.models import User
from webhooks.services import events

KEPT_IN_MEMORY = 1_000  # events of a client that a stream may lag behind without a query
READ_AT_ONCE = 200
CHECK_SECONDS = 30.0  # how soon a stream ends whose caller lost the right to it
LONGEST_QUEUE = 500  # moments a slow reader may lag behind before he misses some


def say(client_id: int, event: str, data: dict[str, Any], *, user_id: int | None = None) -> None:
    """Tell a client's open screens, or one person's, something of the moment: who is typing."""
    live.signal(events.channel_of(client_id), {"event": event, "data": data, "user_id": user_id})


def say_typing(chat: Conversation, *, by: Principal, is_typing: bool) -> None:
    """Show who is typing in a chat: an agent, or the customer where a key speaks for him."""
    sender = (
        {"type": "agent", "id": str(by.user.pk), "name": by.user.full_name}
        if by.user
        else {"type": "customer", "id": str(chat.customer_id), "name": chat.customer.name}
    )
    say(
        chat.client_id,
        "typing",
        {"conversation_id": str(chat.pk), "sender": sender, "is_typing": is_typing},
    )


def stream(user: User, *, last_event_id: str | None, is_still_admitted: Callable[[], bool]) -> Held:
    """A stream of everything that happens at the user's client, from `last_event_id` or now."""
    assert user.client_id
    position = _position(user, last_event_id)
    client_id = user.client_id

    def follow(listener: Listener, in_thread: InThread) -> AsyncIterator[ServerSent]:
        hub = _hub(client_id, listener, in_thread, position)
        return _follow(hub, user.pk, position, in_thread, is_still_admitted)

    return Held(follow, as_stream=True, status_of=lambda _: 200)


def _position(user: User, last_event_id: str | None) -> int:
    assert user.client
    if not last_event_id:
        return events.newest(user.client)
    position = events.position_of(user.client, last_event_id)
    if position is None:
        raise Invalid.field(
            "header", "Last-Event-ID", msg="There is no such event (any more); begin without one."
        )
    return position


@dataclass(eq=False)
class _Screen:
    """One open stream: wakes when there is more, holds what is of the moment."""

    user_id: int
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    moments: deque[ServerSent] = field(default_factory=lambda: deque(maxlen=LONGEST_QUEUE))


class _Hub:
    """The one reader of a client's log in this process; ends with its last screen."""

    def __init__(
        self, client_id: int, listener: Listener, in_thread: InThread, position: int
    ) -> None:
        self.client_id = client_id
        self.listener = listener
        self.in_thread = in_thread
        self.position = position
        self.begins_after = position
        self.kept: deque[tuple[int, ServerSent]] = deque()
        self.screens: set[_Screen] = set()
        self.task: asyncio.Task[None] | None = None

    def join(self, screen: _Screen) -> None:
        self.screens.add(screen)
        if self.task is None or self.task.done():
            self.task = asyncio.get_running_loop().create_task(self._run())

    def leave(self, screen: _Screen) -> None:
        self.screens.discard(screen)
        if not self.screens and self.task:
            self.task.cancel()
            _hubs.pop(self.client_id, None)

    async def _run(self) -> None:
        async for said in self.listener.signals(events.channel_of(self.client_id)):
            if said and "event" in said:
                self._hand_out(said)
            else:
                await self._read()

    def _hand_out(self, said: dict[str, Any]) -> None:
        moment = ServerSent(said["event"], said["data"])
        for screen in self.screens:
            if said.get("user_id") in {None, screen.user_id}:
                screen.moments.append(moment)
                screen.wake.set()

    async def _read(self) -> None:
        while True:
            try:
                found = await self.in_thread(_read_log, self.client_id, self.position)
            except Error:
                return  # the database is away: the next signal or poll reads on
            for position, sent in found:
                self.kept.append((position, sent))
                self.position = position
            while len(self.kept) > KEPT_IN_MEMORY:
                self.begins_after = self.kept.popleft()[0]
            if found:
                for screen in self.screens:
                    screen.wake.set()
            if len(found) < READ_AT_ONCE:
                return

    def after(self, position: int) -> list[tuple[int, ServerSent]] | None:
        """Kept events after `position`; None where it lies before what is kept."""
        if position < self.begins_after:
            return None
        # From the newest backwards: a stream lags behind by a few at most.
        found = list(takewhile(lambda entry: entry[0] > position, reversed(self.kept)))
        return found[::-1]


_hubs: dict[int, _Hub] = {}


def _hub(client_id: int, listener: Listener, in_thread: InThread, position: int) -> _Hub:
    """The client's hub; only the event loop touches it, so that it needs no lock."""
    hub = _hubs.get(client_id)
    if hub is None:
        hub = _hubs[client_id] = _Hub(client_id, listener, in_thread, position)
    return hub


def _read_log(client_id: int, position: int) -> list[tuple[int, ServerSent]]:
    rows = events.after(client_id, position=position, limit=READ_AT_ONCE)
    return [
        (row.position, ServerSent(row.type, events.payload(row), id=events.public_id(row)))
        for row in rows
    ]


async def _follow(
    hub: _Hub,
    user_id: int,
    position: int,
    in_thread: InThread,
    is_still_admitted: Callable[[], bool],
) -> AsyncIterator[ServerSent]:
    screen = _Screen(user_id)
    hub.join(screen)
    check_at = time.monotonic() + CHECK_SECONDS
    try:
        yield ServerSent("ready", {"retry_ms": 2000})
        while True:
            screen.wake.clear()
            found = hub.after(position)
            if found is None:
                found = await in_thread(_read_log, hub.client_id, position)
                screen.wake.set()  # there may be more than one page
            for position, sent in found:
                yield sent
            while screen.moments:
                yield screen.moments.popleft()
            try:
                await asyncio.wait_for(screen.wake.wait(), max(0, check_at - time.monotonic()))
            except TimeoutError:
                if not await in_thread(is_still_admitted):
                    return
                check_at = time.monotonic() + CHECK_SECONDS
    finally:
        hub.leave(screen)
