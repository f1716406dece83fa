"""The response to a customer's message: with the reply, as a stream, or before the reply."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponseBase

from chatplatform.api.errors import json_response
from chatplatform.live.pubsub import Listener
from chatplatform.live.streaming import Events, InThread, ServerSent, StreamEvent, StreamingReply
from chats.services.reply import incoming
from chats.services.reply.incoming import Turn
from chats.services.reply.streams import ReplyStream

# The maximum number of a client's requests in this process that wait for replies. Further requests
# are answered `pending` at once.
MAX_WAITING_PER_CLIENT = 1_000
_waiting = Counter[int]()
Shaper = Callable[[dict[str, Any]], dict[str, Any]]


def as_it_is(shown: dict[str, Any]) -> dict[str, Any]:
    """The shaper for callers who may see all fields."""
    return shown


def respond(
    request: HttpRequest,
    turn: Turn,
    *,
    reply: str = "wait",
    shape: Shaper = as_it_is,
    message_shape: Shaper = as_it_is,
) -> HttpResponseBase:
    """The response to a stored message; `reply` is `none`, `async`, `wait` or `stream`.

    `shape` turns the `ChatTurn` into the body, and `message_shape` turns the message into the first
    event of a stream; by default both stay unchanged. A caller that accepts `text/event-stream`
    gets a stream for `wait`.
    """
    if reply == "wait" and "text/event-stream" in request.headers.get("Accept", ""):
        reply = "stream"
    if reply == "stream" or (reply == "wait" and turn.shown["status"] == "pending"):
        return StreamingReply(
            lambda listener, in_thread: _follow(turn, (shape, message_shape), listener, in_thread),
            as_stream=reply == "stream",
            status_of=_http_status,
        )
    return json_response(shape(turn.shown), _http_status(turn.shown))


def _http_status(turn: dict[str, Any]) -> int:
    return 202 if turn["status"] == "pending" else 200


async def _follow(
    turn: Turn,
    shapes: tuple[Shaper, Shaper],
    listener: Listener,
    in_thread: InThread,
) -> Events:
    """Yield the turn's events, ending with `done`.

    The stream ends after at most `REPLY_WAIT_SECONDS`, or soon after the process was told to stop.
    """
    shape, message_shape = shapes
    message, shown = turn
    client_id = message.client_id
    _waiting[client_id] += 1
    has_room = _waiting[client_id] <= MAX_WAITING_PER_CLIENT
    ends_at = time.monotonic() + (settings.REPLY_WAIT_SECONDS if has_room else 0)
    try:
        yield ServerSent(StreamEvent.MESSAGE, message_shape(shown["message"]))
        answered_with: str | None = str(message.pk)
        is_current = True  # the turn was read just before
        while answered_with:
            stream, answered_with = ReplyStream(answered_with).name, None
            async for item in listener.follow(stream):
                event, data = item or ("", {})
                if event in {StreamEvent.DELTA, StreamEvent.RESET}:
                    yield ServerSent(event, data)
                    continue
                if event == StreamEvent.JOINED:
                    # A later message joined this one: the reply to it answers both.
                    answered_with = data["message_id"]
                    break
                if event or not is_current:
                    shown = await in_thread(_refresh, turn)
                is_current = False
                if shown["status"] != "pending":
                    break
                if time.monotonic() > min(ends_at, listener.stopping.ends_at):
                    break
        done = shown if shape is as_it_is else await in_thread(shape, shown)
        yield ServerSent(StreamEvent.DONE, done)
    finally:
        _waiting[client_id] -= 1
        if not _waiting[client_id]:
            del _waiting[client_id]


def _refresh(turn: Turn) -> dict[str, Any]:
    """The turn with its current outcome."""
    try:
        return turn.shown | incoming.outcome(turn.message)
    except Error:
        return turn.shown  # The database is unavailable; the next round tries again.
