"""A customer's reply to the question whether a function may be called.

The question is a reply of its own; the customer's next message decides.
"""

import re
import unicodedata

from django.conf import settings

from bots.engine import intents
from bots.models import CallStatus, FunctionCall
from bots.services import function_calls, function_runner
from chats.models import Conversation, Message, SenderType
from chats.services.reply.decide import ConfirmationReply

# How often the customer is asked for a yes or no about one call.
MAX_QUESTIONS = 2
_WORD = re.compile(r"[^\W\d_]+")
_YES = frozenset(
    {
        "yes", "y", "yeah", "yep", "yup", "ok", "okay", "sure", "confirm", "confirmed",
        "i confirm", "correct", "agreed", "go ahead", "do it", "do", "yes do it", "yes go ahead",
        "có", "co", "vâng", "vang", "dạ", "da", "ừ", "ừm", "được", "duoc", "đồng ý", "dong y",
        "xác nhận", "xac nhan", "đúng", "đúng vậy", "có đồng ý", "tôi đồng ý", "làm", "oke",
    }
)  # fmt: skip
_NO = frozenset(
    {
        "no", "n", "nope", "nah", "cancel", "stop", "don t", "do not", "no don t", "never mind",
        "nevermind", "no way", "not now", "không", "khong", "ko", "k", "thôi", "thoi", "đừng",
        "hủy", "huỷ", "huy", "không cần", "không đồng ý", "khong dong y", "tôi không đồng ý",
        "không phải", "dừng lại",
    }
)  # fmt: skip
_POLITE = frozenset(
    {"please", "thanks", "thank", "you", "ạ", "a", "nhé", "nha", "đi", "cảm", "ơn", "dạ"}
)


def read(message: Message, text: str) -> ConfirmationReply | None:
    """What a message decides about the call that the customer was asked to confirm, if anything.

    A confirmed call is made. May be called twice: the call belongs to the message that decided.
    """
    call = function_calls.decided_by_message(message.pk)
    if call is None:
        call = _call_in_question(message.conversation)
        if call is None:
            return None
        approve = yes_or_no(text)
        if approve is None:
            return _unclear(call, message, text)
        if not function_calls.decide_as_customer(call, approve=approve, message_id=message.pk):
            return None
    if call.status == CallStatus.REJECTED:
        return ConfirmationReply("declined", call)
    run(call, message)
    return ConfirmationReply("confirmed", call)


def run(call: FunctionCall, message: Message) -> FunctionCall:
    """Make a call that a person has approved."""
    seconds = settings.LLM_DEADLINE_SECONDS
    return function_runner.run_approved(call, subject_of(message), seconds=seconds)


def subject_of(message: Message) -> function_runner.Subject:
    """The customer of this conversation: calls are for nobody else."""
    customer = message.conversation.customer
    return function_runner.Subject(message.conversation_id, message.pk, customer.external_id)


def _call_in_question(chat: Conversation) -> FunctionCall | None:
    """The call that our latest message asks about: a yes confirms no other."""
    latest = (
        Message.objects.filter(conversation=chat, is_note=False)
        .exclude(sender_type=SenderType.CUSTOMER)
        .order_by("-seq")
        .first()
    )
    receipt = (latest.receipt if latest else None) or {}
    if receipt.get("decision") != "approval_needed":
        return None
    return function_calls.waiting_for_customer(receipt["call_id"])


def _unclear(call: FunctionCall, message: Message, text: str) -> ConfirmationReply | None:
    """The question is asked once more; after that the call is withdrawn."""
    questions = Message.objects.filter(
        conversation=message.conversation_id,
        receipt__decision="approval_needed",
        receipt__call_id=str(call.pk),
    )
    if questions.count() < MAX_QUESTIONS and not intents.asks_for_person(text):
        return ConfirmationReply("unclear", call)
    function_calls.withdraw(call)
    return None


def yes_or_no(text: str) -> bool | None:
    """Whether a whole message says yes or no (en, vi); None if it says anything else."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:100]).lower())
    plain = " ".join(word for word in words if word not in _POLITE) or " ".join(words)
    if plain in _YES:
        return True
    return False if plain in _NO else None
