"""The live feed: new events of a client's event log, and transient events such as typing.

In each process, one reader per client reads the client's log from PostgreSQL whenever a pub/sub
message says that the log has grown. All streams take events from the reader's buffer. A stream
whose Last-Event-ID is older than the buffer reads the log itself until it has caught up.
"""

import asyncio
import contextlib
import functools
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

from django.conf import settings
from django.db import Error, transaction

from chatplatform import jobs
from chatplatform.api.errors import Invalid
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.live import pubsub
from chatplatform.live.pubsub import Listener
from chatplatform.live.streaming import Events, InThread, ServerSent, StreamEvent
from chats.models import Conversation
from chats.services.core import channel_hooks, presence
from chats.services.desk.feed_limits import FeedSlot
from identity.auth import Principal
from identity.models import Client, Role, User
from webhooks.schemas.webhook import envelope, event_id
from webhooks.services import events

# The maximum number of a client's events in the buffer. A stream that is further behind reads the
# log itself.
BUFFER_SIZE = 1_000
# The maximum number of events that one query reads.
PAGE_SIZE = 200
# The maximum number of transient events that are queued for a slow stream; it loses the oldest.
MAX_TRANSIENT = 500
# An event and its position in the feed.
LogEntry = tuple[int, ServerSent]


def publish(client_id: int, event: str, data: dict[str, Any]) -> None:
    """Send a transient event to all open streams of a client; it is not stored."""
    pubsub.publish(events.feed_channel(client_id), {"event": event, "data": data})


def publish_typing(chat: Conversation, *, by: Principal, is_typing: bool) -> None:
    """Show that the caller is typing in a chat, or has stopped. A key shows the customer as typing,
    unless they are blocked."""
    if not by.user and chat.customer.is_blocked:
        return
    sender = (
        {"type": "agent", "id": str(by.user.pk), "name": by.user.full_name}
        if by.user
        else {"type": "customer", "id": str(chat.customer_id), "name": chat.customer.name}
    )
    publish(
        chat.client_id,
        StreamEvent.TYPING,
        {"conversation_id": str(chat.pk), "sender": sender, "is_typing": is_typing},
    )
    if by.user:
        presence.note_typing(chat, by=by.user, is_typing=is_typing)
    if by.user and chat.channel in MESSAGING_CHANNELS:
        channel_hooks.sender().enqueue_typing(chat, is_typing=is_typing)


def publish_viewing(chat: Conversation, *, by: User, is_viewing: bool) -> None:
    """Show colleagues that the agent is viewing a chat, or has stopped."""
    data = {"user_id": by.pk, "name": by.full_name, "is_viewing": is_viewing}
    publish(chat.client_id, StreamEvent.VIEWING, {"conversation_id": str(chat.pk), **data})


def publish_away(user_id: int) -> None:
    """Show colleagues whether a user is away; if they are back, enqueue the assignment of waiting
    chats."""
    users = User.objects.select_related("client__config")
    user = users.filter(pk=user_id, client__isnull=False).first()
    if user is None:
        return  # The user was deleted.
    assert user.client
    data = {"user_id": user.pk, "is_away": user.is_away}
    publish(user.client.pk, StreamEvent.AWAY, data)
    if not user.is_away:
        with jobs.commit():
            presence.enqueue_assignment(user.client)


def publish_deletion(chat: Conversation) -> None:
    """Tell the open inboxes, once the transaction is committed, that a chat was deleted."""
    deleted = {"conversation_id": str(chat.pk)}
    transaction.on_commit(functools.partial(publish, chat.client_id, StreamEvent.DELETED, deleted))


class Feed(NamedTuple):
    """The events that a stream sends, and a function to call when the stream has ended."""

    follow: Callable[[Listener, InThread], Events]
    end: Callable[[], None]


def events_for(
    user: User,
    *,
    last_event_id: str | None,
    error_location: tuple[str, str],
    is_still_admitted: Callable[[], bool],
) -> Feed:
    """The events of the user's client, after `last_event_id` or from now on. They end when
    `is_still_admitted` returns False or the feed loses its slot (see `feed_limits`).

    422 if `last_event_id` is unknown (`error_location` is where the request contains it), 429 if
    too many feeds are open.
    """
    assert user.client
    client, now = user.client, events.end_of_feed(user.client)
    position = events.position_of(client, last_event_id) if last_event_id else now
    if position is None:
        raise Invalid.field(*error_location, msg="There is no such event: start without one.")
    slot = FeedSlot(user)
    slot.acquire()
    presence.touch(user)

    def may_continue() -> bool:
        return _may_continue(user, is_still_admitted) and slot.renew()

    def follow(listener: Listener, in_thread: InThread) -> Events:
        create_reader = functools.partial(_LogReader, client, listener, in_thread, now)
        return _follow(create_reader, _Stream(user), position, may_continue)

    return Feed(follow, slot.release)


@dataclass(eq=False)
class _Stream:
    """One open stream, with its queue of transient events. `wake` is set when there may be
    something to send."""

    user: User
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    transient: deque[ServerSent] = field(default_factory=lambda: deque(maxlen=MAX_TRANSIENT))


