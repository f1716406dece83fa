"""Continues a reply after an agent has approved or rejected its function call."""

from dataclasses import replace

from django.conf import settings

from bots.models import CallStatus, FunctionCall
from bots.services import function_runner
from chats.models import Message
from chats.services.core import fast_sql
from chats.services.reply import decide, gather, pipeline, procedure_runner, publishing
from chats.services.reply.decide import AskEngine, Decision, Facts, HandOver, Receipt
from chats.services.reply.streams import ReplyStream


def continue_reply(call_id: str) -> None:
    """Make a call if it was approved, and answer the message that needed it. Safe to run twice."""
    call, message = _load(call_id)
    if call is None or message is None:
        return  # the call or its message was deleted, so nobody waits for an answer
    if publishing.is_continued(call):
        return
    if call.status != CallStatus.REJECTED:
        seconds = settings.LLM_DEADLINE_SECONDS
        call = function_runner.run_approved(call, pipeline.subject_of(message), seconds=seconds)
    decision = _decide(message, call) if publishing.may_continue(message.conversation) else None
    publishing.publish_result(message, call, decision)


def give_up(call_id: str) -> None:
    """After the job's last attempt, mark the call as failed and leave the answer to the agents."""
    call, message = _load(call_id)
    if call is None or message is None:
        return
    function_runner.abandon(call)
    publishing.publish_failure(message, call)


def _load(call_id: str) -> tuple[FunctionCall | None, Message | None]:
    call = FunctionCall.objects.select_related("bot").filter(pk=call_id).first()
    message_id = call.message_id if call else None
    loaded = fast_sql.load_message(str(message_id)) if message_id else None
    return call, loaded.message if loaded else None


def _decide(message: Message, call: FunctionCall) -> Decision:
    """What to tell the customer. The client's handoff policy does not apply, so it cannot prevent a
    handover."""
    if call.status == CallStatus.REJECTED:
        return HandOver("approval_needed", Receipt("agent_declined"), name="agent_declined")
    decision = procedure_runner.after_approval(message, call, pipeline.subject_of(message))
    if decision:
        return decision
    asking = AskEngine(message.text, approved_call=call)
    wanted = gather.wanted_fields(message.conversation)
    facts = Facts(first_seq=message.seq, texts=(message.text,), wanted=wanted)
    decision = pipeline.ask_engine(message, asking, facts, ReplyStream(message.pk))
    if not isinstance(decision, HandOver):
        return decision
    if decision.reason == "approval_needed" or decision is decide.OUT_OF_CREDITS:
        return decision
    # If the call succeeded, tell the customer at least that.
    return replace(decision, name="done" if call.status == CallStatus.SUCCEEDED else None)
