"""The live feed: a client's event log as it grows, beside it what is of the moment only.

One reader a client and process follows the log, however many screens are open; each screen's
stream takes from its buffer. A stream that comes with an older Last-Event-ID reads the log itself
until it has caught up. Pub/sub only says that there is more: the log is read from PostgreSQL.
"""

import asyncio
import functools
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from django.conf import settings
from django.db import Error

from chatplatform.api.errors import Invalid
from chatplatform.web import live
from chatplatform.web.live import Listener
from chatplatform.web.stream_events import StreamEvent
from chatplatform.web.streaming import Events, InThread, ServerSent, StreamingReply
from chats.models import Conversation
from chats.services.core import presence
from identity.auth import Principal
from identity.models import Client, Role, User
from webhooks.services import events
from webhooks.services.events import Position
from webhooks.shapes.webhook import envelope, event_id

KEPT_IN_MEMORY = 1_000  # events of a client that a stream may lag behind without a query
READ_AT_ONCE = 200
LONGEST_QUEUE = 500  # moments a slow reader may lag behind before he misses some
# What was said to be there may have to wait for an older transaction: looked for again so often.
LOOK_AGAIN_SECONDS, LOOKS = 0.05, 20
Entry = tuple[Position, ServerSent]


def say(client_id: int, event: str, data: dict[str, Any]) -> None:
    """Tell a client's open screens something of the moment, such as who is typing."""
    live.publish(events.channel_of(client_id), {"event": event, "data": data})


def say_typing(chat: Conversation, *, by: Principal, is_typing: bool) -> None:
    """Show who is typing in a chat: an agent, or the customer where a key speaks for him."""
    sender = (
        {"type": "agent", "id": str(by.user.pk), "name": by.user.full_name}
        if by.user
        else {"type": "customer", "id": str(chat.customer_id), "name": chat.customer.name}
    )
    say(
        chat.client_id,
        StreamEvent.TYPING,
        {"conversation_id": str(chat.pk), "sender": sender, "is_typing": is_typing},
    )


def stream(
    user: User,
    *,
    last_event_id: str | None,
    named_in: tuple[str, str],
    is_still_admitted: Callable[[], bool],
) -> StreamingReply:
    """A stream of everything that happens at the user's client, from `last_event_id` or now.

    `named_in`: where the request says it, for the refusal of a wrong one.
    """
    assert user.client
    client, now = user.client, events.newest_cursor(user.client)
    position = _place_after(client, last_event_id, named_in) if last_event_id else now
    presence.touch(user)

    def follow(listener: Listener, in_thread: InThread) -> Events:
        begin = functools.partial(_Hub, client, listener, in_thread, now)
        return _follow(begin, _Screen(user), position, is_still_admitted)

    return StreamingReply(follow, as_stream=True, status_of=lambda _: 200)


def _place_after(client: Client, last_event_id: str, named_in: tuple[str, str]) -> Position:
    position = events.place_after(client, last_event_id)
    if position is None:
        raise Invalid.field(*named_in, msg="There is no such event (any more); begin without one.")
    return position


@dataclass(eq=False)
class _Screen:
    """One open stream: wakes when there is more, holds what is of the moment."""

    user: User
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    moments: deque[ServerSent] = field(default_factory=lambda: deque(maxlen=LONGEST_QUEUE))


