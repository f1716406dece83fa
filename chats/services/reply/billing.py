"""What a reply costs, held before it is made and paid in the transaction that stores it."""

from typing import Any

from bots.services import engines
from chats.models import Message
from identity.services import credits


def hold(message: Message) -> bool:
    """Whether the client can pay for a reply; holds the most that it may cost."""
    cost = (
        credits.MODEL_REPLY
        if engines.can_write(engines.engine_for(message.client))
        else credits.EMBEDDED_TASK
    )
    try:
        credits.reserve(message.client_id, cost=cost, reference=_reference(message))
    except credits.InsufficientCredits:
        return False
    return True


def settle(message: Message, receipt: dict[str, Any]) -> dict[str, Any]:
    """Pay for the reply that a receipt tells of; the receipt with what was paid."""
    price = _price(receipt)
    if not price:
        release(message)
        return receipt | {"credits": 0}
    paid = credits.settle(message.client_id, used=price, reference=_reference(message))
    return receipt | {"credits": paid}


def release(message: Message) -> None:
    """Give back what was held: nothing was said."""
    credits.release(message.client_id, reference=_reference(message))


def _reference(message: Message) -> str:
    return f"reply:{message.pk}"


def _price(receipt: dict[str, Any]) -> int:
    """Tokens cost also where the model refused; what the platform's own reading did not find
    costs nothing."""
    usage = receipt.get("usage")
    if usage:
        return credits.of_tokens(usage["prompt_tokens"] + usage["completion_tokens"])
    return credits.EMBEDDED_TASK if receipt.get("decision") == "answered" else 0
