"""Interprets a customer's message as the answer to the bot's request to confirm a function call."""

from collections.abc import Sequence

from django.conf import settings

from bots.language import intents
from bots.models import CallStatus, FunctionCall
from bots.services import function_call_approvals, function_runner
from bots.services.function_call_approvals import ProposedCall
from bots.services.function_runner import Subject
from chats.models import Conversation, Message, ReplyScope, SenderType
from chats.services.core.fast_sql import LoadedMessage
from chats.services.reply import gather
from chats.services.reply.decide import ConfirmationReply

# The maximum number of times that the customer is asked to confirm a call before it is withdrawn.
MAX_QUESTIONS = 2


def resolve(
    loaded: LoadedMessage, earlier: Sequence[str], subject: Subject
) -> ConfirmationReply | None:
    """What a message says about the call that the customer was asked to confirm; None if nothing.

    Makes a confirmed call, and only once, because the call stores which message decided it.
    """
    message = loaded.message
    # While the chat waits for an agent, no call is made.
    if loaded.is_answered or loaded.reply_scope != ReplyScope.ALL:
        return None
    calls = function_call_approvals.pending_for_customer(message.conversation_id, message.pk)
    texts = gather.texts_of(gather.load_burst(message, earlier)) if calls else ()
    return _resolve(message, texts[-1], calls, subject) if texts else None


def _resolve(
    message: Message, text: str, calls: list[FunctionCall], subject: Subject
) -> ConfirmationReply | None:
    call = next((call for call in calls if call.decided_at), None)
    if call is None:
        call = _call_in_question(message.conversation, calls)
        if call is None:
            return None
        approve = intents.yes_or_no(text, language=message.language)
        if approve is None:
            return _unclear(call, message, text)
        if not function_call_approvals.decide_as_customer(
            call, approve=approve, message_id=message.pk
        ):
            return None
    if call.status == CallStatus.REJECTED:
        return ConfirmationReply("declined", ProposedCall.from_row(call))
    seconds = settings.LLM_DEADLINE_SECONDS
    function_runner.run_approved(call, subject, seconds=seconds)
    return ConfirmationReply("confirmed", ProposedCall.from_row(call))


def _call_in_question(chat: Conversation, calls: list[FunctionCall]) -> FunctionCall | None:
    """The call that the latest message to the customer asks to confirm, if any. A yes confirms no
    other call."""
    rows = Message.objects.filter(conversation=chat, is_note=False)
    latest = rows.exclude(sender_type=SenderType.CUSTOMER).order_by("-seq").first()
    receipt = (latest.receipt if latest else None) or {}
    if receipt.get("decision") != "approval_needed":
        return None
    return next((call for call in calls if str(call.pk) == receipt["call_id"]), None)


def _unclear(call: FunctionCall, message: Message, text: str) -> ConfirmationReply | None:
    """Ask again for a yes or no. If the customer has been asked `MAX_QUESTIONS` times or asks for a
    person, withdraw the call and return None."""
    questions = Message.objects.filter(
        conversation=message.conversation_id,
        receipt__decision="approval_needed",
        receipt__call_id=str(call.pk),
    )
    if questions.count() < MAX_QUESTIONS and not intents.asks_for_person(text):
        return ConfirmationReply("unclear", ProposedCall.from_row(call))
    function_call_approvals.withdraw(call)
    return None
