"""The last stage: what was decided is said, paid and stored, unless the chat changed hands."""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db import transaction

from bots.engine import Capability, Engine
from bots.models import CallStatus, FunctionCall
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
from chats.services.core import canned_replies, conversations, handoffs, lifecycle, messages
from chats.services.reply.decide import (
    Answer,
    AskCustomer,
    CannedReply,
    Decision,
    HandOver,
    Receipt,
)
from chats.services.reply.streams import ReplyStream
from identity.services import credits

log = logging.getLogger(__name__)
_MAX_ARGUMENT_CHARS = 200
_OUTCOMES = {CallStatus.SUCCEEDED: "was carried out", CallStatus.REJECTED: "was not approved"}


def publish(message: Message, decision: Decision, *, earlier: Sequence[str] = ()) -> None:
    """Store the reply to a message, unless the conversation has changed hands meanwhile."""
    with jobs.commit():
        chat = conversations.lock(message.conversation)
        is_stale = chat.version != message.conversation.version or not chat.is_bots_turn
        if is_stale:
            _release(message)
        else:
            _store(chat, message, decision, earlier)
    if is_stale:
        log.info("reply to %s dropped: the conversation changed hands", message.pk)
        transaction.on_commit(ReplyStream(message.pk).reset)


def _store(
    chat: LockedConversation, message: Message, decision: Decision, earlier: Sequence[str]
) -> None:
    receipt = replace(decision.receipt, credits=_settle(message, decision))
    if earlier:
        receipt = replace(receipt, answers=(*earlier, str(message.pk)))
    if not isinstance(decision, HandOver):
        _append_of_bot(chat, message, decision, receipt, in_reply_to=message)
        return
    handoffs.hand_over(
        chat,
        reason=decision.reason,
        language=message.language,
        in_reply_to=message,
        receipt=receipt.to_json(),
    )
    if decision.call:
        _note_waiting(chat, decision.call)


def _append_of_bot(
    chat: LockedConversation,
    message: Message,
    decision: Answer | CannedReply | AskCustomer,
    receipt: Receipt,
    *,
    in_reply_to: Message | None = None,
) -> None:
    citations = decision.citations if isinstance(decision, Answer) else ()
    messages.append(
        chat,
        author=messages.Author.bot_of(chat),
        content=text_content(_words(chat, decision, language=message.language)),
        language=message.language,
        in_reply_to=in_reply_to,
        citations=[asdict(citation) for citation in citations],
        receipt=receipt.to_json(),
    )


def _words(
    chat: Conversation, decision: Answer | CannedReply | AskCustomer, *, language: str
) -> str:
    match decision:
        case Answer():
            return decision.text
        case AskCustomer():
            return canned_replies.confirm(_described(decision.call), language=language)
        case CannedReply(name="small_talk", receipt=Receipt(kind="thanks" | "goodbye" as kind)):
            return canned_replies.sentence(kind, language=language)
        case CannedReply(name="small_talk"):
            return canned_replies.greeting(language=language, bot=chat.bot)
        case CannedReply():
            return canned_replies.sentence(decision.name, language=language)


# --- after an agent's approval ------------------------------------------------------------------


def is_continued(call: FunctionCall) -> bool:
    """Whether the result of a call is told, to the customer or to the agents."""
    return Message.objects.filter(
        conversation=call.conversation_id, receipt__continues=str(call.pk)
    ).exists()


def may_continue(chat: Conversation) -> bool:
    """Whether the bot tells the result of a call: while it or the queue has the chat."""
    return (
        chat.status == Status.OPEN
        and chat.assign_type in {AssignType.BOT, AssignType.QUEUE}
        and not chat.bot.is_disabled
    )


def publish_result(message: Message, call: FunctionCall, decision: Decision | None) -> None:
    """Tell the result of a call, or leave a note if an agent has the conversation by now."""
    with jobs.commit():
        chat = conversations.lock(message.conversation)
        if is_continued(call):
            return
        if decision is None or not may_continue(chat):
            _release(message)
            _note_result(chat, call)
            return
        paid = _settle(message, decision)
        receipt = replace(decision.receipt, credits=paid, continues=str(call.pk))
        if isinstance(decision, HandOver):
            _leave_to_agents(chat, message, call, replace(decision, receipt=receipt))
        else:
            _append_of_bot(chat, message, decision, receipt)
            _return_to_bot(chat)