class _Hub:
    """The one reader of a client's log in this process; ends with its last screen."""

    def __init__(
        self, client: Client, listener: Listener, in_thread: InThread, position: Position
    ) -> None:
        self.client = client
        self.listener = listener
        self.in_thread = in_thread
        self.position = position
        self.begins_after = position
        self.kept: deque[Entry] = deque()
        self.screens: set[_Screen] = set()
        self.present: Counter[int] = Counter()  # screens of each person in this process
        self.task: asyncio.Task[None] | None = None

    def join(self, screen: _Screen) -> None:
        self.screens.add(screen)
        self.present[screen.user.pk] += 1
        if self.present[screen.user.pk] == 1:
            self._tell_presence(screen.user, is_online=True)
        if self.task is None or self.task.done():
            self.task = asyncio.get_running_loop().create_task(self._run())

    def leave(self, screen: _Screen) -> None:
        self.screens.discard(screen)
        self.present[screen.user.pk] -= 1
        if not self.present[screen.user.pk]:
            self._tell_presence(screen.user, is_online=False)
        if not self.screens and self.task:
            self.task.cancel()
            _hubs.pop(self.client.pk, None)

    async def _run(self) -> None:
        async for said in self.listener.messages(events.channel_of(self.client.pk)):
            if said and "event" in said:
                self._hand_out(said)
                continue
            looks = LOOKS if said is not None else 1
            while not await self._read() and looks > 1:
                looks -= 1
                await asyncio.sleep(LOOK_AGAIN_SECONDS)

    def _tell_presence(self, user: User, *, is_online: bool) -> None:
        if user.role != Role.VIEWER:
            about = {"user_id": user.pk, "name": user.full_name, "is_online": is_online}
            self.in_thread.threads.submit(say, self.client.pk, StreamEvent.PRESENCE, about)

    def _hand_out(self, said: dict[str, Any]) -> None:
        data = said["data"]
        went = said["event"] == StreamEvent.PRESENCE and not data["is_online"]
        if went and self.present[data["user_id"]]:
            # Gone from another process, and still here: say so after it.
            again = data | {"is_online": True}
            self.in_thread.threads.submit(say, self.client.pk, StreamEvent.PRESENCE, again)
        moment = ServerSent(said["event"], said["data"])
        for screen in self.screens:
            screen.moments.append(moment)
            screen.wake.set()

    async def _read(self) -> bool:
        """Take what is new; whether there was anything."""
        before = self.position
        while True:
            try:
                found = await self.in_thread(_read_log, self.client, self.position)
            except Error:
                break  # the database is away: the next signal or poll reads on
            self.kept.extend(found)
            while len(self.kept) > KEPT_IN_MEMORY:
                self.begins_after = self.kept.popleft()[0]
            if found:
                self.position = found[-1][0]
                for screen in self.screens:
                    screen.wake.set()
            if len(found) < READ_AT_ONCE:
                break
        return self.position > before

    def after(self, position: Position) -> list[Entry] | None:
        """Kept events after `position`; None where it lies before what is kept."""
        if position < self.begins_after:
            return None
        # From the newest backwards: a stream lags behind by a few at most.
        found = list(takewhile(lambda entry: entry[0] > position, reversed(self.kept)))
        return found[::-1]


_hubs: dict[int, _Hub] = {}


def _join(screen: _Screen, begin: Callable[[], _Hub]) -> _Hub:
    """The hub of the screen's client, with the screen in it.

    Found and joined without a pause for the event loop: in between its last screen might end it.
    """
    client_id = screen.user.client_id
    assert client_id
    hub = _hubs.get(client_id) or begin()
    _hubs[client_id] = hub
    hub.join(screen)
    return hub


def _read_log(client: Client, position: Position) -> list[Entry]:
    rows = events.after(client, position, READ_AT_ONCE)
    return [
        (
            events.cursor_of_event(row),
            ServerSent(row.type, {**envelope(row), "data": row.data}, event_id(row.pk)),
        )
        for row in rows
    ]


async def _follow(
    begin: Callable[[], _Hub],
    screen: _Screen,
    position: Position,
    is_still_admitted: Callable[[], bool],
) -> AsyncIterator[ServerSent]:
    hub = _join(screen, begin)
    check_at = time.monotonic() + settings.FEED_CHECK_SECONDS
    try:
        await hub.listener.wait_until_subscribed()
        online = await hub.in_thread(presence.online, hub.client.pk)
        yield ServerSent(StreamEvent.READY, {"user_id": screen.user.pk, "online": sorted(online)})
        while True:
            screen.wake.clear()
            found = hub.after(position)
            if found is None:
                found = await hub.in_thread(_read_log, hub.client, position)
                position = position if found else hub.begins_after
                screen.wake.set()  # there may be more than one page
            for entry in found:
                position, sent = entry
                if shown := _for(screen.user, sent):
                    yield shown
            while screen.moments:
                yield screen.moments.popleft()
            try:
                await asyncio.wait_for(screen.wake.wait(), max(0, check_at - time.monotonic()))
            except TimeoutError:
                if not await hub.in_thread(_is_there, screen.user, is_still_admitted):
                    return
                check_at = time.monotonic() + settings.FEED_CHECK_SECONDS
    finally:
        hub.leave(screen)


def _for(user: User, sent: ServerSent) -> ServerSent | None:
    """What a person sees of an event: of notifications, his own alone."""
    if sent.event != "notification.created":
        return sent
    own = [one for one in sent.data["data"]["notifications"] if one["user_id"] == user.pk]
    if not own:
        return None
    return sent._replace(data={**sent.data, "data": {"notifications": own}})


def _is_there(user: User, is_still_admitted: Callable[[], bool]) -> bool:
    """Whether the stream may go on; as long as it does, its reader is at the desk."""
    try:
        if not is_still_admitted():
            return False
    except Error:
        return True  # the database is away for a moment: nobody is sent away for that
    presence.touch(user)
    return True
