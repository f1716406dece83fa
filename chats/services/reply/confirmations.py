"""What a bot does beside talking: calls of functions, and the customer's word on them.

A call that the customer must confirm is asked for in a reply of its own; the next message decides.
"""

import json
import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from bots.engine import intents
from bots.models import CallStatus, FunctionCall
from bots.services import function_calls
from chats.models import Conversation, LockedConversation, Message, SenderType, text_content
from chats.services.core import canned_replies, messages

# How often the customer is asked for a yes or no about one call.
MAX_ASKED = 2
_MAX_ARGUMENT_CHARS = 200
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


@dataclass(frozen=True)
class Word:
    """What follows a customer's word on a call: `text` is said; None: answer with its result."""

    text: str | None
    receipt: dict[str, Any] = field(default_factory=dict)


def turn(chat: Conversation, message: Message) -> function_calls.Turn | None:
    """What the bot may call to answer this message; None where nothing."""
    return function_calls.turn(
        chat.bot, subject(chat, message), seconds=settings.LLM_DEADLINE_SECONDS
    )


def subject(chat: Conversation, message: Message) -> function_calls.Subject:
    """Whom calls are for: this conversation's customer and nobody else."""
    return function_calls.Subject(chat.pk, message.pk, chat.customer.external_id)


def question_for(call: FunctionCall, *, language: str) -> str:
    """What the customer is asked before a call: the function and the very arguments."""
    return canned_replies.confirm(_described(call), language=language)


def note_for_agents(chat: LockedConversation, receipt: dict[str, Any]) -> None:
    """An internal note of the call that waits for an agent."""
    call = FunctionCall.objects.filter(pk=receipt["call_id"]).first()
    if call is None:
        return
    messages.append(
        chat,
        author=messages.Author(SenderType.SYSTEM),
        content=text_content(
            f"Waits for your approval: {_described(call)}. Decide on the function call {call.pk}."
        ),
        language="en",
        receipt={"call_id": str(call.pk)},
        is_note=True,
    )


def _described(call: FunctionCall) -> str:
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


def receipt_of(call: FunctionCall) -> dict[str, Any]:
    """The receipt of a reply that waits for somebody's word on a call."""
    return {"decision": "approval_needed", "call_id": str(call.pk)}


def customers_word(chat: Conversation, message: Message, text: str) -> Word | None:
    """What a message decides about the call that the customer was asked about, if it does.

    May be called twice: the call belongs to the message that decided on it.
    """
    call = function_calls.decided_in(message.pk)
    if call is None:
        call = _asked_about(chat)
        if call is None:
            return None
        approve = yes_or_no(text)
        if approve is None:
            return _ask_again(chat, call, message, text)
        if not function_calls.decide_as_customer(call, approve=approve, message_id=message.pk):
            return None
    if call.status == CallStatus.REJECTED:
        said = canned_replies.declined(by="customer", language=message.language)
        return Word(said, {"decision": "customer_declined", "call_id": str(call.pk)})
    function_calls.run_approved(call, subject(chat, message), seconds=settings.LLM_DEADLINE_SECONDS)
    return Word(None)


def _asked_about(chat: Conversation) -> FunctionCall | None:
    """The call that the latest words of our side asked about: a yes confirms nothing else."""
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


def _ask_again(chat: Conversation, call: FunctionCall, message: Message, text: str) -> Word | None:
    asked = Message.objects.filter(
        conversation=chat, receipt__decision="approval_needed", receipt__call_id=str(call.pk)
    ).count()
    if asked < MAX_ASKED and not intents.asks_for_person(text):
        return Word(question_for(call, language=message.language), receipt_of(call))
    function_calls.withdraw(call)
    return None


def yes_or_no(text: str) -> bool | None:
    """Whether a whole message says yes or no (en, vi); None where it says anything else."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:100]).lower())
    plain = " ".join(word for word in words if word not in _POLITE) or " ".join(words)
    if plain in _YES:
        return True
    return False if plain in _NO else None
