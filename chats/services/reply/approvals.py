"""What follows an agent's word on a function call: it is made, and the customer is answered."""

import logging
from dataclasses import replace

from django.conf import settings
from django.db import transaction

from bots.models import CallStatus, FunctionCall
from bots.services import function_calls, retrieval
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
from chats.services.reply import billing, confirmations, decide, pipeline
from chats.services.reply.decide import Decision, HandOver, Said

log = logging.getLogger(__name__)


def continue_(call_id: str) -> None:
    """Make an approved call and answer the message that it was for; may be called twice."""
    found = _load(call_id)
    if found is None:
        return  # deleted meanwhile: nobody waits
    call, message = found
    chat = message.conversation
    if _continued(chat, call):
        return
    if call.status != CallStatus.REJECTED:
        call = function_calls.run_approved(
            call, confirmations.subject(chat, message), seconds=settings.LLM_DEADLINE_SECONDS
        )
    if not _bot_may_speak(chat):
        _store(chat, message, call, None)
        return
    _store(chat, message, call, _decide(chat, message, call))


def give_up(call_id: str) -> None:
    """No attempt is left: the agents are told, and one of them must answer."""
    found = _load(call_id)
    if found is None:
        return
    call, message = found
    function_calls.abandon(call)
    with transaction.atomic():
        chat = conversations.lock(message.conversation)
        if _continued(chat, call):
            return
        _note(chat, call)
        if chat.status == Status.OPEN:
            handoffs.hand_over(chat, reason="engine_failed", language=message.language)


def _load(call_id: str) -> tuple[FunctionCall, Message] | None:
    call = FunctionCall.objects.select_related("bot").filter(pk=call_id).first()
    message = pipeline.load(str(call.message_id)) if call and call.message_id else None
    return (call, message) if call and message else None


def _continued(chat: Conversation, call: FunctionCall) -> bool:
    return Message.objects.filter(conversation=chat, receipt__continues=str(call.pk)).exists()


def _bot_may_speak(chat: Conversation) -> bool:
    return (
        chat.status == Status.OPEN
        and chat.assign_type in {AssignType.BOT, AssignType.QUEUE}
        and not chat.bot.is_disabled
    )


def _decide(chat: Conversation, message: Message, call: FunctionCall) -> Decision:
    """What to tell the customer."""
    if call.status == CallStatus.REJECTED:
        said = canned_replies.declined(by="agent", language=message.language)
        return HandOver("approval_needed", {"decision": "agent_declined", "said": said})
    if not billing.hold(message):
        return decide.NOTHING_LEFT
    text = message.text
    found = retrieval.search(chat.bot, text, language=message.language)
    knows = found.gate >= chat.client.config.answer_threshold and found.hits
    decision = decide.ask_model(
        chat, message, text, found if knows else None, {}, confirmations.turn(chat, message)
    )
    is_stuck = isinstance(decision, HandOver) and decision.reason != "approval_needed"
    if is_stuck and call.status == CallStatus.SUCCEEDED:
        # It was done, and that alone the customer should know.
        said = canned_replies.done(language=message.language)
        return replace(decision, receipt=decision.receipt | {"said": said})
    return decision


def _store(
    chat: Conversation, message: Message, call: FunctionCall, decision: Decision | None
) -> None:
    """Say it, or leave a note where an agent has the conversation by now."""
    with jobs.commit():
        locked = conversations.lock(chat)
        if _continued(locked, call):
            return
        if decision is None or not _bot_may_speak(locked):
            billing.release(message)
            _note(locked, call)
            return
        decision = replace(decision, receipt=billing.settle(message, decision.receipt))
        if isinstance(decision, Said):
            _say(locked, message, call, decision)
            _return_to_bot(locked)
        else:
            _leave_to_agents(locked, message, call, decision)


def _say(chat: LockedConversation, message: Message, call: FunctionCall, decision: Said) -> None:
    messages.append(
        chat,
        author=messages.Author(SenderType.BOT, str(chat.bot_id), chat.bot.bot_name),
        content=text_content(decision.text),
        language=message.language,
        citations=decision.citations,
        receipt=decision.receipt | {"continues": str(call.pk)},
    )


def _return_to_bot(chat: LockedConversation) -> None:
    """What the queue had it for is settled."""
    is_settled = chat.assign_type == AssignType.QUEUE and chat.handoff_reason == "approval_needed"
    if is_settled and not conversations.bot_off_reason(chat.bot):
        lifecycle.to_bot(chat, by=None)


def _leave_to_agents(
    chat: LockedConversation, message: Message, call: FunctionCall, decision: HandOver
) -> None:
    """The customer hears what can be said, the agents see what came of the call."""
    said = decision.receipt.get("said")
    if decision.reason == "approval_needed" and said is None:
        said = canned_replies.handover(reason=decision.reason, language=message.language, chat=chat)
    if said:
        messages.append(
            chat,
            author=messages.Author(SenderType.SYSTEM),
            content=text_content(said),
            language=message.language,
            receipt=decision.receipt | {"continues": str(call.pk)},
        )
    _note(chat, call)
    if decision.receipt.get("decision") == "approval_needed":
        confirmations.note_for_agents(chat, decision.receipt)
    if chat.assign_type != AssignType.BOT:
        return
    if said:
        lifecycle.to_queue(chat, reason=decision.reason)
    else:
        handoffs.hand_over(chat, reason=decision.reason, language=message.language)


def _note(chat: LockedConversation, call: FunctionCall) -> None:
    """An internal note of what came of a call."""
    outcome = {
        CallStatus.SUCCEEDED: "was carried out",
        CallStatus.REJECTED: "was not approved",
    }.get(CallStatus(call.status), "failed")
    detail = call.error or call.result_excerpt
    messages.append(
        chat,
        author=messages.Author(SenderType.SYSTEM),
        content=text_content(
            f"The function {call.function_name} {outcome}." + (f"\n{detail}" if detail else "")
        ),
        language="en",
        receipt={"continues": str(call.pk), "call_id": str(call.pk)},
        is_note=True,
    )
