"""Credits for a reply: reserved before the engine is asked, settled when the reply is stored."""

from bots.engine import Engine
from bots.models import FunctionCall
from chats.models import Message
from chats.services.core import reply_policy
from chats.services.reply.decide import Answer, Decision
from identity.services import credits


def reserve(message: Message, engine: Engine, *, call: FunctionCall | None = None) -> bool:
    """Reserve the maximum cost of the engine's reply. False if the client's credits, or what is
    left of the public key's daily cap, do not cover it.

    `call` is set for a second reply, which reports the result of a call that an agent approved.
    """
    cost, key_id = reply_policy.highest_cost(engine), message.conversation.capped_key_id
    reference = _reference(message, call)
    try:
        credits.reserve(message.client_id, cost=cost, reference=reference, key_id=key_id)
    except credits.InsufficientCredits:
        return False
    return True


def price_of(decision: Decision | None) -> int:
    """The credits that a reply costs, at most those reserved; 0 for a dropped reply (None)."""
    trace = decision.receipt.trace if decision else None
    # A model's tokens are charged even without an answer, the extractive engine only for an answer.
    if trace and trace.usage:
        tokens = trace.usage.prompt_tokens + trace.usage.completion_tokens
        maximum = credits.MODEL_REPLY * trace.price
        return min(maximum, credits.price_of_tokens(tokens, price=trace.price))
    return credits.EXTRACTIVE_TASK if isinstance(decision, Answer) else 0


def settle(message: Message, price: int, *, call: FunctionCall | None = None) -> int:
    """Charge `price` credits for a reply, release the rest of the reservation, and return what was
    charged: 0 if nothing was reserved. `call` is the same as for `reserve`.

    Call it last in a transaction: it locks the client's balance until the transaction ends.
    """
    reference = _reference(message, call)
    if price:
        return credits.settle(message.client_id, used=price, reference=reference)
    credits.release(message.client_id, reference=reference)
    return 0


def _reference(message: Message, call: FunctionCall | None) -> str:
    return f"reply:{message.pk}:{call.pk}" if call else f"reply:{message.pk}"
