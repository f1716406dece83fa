"""The credits of a reply: reserved before it is made, settled in the transaction that stores it."""

import time
import uuid

from bots.engine import Capability, Engine
from bots.services.engines import engine_for
from chatplatform.jobs import current_attempt
from chats.models import AssignType, Conversation, Message
from chats.services.core import conversations
from chats.services.reply.decide import Answer, Decision
from identity.auth import Principal
from identity.services import credits

# When pages that lack credits are looked at again, by their keys.
_REMEMBERED_SECONDS = 1.0
_short_until: dict[int, float] = {}


def reserve(message: Message, engine: Engine) -> bool:
    """Reserve the most that the engine's reply may cost; False if the client cannot pay it."""
    cost, key_id = _most(engine), message.conversation.capped_key_id
    try:
        credits.reserve(message.client_id, cost=cost, reference=_reference(message), key_id=key_id)
    except credits.InsufficientCredits:
        return False
    return True


def is_still_used_up(chat: Conversation) -> bool:
    """Whether the chat waits for an agent for lack of credits, and a reply lacks them as before.

    A page's visitors may go on writing: what cannot be paid is not worth a job.
    """
    if chat.assign_type != AssignType.QUEUE or chat.handoff_reason != "credits_used_up":
        return False
    if current_attempt() > 1:
        return False  # the attempt before may have reserved the last ones
    cost = _most(engine_for(chat.client, chat.bot))
    return not credits.are_left(chat.client_id, cost=cost, key_id=chat.capped_key_id)


def is_short_still(caller: Principal, chat_id: uuid.UUID) -> bool:
    """`is_still_used_up` of a chat that the caller may see.

    A page that is short is asked about again after a second: all of its visitors ask.
    """
    page = caller.key.pk if caller.key and caller.is_page else None
    if page and _short_until.get(page, 0) > time.monotonic():
        return True
    chat = conversations.get(caller, pk=chat_id)
    is_short = is_still_used_up(chat)
    if page and is_short:
        _short_until[page] = time.monotonic() + _REMEMBERED_SECONDS
    return is_short


def settle(message: Message, decision: Decision | None) -> int:
    """Pay for a reply, or (None) for a dropped one nothing; the rest is given back.

    Returns the credits that were paid.
    """
    price, reference = _price(decision), _reference(message)
    if price:
        return credits.settle(message.client_id, used=price, reference=reference)
    credits.release(message.client_id, reference=reference)
    return 0


def _most(engine: Engine) -> int:
    is_model = Capability.WRITE in engine.capabilities
    return credits.MODEL_REPLY * engine.price if is_model else credits.EMBEDDED_TASK


def _reference(message: Message) -> str:
    return f"reply:{message.pk}"


def _price(decision: Decision | None) -> int:
    """A model's tokens are paid even if it refused; the embedded engine is paid for answers."""
    trace = decision.receipt.trace if decision else None
    if trace and trace.usage:
        tokens = trace.usage.prompt_tokens + trace.usage.completion_tokens
        return credits.price_of_tokens(tokens, price=trace.price)
    return credits.EMBEDDED_TASK if isinstance(decision, Answer) else 0
