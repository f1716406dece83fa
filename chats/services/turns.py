"""A turn on an open request: the stored message at once, the reply when it comes."""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import Error
from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform.errors import json_response
from chatplatform.held import Events, Held, InThread, ServerSent
from chatplatform.live import Listener
from chats.models import Message, Turn
from chats.services import messages

Shaper = Callable[[dict[str, Any]], dict[str, Any]]


def respond(message: Message, *, reply: str, shape: Shaper | None = None) -> HttpResponseBase:
    """The answer to a stored message: `none`, `async`, `wait` or `stream`.

    `shape` makes what is answered of the turn, where that is not the turn itself.
    """
    shape = shape or _as_it_is
    turn = messages.first_turn(message, asked=reply != "none")
    if reply == "stream" or (reply == "wait" and turn["status"] == Turn.PENDING):
        return Held(
            lambda listener, in_thread: _follow(message, turn, shape, listener, in_thread),
            as_stream=reply == "stream",
            status_of=_http_status,
        )
    return json_response(shape(turn), _http_status(turn))


def asked(request: Request, reply: str = "wait") -> str:
    """How the caller wants the reply; `Accept: text/event-stream` makes a stream of a wait."""
    if reply == "wait" and "text/event-stream" in request.headers.get("Accept", ""):
        return "stream"
    return reply


def _as_it_is(turn: dict[str, Any]) -> dict[str, Any]:
    return turn


def _http_status(turn: dict[str, Any]) -> int:
    return 202 if turn["status"] == Turn.PENDING else 200


async def _follow(
    message: Message,
    turn: dict[str, Any],
    shape: Shaper,
    listener: Listener,
    in_thread: InThread,
) -> Events:
    """The turn's events; ends with `done`, at the latest after the longest wait."""
    ends_at = time.monotonic() + settings.REPLY_WAIT_SECONDS
    yield ServerSent("message", turn["message"])
    answered_with: str | None = str(message.pk)
    while answered_with:
        stream, answered_with = f"reply:{answered_with}", None
        async for item in listener.follow(stream):
            event, data = item or ("", {})
            if event in {"delta", "reset"}:
                yield ServerSent(event, data)
                continue
            if event == "joined":
                # A later message of the burst: the reply to it is the reply to this one.
                answered_with = data["message_id"]
                break
            turn = await in_thread(_turn_now, message, turn)
            if turn["status"] != Turn.PENDING or time.monotonic() > ends_at:
                break
    yield ServerSent("done", await in_thread(shape, turn))


def _turn_now(message: Message, known: dict[str, Any]) -> dict[str, Any]:
    try:
        return messages.turn_of(message, asked=True)
    except Error:
        return known  # the database is away for a moment: the next look will tell