class _LogReader:
    """This process's only reader of a client's log. It ends with its last stream."""

    def __init__(
        self, client: Client, listener: Listener, in_thread: InThread, position: int
    ) -> None:
        self.client = client
        self.listener = listener
        self.in_thread = in_thread
        self.position = position  # the position of the last event that was read
        self.buffer: deque[LogEntry] = deque()
        self.buffer_begins_after = position
        self.streams: set[_Stream] = set()
        self.streams_of: Counter[int] = Counter()  # number of streams in this process, by user id
        self.task: asyncio.Task[None] | None = None

    def add(self, stream: _Stream) -> None:
        self.streams.add(stream)
        self.streams_of[stream.user.pk] += 1
        if self.streams_of[stream.user.pk] == 1:
            self._publish_presence(stream.user, is_online=True)
        if self.task is None or self.task.done():
            self.task = asyncio.get_running_loop().create_task(self._run())

    def remove(self, stream: _Stream) -> None:
        self.streams.discard(stream)
        self.streams_of[stream.user.pk] -= 1
        if not self.streams_of[stream.user.pk]:
            self._publish_presence(stream.user, is_online=False)
        if not self.streams and self.task:
            self.task.cancel()
            _readers.pop(self.client.pk, None)

    def after(self, position: int) -> list[LogEntry] | None:
        """The events after `position`; None if the buffer no longer has all of them."""
        if position < self.buffer_begins_after:
            return None
        # Search backwards from the newest event: most streams lag by only a few events.
        entries = list(takewhile(lambda entry: entry[0] > position, reversed(self.buffer)))
        return entries[::-1]

    async def _run(self) -> None:
        async for message in self.listener.messages(events.feed_channel(self.client.pk)):
            if message and "event" in message:
                self._distribute(message["event"], message["data"])
            else:
                await self._read()

    def _publish_presence(self, user: User, *, is_online: bool) -> None:
        if user.role != Role.VIEWER:
            data = {"user_id": user.pk, "name": user.full_name, "is_online": is_online}
            self.in_thread.threads.submit(publish, self.client.pk, StreamEvent.PRESENCE, data)

    def _distribute(self, event: str, data: dict[str, Any]) -> None:
        """Queue a transient event for every stream."""
        is_offline = event == StreamEvent.PRESENCE and not data["is_online"]
        if is_offline and self.streams_of[data["user_id"]]:
            # The user's last stream in another process has ended, but one is open here.
            online = data | {"is_online": True}
            self.in_thread.threads.submit(publish, self.client.pk, StreamEvent.PRESENCE, online)
        for stream in self.streams:
            stream.transient.append(ServerSent(event, data))
            stream.wake.set()

    async def _read(self) -> None:
        """Read new events into the buffer."""
        while True:
            try:
                entries = await self.in_thread(_read_page, self.client, self.position)
            except Error:
                return  # The database is unavailable. The next message or poll tries again.
            self.buffer.extend(entries)
            while len(self.buffer) > BUFFER_SIZE:
                self.buffer_begins_after = self.buffer.popleft()[0]
            if entries:
                self.position = entries[-1][0]
                for stream in self.streams:
                    stream.wake.set()
            if len(entries) < PAGE_SIZE:
                return


_readers: dict[int, _LogReader] = {}


def _join_reader(stream: _Stream, create_reader: Callable[[], _LogReader]) -> _LogReader:
    """Add the stream to the reader of its client's log, which is created if needed; return the
    reader. There must be no `await` between finding and joining the reader, which could end
    meanwhile."""
    client_id = stream.user.client_id
    assert client_id
    reader = _readers.get(client_id) or create_reader()
    _readers[client_id] = reader
    reader.add(stream)
    return reader


def _read_page(client: Client, after: int) -> list[LogEntry]:
    entries = events.read_feed(client, after, PAGE_SIZE)
    found = [(entry.position, entry.event) for entry in entries]
    return [
        (at, ServerSent(row.type, {**envelope(row), "data": row.data}, event_id(row.pk)))
        for at, row in found
    ]


async def _follow(
    create_reader: Callable[[], _LogReader],
    stream: _Stream,
    position: int,
    may_continue: Callable[[], bool],
) -> Events:
    reader = _join_reader(stream, create_reader)
    in_thread = reader.in_thread
    check_at = time.monotonic() + settings.SSE_REAUTH_SECONDS
    try:
        await reader.listener.wait_until_subscribed()
        online = await in_thread(presence.online, reader.client.pk)
        away = await in_thread(presence.away, reader.client.pk)
        ready = {"user_id": stream.user.pk, "online": sorted(online), "away": sorted(away)}
        yield ServerSent(StreamEvent.READY, ready)
        while True:
            stream.wake.clear()
            entries = reader.after(position)
            if entries is None:
                entries = await in_thread(_read_page, reader.client, position)
                position = position if entries else reader.buffer_begins_after
                stream.wake.set()  # There may be more events than one page.
            for _, event in entries:
                if visible := _visible_to(stream.user, event):
                    yield visible
            position = entries[-1][0] if entries else position
            while stream.transient:
                yield stream.transient.popleft()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(check_at - time.monotonic()):
                    await stream.wake.wait()
            if time.monotonic() >= check_at:
                if not await in_thread(may_continue):
                    return
                check_at = time.monotonic() + settings.SSE_REAUTH_SECONDS
    finally:
        reader.remove(stream)


def _visible_to(user: User, event: ServerSent) -> ServerSent | None:
    """The event as the user may see it: a `notification.created` with only the user's own
    notifications, None if none is theirs; any other event unchanged."""
    if event.event != "notification.created":
        return event
    notifications = event.data["data"]["notifications"]
    own = [notification for notification in notifications if notification["user_id"] == user.pk]
    if not own:
        return None
    return event._replace(data={**event.data, "data": {"notifications": own}})


def _may_continue(user: User, is_still_admitted: Callable[[], bool]) -> bool:
    """Whether the stream may go on. If so, extend the time for which its user counts as online."""
    try:
        if not is_still_admitted():
            return False
    except Error:
        return True  # A brief outage of the database must not end streams.
    presence.touch(user)
    return True