def publish_failure(message: Message, call: FunctionCall) -> None:
    """No attempt is left: the agents are told, and one of them must answer."""
    with jobs.commit():
        chat = conversations.lock(message.conversation)
        if is_continued(call):
            return
        _note_result(chat, call)
        if chat.status == Status.OPEN:
            handoffs.hand_over(chat, reason="engine_failed", language=message.language)


def _return_to_bot(chat: LockedConversation) -> None:
    """The approval that the queue had the chat for is settled."""
    is_settled = chat.assign_type == AssignType.QUEUE and chat.handoff_reason == "approval_needed"
    if is_settled and not conversations.bot_off_reason(chat.bot):
        lifecycle.to_bot(chat, by=None)


def _leave_to_agents(
    chat: LockedConversation, message: Message, call: FunctionCall, decision: HandOver
) -> None:
    """The customer hears about the call, the agents see its result."""
    text = _words_about_call(chat, decision, language=message.language)
    if text:
        receipt = decision.receipt
        if decision.about_call:
            receipt = replace(receipt, said=text)
        messages.append(
            chat,
            author=messages.Author(SenderType.SYSTEM),
            content=text_content(text),
            language=message.language,
            receipt=receipt.to_json(),
        )
    _note_result(chat, call)
    if decision.call:
        _note_waiting(chat, decision.call)
    if chat.assign_type != AssignType.BOT:
        return
    if text:
        lifecycle.to_queue(chat, reason=decision.reason)
    else:
        handoffs.hand_over(chat, reason=decision.reason, language=message.language)


def _words_about_call(chat: Conversation, decision: HandOver, *, language: str) -> str | None:
    if decision.about_call:
        return canned_replies.sentence(decision.about_call, language=language)
    if decision.call:
        return canned_replies.handover(reason=decision.reason, language=language, chat=chat)
    return None


def _note_result(chat: LockedConversation, call: FunctionCall) -> None:
    outcome = _OUTCOMES.get(CallStatus(call.status), "failed")
    detail = call.error or call.result_excerpt
    text = f"The function {call.function_name} {outcome}." + (f"\n{detail}" if detail else "")
    _append_note(chat, text, {"continues": str(call.pk), "call_id": str(call.pk)})


def _note_waiting(chat: LockedConversation, call: FunctionCall) -> None:
    text = f"Waits for your approval: {_described(call)}. Decide on the function call {call.pk}."
    _append_note(chat, text, {"call_id": str(call.pk)})


def _append_note(chat: LockedConversation, text: str, receipt: dict[str, Any]) -> None:
    messages.append(
        chat,
        author=messages.Author(SenderType.SYSTEM),
        content=text_content(text),
        language="en",
        receipt=receipt,
        is_note=True,
    )


def _described(call: FunctionCall) -> str:
    """A call in words: the function and its very arguments."""
    shown = ", ".join(
        f"{name}: {_shown(value)}"
        for name, value in sorted(call.arguments.items())
        if value is not None
    )
    action = call.function_name.replace("_", " ").replace("-", " ")
    return f"{action} ({shown})" if shown else action


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:_MAX_ARGUMENT_CHARS]


# --- credits: reserved before a reply is made, settled in the transaction that stores it ---------


def reserve_credits(message: Message, engine: Engine) -> bool:
    """Reserve the most that the engine's reply may cost; False if the client cannot pay it."""
    is_model = Capability.WRITE in engine.capabilities
    cost = credits.MODEL_REPLY if is_model else credits.EMBEDDED_TASK
    try:
        credits.reserve(message.client_id, cost=cost, reference=_reference(message))
    except credits.InsufficientCredits:
        return False
    return True


def _settle(message: Message, decision: Decision) -> int:
    """Pay for a decision, and give back the rest; returns the credits that were paid."""
    price = _price(decision)
    if not price:
        _release(message)
        return 0
    return credits.settle(message.client_id, used=price, reference=_reference(message))


def _release(message: Message) -> None:
    credits.release(message.client_id, reference=_reference(message))


def _reference(message: Message) -> str:
    return f"reply:{message.pk}"


def _price(decision: Decision) -> int:
    """A model's tokens are paid even if it refused; the embedded engine is paid for answers."""
    usage = decision.receipt.trace.usage if decision.receipt.trace else None
    if usage:
        return credits.price_of_tokens(usage.prompt_tokens + usage.completion_tokens)
    return credits.EMBEDDED_TASK if isinstance(decision, Answer) else 0
