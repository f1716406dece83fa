"""The `ChatTurn` of the API: a customer's message and what became of it."""

from typing import Any

from chats.models import AssignType, Conversation, Message, SenderType, Status
from chats.services.core import messages
from chats.services.reply import incoming
from chats.shapes import message as message_shapes


def describe(message: Message, *, reply_requested: bool) -> dict[str, Any]:
    """The turn as it is now."""
    # In this order: a reply is stored before its job ends.
    is_coming = incoming.is_reply_coming(message)
    reply = messages.find_reply(message)
    rows = Conversation.objects.only("assign_type", "handoff_reason", "status")
    chat = rows.get(pk=message.conversation_id)
    status, reason = _status(reply, chat, reply_requested=reply_requested, is_coming=is_coming)
    return _turn(message, reply, status, reason)


def describe_new(message: Message, *, reply_requested: bool) -> dict[str, Any]:
    """The turn at the moment when its message was stored: there is no reply yet."""
    chat = message.conversation
    status, reason = _status(None, chat, reply_requested=reply_requested, is_coming=True)
    return _turn(message, None, status, reason)


def _turn(
    message: Message, reply: Message | None, status: message_shapes.TurnStatus, reason: str | None
) -> dict[str, Any]:
    return {
        "message": message_shapes.Message.from_row(message),
        "reply": message_shapes.Message.from_row(reply) if reply else None,
        "status": status,
        "handoff_reason": reason,
    }


def _status(
    reply: Message | None, chat: Conversation, *, reply_requested: bool, is_coming: bool
) -> tuple[message_shapes.TurnStatus, str | None]:
    if reply and reply.sender_type == SenderType.BOT:
        return "answered", None
    if reply:
        return "handed_off", (reply.receipt or {}).get("handoff_reason")
    if not reply_requested or chat.status != Status.OPEN or chat.assign_type == AssignType.AGENT:
        return "not_expected", None
    if chat.assign_type == AssignType.QUEUE:
        return "handed_off", chat.handoff_reason
    # A reply is dropped if the chat changed hands meanwhile, and no other one is made.
    return "pending" if is_coming else "not_expected", None
