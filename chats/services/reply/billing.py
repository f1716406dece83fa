"""The credits of a reply: reserved before the engine is asked, settled when the reply is stored."""

from bots.engine import Engine
from chats.models import Message
from chats.services.core import reply_policy
from chats.services.reply.decide import Answer, Decision
from identity.services import credits


def reserve(message: Message, engine: Engine) -> bool:
    """Reserve the maximum cost of the engine's reply; False if the client cannot pay it."""
    cost, key_id = reply_policy.highest_cost(engine), message.conversation.capped_key_id
    try:
        credits.reserve(message.client_id, cost=cost, reference=_reference(message), key_id=key_id)
    except credits.InsufficientCredits:
        return False
    return True


def settle(message: Message, decision: Decision | None) -> int:
    """Charge for a reply and release the rest of the reservation; returns the credits paid. A
    dropped reply (None) costs nothing."""
    trace, reference = decision.receipt.trace if decision else None, _reference(message)
    # A model's tokens are paid even if it refused, the extractive engine only for an answer.
    price = credits.EXTRACTIVE_TASK if isinstance(decision, Answer) else 0
    if trace and trace.usage:
        tokens = trace.usage.prompt_tokens + trace.usage.completion_tokens
        price = credits.price_of_tokens(tokens, price=trace.price)
    if price:
        return credits.settle(message.client_id, used=price, reference=reference)
    credits.release(message.client_id, reference=reference)
    return 0


def _reference(message: Message) -> str:
    return f"reply:{message.pk}"
