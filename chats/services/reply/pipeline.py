"""The bot's reply: decided once, said once, or left to a person."""

import logging
from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError

from chatplatform import jobs
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Message,
    SenderType,
    Status,
    text_content,
)
from chats.services.core import conversations, handoffs, messages
from chats.services.reply import billing, confirmations, decide
from chats.services.reply.decide import Decision, HandOver
from chats.services.reply.streams import ReplyStream

log = logging.getLogger(__name__)


def answer(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """Answer a customer's message, or hand the conversation over; may be called twice.

    `earlier`: messages that came so shortly before it that one reply is for all of them.
    """
    message = load(message_id)
    if message is None:
        return  # deleted meanwhile: nobody waits
    chat = message.conversation
    if _answered(message) or not _is_bots_turn(chat):
        _tell_listeners(message)
        return
    if jobs.current_attempt() > 1:
        ReplyStream(message.pk).reset()
    burst = _burst(message, earlier)
    decision = decide.decide(chat, message, burst)
    try:
        _say(chat, message, decision, earlier=earlier)
    except IntegrityError:
        # message_one_reply: another worker's reply was first; ours is dropped.
        if not _answered(message):
            raise
    _tell_listeners(message)


def give_up(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """No attempt is left: a person must answer."""
    message = load(message_id)
    if message is None:
        return
    if not _answered(message):
        _say(message.conversation, message, HandOver("engine_failed"), earlier=earlier)
    _tell_listeners(message)


def load(message_id: str) -> Message | None:
    """A customer's message with all that a reply to it needs; None where it was deleted."""
    rows = Message.objects.select_related(
        "conversation__bot", "conversation__client__config", "conversation__customer"
    )
    return rows.filter(pk=message_id).first()


def _burst(message: Message, earlier: Sequence[str]) -> list[Message]:
    """The messages that one reply is for, in their order."""
    if not earlier:
        return [message]
    rows = Message.objects.filter(pk__in=earlier, conversation_id=message.conversation_id)
    return [*rows.order_by("seq"), message]


def _answered(message: Message) -> bool:
    return Message.objects.filter(
        in_reply_to=message, sender_type__in=[SenderType.BOT, SenderType.SYSTEM]
    ).exists()


def _is_bots_turn(chat: Conversation) -> bool:
    return chat.status == Status.OPEN and chat.assign_type == AssignType.BOT


def _tell_listeners(message: Message) -> None:
    ReplyStream(message.pk).done()


def _say(
    chat: Conversation,
    message: Message,
    decision: Decision,
    *,
    earlier: Sequence[str] = (),
) -> None:
    """Store the decision, unless the conversation changed hands while it was being made."""
    with jobs.commit():
        locked = conversations.lock(chat)
        if locked.version != chat.version or not _is_bots_turn(locked):
            log.info("reply to %s dropped: the conversation changed hands", message.pk)
            billing.release(message)
            ReplyStream(message.pk).reset()  # what was shown of it does not count
            return
        receipt = billing.settle(message, decision.receipt)
        if earlier:
            receipt |= {"answers": [*earlier, str(message.pk)]}
        if isinstance(decision, HandOver):
            _hand_over(locked, message, decision.reason, receipt)
            return
        messages.append(
            locked,
            author=messages.Author(SenderType.BOT, str(chat.bot_id), chat.bot.bot_name),
            content=text_content(decision.text),
            language=message.language,
            in_reply_to=message,
            citations=decision.citations,
            receipt=receipt,
        )


def _hand_over(
    chat: LockedConversation, message: Message, reason: str, receipt: dict[str, Any]
) -> None:
    handoffs.hand_over(
        chat, reason=reason, language=message.language, in_reply_to=message, receipt=receipt
    )
    if reason == "approval_needed":
        confirmations.note_for_agents(chat, receipt)
