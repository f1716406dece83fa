"""What a reply costs: reserved before it is made, settled in the transaction that stores it."""

from bots.engine import Capability, Engine
from chats.models import Message
from chats.services.reply.decide import Answer, Decision
from identity.services import credits


def reserve(message: Message, engine: Engine) -> bool:
    """Reserve the most that the engine's reply may cost; False if the client cannot pay it."""
    is_model = Capability.WRITE in engine.capabilities
    cost = credits.MODEL_REPLY if is_model else credits.EMBEDDED_TASK
    try:
        credits.reserve(message.client_id, cost=cost, reference=_reference(message))
    except credits.InsufficientCredits:
        return False
    return True


def settle(message: Message, decision: Decision) -> int:
    """Pay for a decision, and give back the rest; returns the credits that were paid."""
    price = _price(decision)
    if not price:
        release(message)
        return 0
    return credits.settle(message.client_id, used=price, reference=_reference(message))


def release(message: Message) -> None:
    """Give back all credits: there is no reply."""
    credits.release(message.client_id, reference=_reference(message))


def _reference(message: Message) -> str:
    return f"reply:{message.pk}"


def _price(decision: Decision) -> int:
    """A model's tokens are paid even if it refused; the embedded engine is paid for answers."""
    usage = decision.receipt.trace.usage if decision.receipt.trace else None
    if usage:
        return credits.price_of_tokens(usage.prompt_tokens + usage.completion_tokens)
    return credits.EMBEDDED_TASK if isinstance(decision, Answer) else 0
