"""A turn on an open request: the stored message at once, the reply when it comes."""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import Error
from django.http import HttpResponseBase
from rest_framework.request import Request

from chatplatform.api.errors import json_response
from chatplatform.web.live import Listener
from chatplatform.web.stream_events import StreamEvent
from chatplatform.web.streaming import Events, InThread, ServerSent, StreamingReply
from chats.models import AssignType, Conversation, Message, SenderType, Status
from chats.services.core import messages
from chats.services.reply import incoming
from chats.services.reply.streams import ReplyStream
from chats.shapes import message as message_shapes

Shaper = Callable[[dict[str, Any]], dict[str, Any]]


def respond(
    message: Message, *, reply: str, is_new: bool = False, shape: Shaper | None = None
) -> HttpResponseBase:
    """The answer to a stored message: `none`, `async`, `wait` or `stream`.

    `is_new`: stored by this request. `shape` makes what is answered of the turn, where that is not
    the turn itself.
    """
    shape = shape or _as_it_is
    turn = (_new_turn if is_new else turn_of)(message, asked=reply != "none")
    if reply == "stream" or (reply == "wait" and turn["status"] == "pending"):
        return StreamingReply(
            lambda listener, in_thread: _follow(message, turn, shape, listener, in_thread),
            as_stream=reply == "stream",
            status_of=_http_status,
        )
    return json_response(shape(turn), _http_status(turn))


def turn_of(message: Message, *, asked: bool) -> dict[str, Any]:
    """A `ChatTurn`: a customer's message and what became of it; `asked`: a reply was wanted."""
    # In this order: a reply is stored before its job ends.
    is_coming = incoming.is_reply_coming(message)
    reply = messages.find_reply(message)
    now = Conversation.objects.only("assign_type", "handoff_reason", "status")
    chat = now.get(pk=message.conversation_id)
    return _turn(message, reply, chat, asked=asked, is_coming=is_coming)


def _new_turn(message: Message, *, asked: bool) -> dict[str, Any]:
    """The turn at the moment that its message was stored: there is no reply yet."""
    return _turn(message, None, message.conversation, asked=asked, is_coming=True)


def _turn(
    message: Message, reply: Message | None, chat: Conversation, *, asked: bool, is_coming: bool
) -> dict[str, Any]:
    status, reason = _status(reply, chat, asked=asked, is_coming=is_coming)
    return {
        "message": message_shapes.Message.from_row(message),
        "reply": message_shapes.Message.from_row(reply) if reply else None,
        "status": status,
        "handoff_reason": reason,
    }


def _status(
    reply: Message | None, chat: Conversation, *, asked: bool, is_coming: bool
) -> tuple[message_shapes.TurnStatus, str | None]:
    if reply and reply.sender_type == SenderType.BOT:
        return "answered", None
    if reply:
        return "handed_off", (reply.receipt or {}).get("handoff_reason")
    if not asked or chat.status != Status.OPEN or chat.assign_type == AssignType.AGENT:
        return "not_expected", None
    if chat.assign_type == AssignType.QUEUE:
        return "handed_off", chat.handoff_reason
    # A reply is dropped where the chat had another owner meanwhile, and nobody makes another.
    return "pending" if is_coming else "not_expected", None


def asked(request: Request, reply: str = "wait") -> str:
    """How the caller wants the reply; `Accept: text/event-stream` makes a stream of a wait."""
    if reply == "wait" and "text/event-stream" in request.headers.get("Accept", ""):
        return "stream"
    return reply


def _as_it_is(turn: dict[str, Any]) -> dict[str, Any]:
    return turn


def _http_status(turn: dict[str, Any]) -> int:
    return 202 if turn["status"] == "pending" else 200


async def _follow(
    message: Message,
    turn: dict[str, Any],
    shape: Shaper,
    listener: Listener,
    in_thread: InThread,
) -> Events:
    """The turn's events; ends with `done`, at the latest after the longest wait."""
    ends_at = time.monotonic() + settings.REPLY_WAIT_SECONDS
    yield ServerSent(StreamEvent.MESSAGE, turn["message"])
    answered_with: str | None = str(message.pk)
    while answered_with:
        stream, answered_with = ReplyStream(answered_with).name, None
        async for item in listener.follow(stream):
            event, data = item or ("", {})
            if event in {StreamEvent.DELTA, StreamEvent.RESET}:
                yield ServerSent(event, data)
                continue
            if event == StreamEvent.JOINED:
                # A later message of the burst: the reply to it is the reply to this one.
                answered_with = data["message_id"]
                break
            turn = await in_thread(_turn_now, message, turn)
            if turn["status"] != "pending" or time.monotonic() > ends_at:
                break
    yield ServerSent(StreamEvent.DONE, await in_thread(shape, turn))


def _turn_now(message: Message, known: dict[str, Any]) -> dict[str, Any]:
    try:
        return turn_of(message, asked=True)
    except Error:
        return known  # the database is away for a moment: the next look will tell
