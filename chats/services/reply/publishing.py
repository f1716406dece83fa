"""The last stage of a reply: renders, charges and stores the decision, unless the chat has changed
hands."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from bots.models import CallStatus, FunctionCall
from bots.search import question_splitting
from bots.services.function_call_approvals import ProposedCall
from chatplatform import jobs
from chatplatform.observing import metrics
from chats.models import (
    NO_ANSWER,
    AssignType,
    Conversation,
    LockedConversation,
    Message,
    ReplyScope,
    SenderType,
    Status,
)
from chats.services.core import (
    automated_messages,
    conversations,
    customers,
    enqueue_question_grouping,
    handoffs,
    lifecycle,
    messages,
    reply_policy,
)
from chats.services.core.automated_messages import ReplyText
from chats.services.reply import billing
from chats.services.reply.decide import (
    Answer,
    AskConfirmation,
    CannedReply,
    Decision,
    HandOver,
    NoReply,
    Offers,
    ProcedureText,
    Receipt,
)
from chats.services.reply.streams import ReplyStream

log = logging.getLogger(__name__)
ReplyDecision = Answer | CannedReply | ProcedureText | AskConfirmation | HandOver
_OUTCOMES = {CallStatus.SUCCEEDED: "was carried out", CallStatus.REJECTED: "was not approved"}


def publish_reply(
    message: Message,
    decision: Decision,
    *,
    earlier: Sequence[str] = (),
    filled: Mapping[str, Any] | None = None,
) -> None:
    """Store the reply and the customer-info values found in the message (`filled`), and complete
    the job. Nothing is stored or charged if the message has a reply or the chat changed hands."""
    reply = None if isinstance(decision, NoReply) else render(message, decision)
    with jobs.commit(ends_job=True):
        chat, is_answered, scope = conversations.lock_for_reply(message)
        has_moved = chat.version != message.conversation.version or not _is_allowed(decision, scope)
        is_dropped = is_answered or has_moved
        price = billing.price_of(None if is_dropped else decision)
        if reply and not is_dropped:
            answers = (*earlier, str(message.pk)) if earlier else None
            names = customers.fill_in(chat, filled) if filled else ()
            receipt = replace(
                decision.receipt, credits=price, answers=answers, filled=tuple(names) or None
            )
            _store(chat, message, decision, reply, receipt.to_json())
        elif not is_dropped:
            _note_unanswered(chat, message, decision.receipt)
        billing.settle(message, price)
    waited = timezone.now() - message.created_at
    metrics.REPLY_SECONDS.observe(waited.total_seconds(), _outcome(decision, is_dropped=is_dropped))
    if is_dropped:
        log.info("reply to %s dropped: replied already, or the chat changed hands", message.pk)
        transaction.on_commit(ReplyStream(message.pk).reset)


def _outcome(decision: Decision, *, is_dropped: bool) -> str:
    """The outcome of a reply, as a label of the metrics."""
    trace = decision.receipt.trace
    match decision:
        case _ if is_dropped:
            return "dropped"
        case NoReply():
            return "silent"
        case Answer():
            return "quoted_instead" if trace and trace.engine_error else "answered"
        case HandOver(reason="engine_failed"):
            return "engine_failed"
        case HandOver():
            return "handed_over"
        case _:
            return "canned"


def _is_allowed(decision: Decision, scope: ReplyScope | None) -> bool:
    if scope == ReplyScope.ANSWERS:
        return isinstance(decision, NoReply) or bool(decision.receipt.while_waiting)
    return scope is not None


def render(message: Message, decision: ReplyDecision) -> ReplyText:
    """The text of a decision, in the message's language if possible, followed by the question for a
    customer-info field, if any."""
    reply, field_name = _sentence(message, decision), decision.receipt.asks_for
    parts = (decision.receipt.before, reply.text, decision.receipt.after)
    reply = reply._replace(text="\n\n".join(filter(None, parts)))
    fields = message.conversation.bot.customer_info_fields
    field = next((field for field in fields if field["name"] == field_name), None)
    if field is None:
        return reply
    question = automated_messages.ask_info(
        field, language=message.language, chat=message.conversation
    )
    return reply._replace(text=f"{reply.text}\n\n{question.text}")


def _sentence(message: Message, decision: ReplyDecision) -> ReplyText:
    chat, language = message.conversation, message.language
    match decision:
        case CannedReply(name="unknown", offers=Offers() as offers):
            return automated_messages.ask_again(
                offers.headings, person=offers.person, language=language, chat=chat
            )
        case Answer():
            return ReplyText(decision.text, language)
        case ProcedureText():
            return ReplyText(decision.text, chat.bot.default_language, decision.choices)
        case AskConfirmation():
            return automated_messages.confirm(
                decision.call.description, language=language, chat=chat
            )
        case CannedReply(name="greeting"):
            return automated_messages.greeting(language=language, chat=chat)
        case CannedReply(name="brief_greeting"):
            return automated_messages.sentence("greeting", language=language, chat=chat)
        case CannedReply(name="about_bot"):
            return automated_messages.about_bot(language=language, chat=chat)
        case CannedReply(name=str(name)) | HandOver(name=str(name)):
            return automated_messages.sentence(name, language=language, chat=chat)
        case HandOver():
            return automated_messages.handover(reason=decision.reason, language=language, chat=chat)


def _store(
    chat: LockedConversation,
    message: Message,
    decision: Decision,
    reply: ReplyText,
    receipt: dict[str, Any],
) -> None:
    if isinstance(decision, HandOver):
        receipt["handoff_reason"] = decision.reason
    _append(chat, decision, reply, receipt=receipt, in_reply_to=message)
    if receipt.get("decision") in NO_ANSWER and not chat.is_preview:
        enqueue_question_grouping.enqueue_grouping(chat.bot)
    if reason := receipt.get("before_handoff"):
        handoffs.enqueue_after_details(chat, message, reason=reason)
    if isinstance(decision, HandOver):
        lifecycle.to_queue(chat, reason=decision.reason)
        if decision.call:
            _note_waiting(chat, decision.call)


def _note_unanswered(chat: LockedConversation, message: Message, receipt: Receipt) -> None:
    """Keep a question that the bot left to the agents for whom its customer waits, for the list of
    unanswered questions."""
    is_gap = receipt.decision in NO_ANSWER and question_splitting.is_complete(message.text)
    if is_gap and not chat.is_preview:
        waiting = replace(receipt, while_waiting=True)
        Message.objects.filter(pk=message.pk).update(receipt=waiting.to_json())
        enqueue_question_grouping.enqueue_grouping(chat.bot)


def _append(
    chat: LockedConversation,
    decision: Decision,
    reply: ReplyText,
    *,
    receipt: dict[str, Any],
    in_reply_to: Message | None = None,
) -> None:
    by_bot = not isinstance(decision, HandOver)
    citations = decision.citations if isinstance(decision, Answer) else ()
    messages.append_platform_message(
        chat,
        reply,
        author=messages.Author.bot_of(chat) if by_bot else messages.Author(SenderType.SYSTEM),
        in_reply_to=in_reply_to,
        citations=[asdict(citation) for citation in citations],
        receipt=receipt,
    )


# --- after an agent's approval ------------------------------------------------------------------


def is_continued(call: FunctionCall) -> bool:
    """Whether the customer or the agents already know the result of a call."""
    return Message.objects.filter(
        conversation=call.conversation_id, receipt__continues=str(call.pk)
    ).exists()


def may_continue(chat: Conversation) -> bool:
    """Whether the bot may tell the customer the result of a call: only if the chat is open, no
    agent has it, and the bot is not disabled."""
    return reply_policy.bot_may_reply(chat, is_approved=True) == ReplyScope.ALL


def publish_result(message: Message, call: FunctionCall, decision: Decision | None) -> None:
    """Tell the customer the result of a call or, if the bot may not, leave only a note for the
    agents. Does nothing if either has been told."""
    with jobs.commit():
        chat = conversations.lock(message.conversation)
        if is_continued(call):
            return
        if decision is None or not may_continue(chat):
            _note_result(chat, call)
            billing.settle(message, 0, call=call)
            return
        # Settle before storing the message, because its receipt says what was charged.
        charged = billing.settle(message, billing.price_of(decision), call=call)
        receipt = replace(decision.receipt, credits=charged).to_json()
        receipt["continues"] = str(call.pk)
        if isinstance(decision, HandOver):
            _leave_to_agents(chat, message, call, decision, receipt)
        elif not isinstance(decision, NoReply):
            _append(chat, decision, render(message, decision), receipt=receipt)
            in_queue = chat.assign_type == AssignType.QUEUE
            awaited_approval = in_queue and chat.handoff_reason == "approval_needed"
            if awaited_approval and not conversations.bot_off_reason(chat.bot):
                lifecycle.to_bot(chat, by=None)


def publish_failure(message: Message, call: FunctionCall) -> None:
    """After the job's last attempt, tell the agents the call's result in a note. If the chat is
    open and the bot has it, hand it over."""
    with jobs.commit():
        chat = conversations.lock(message.conversation)
        if is_continued(call):
            return
        _note_result(chat, call)
        if chat.status == Status.OPEN:
            handoffs.hand_over(chat, reason="engine_failed", language=message.language)
        billing.settle(message, 0, call=call)


def _leave_to_agents(
    chat: LockedConversation,
    message: Message,
    call: FunctionCall,
    decision: HandOver,
    receipt: dict[str, Any],
) -> None:
    """Send the customer the decision's text, if it has one. Leave the agents a note with the call's
    result. If the bot has the chat, hand it over."""
    has_text = bool(decision.name or decision.call or decision.receipt.before)
    if has_text:
        reply = render(message, decision)
        sent_text = {"said": reply.text} if decision.name else {}
        _append(chat, decision, reply, receipt=receipt | sent_text)
    _note_result(chat, call)
    if decision.call:
        _note_waiting(chat, decision.call)
    if chat.assign_type != AssignType.BOT:
        return
    if has_text:
        lifecycle.to_queue(chat, reason=decision.reason)
    else:
        handoffs.hand_over(chat, reason=decision.reason, language=message.language)


def _note_result(chat: LockedConversation, call: FunctionCall) -> None:
    outcome = _OUTCOMES.get(CallStatus(call.status), "failed")
    detail = call.error or call.result_excerpt
    text = f"The function {call.function_name} {outcome}." + (f"\n{detail}" if detail else "")
    messages.append_note(chat, text, {"continues": str(call.pk), "call_id": str(call.pk)})


def _note_waiting(chat: LockedConversation, call: ProposedCall) -> None:
    text = f"Waiting for your approval: {call.description}."
    messages.append_note(chat, text, {"call_id": call.id})
