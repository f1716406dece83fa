"""Store whether customers of channels still want messages, and offers."""

from dataclasses import dataclass
from typing import Literal

from bots.language.normalization import normalize
from chats.models import Customer, OptOut
from chats.services.core import customers

# Whole messages, compared with their accents: "dung" may be "đúng", which means yes.
_STOP = {
    "stop", "stop all", "stopall", "stop promotions", "unsubscribe", "opt out", "optout",
    "dừng", "dừng lại", "dừng nhắn tin", "dung nhan tin", "ngừng", "ngừng nhắn tin",
    "ngung nhan tin", "hủy đăng ký", "huỷ đăng ký", "huy dang ky",
}  # fmt: skip
# The kind of the line that tells agents what a message asks for.
Wish = Literal["opted_out", "opted_in"]
_START = {"start", "unstop", "resume", "bắt đầu", "bat dau", "đăng ký", "dang ky"}


@dataclass(frozen=True)
class Choice:
    """What a message says about the customer's wish for messages."""

    # The wish, if the message says nothing else, so that the bot does not reply.
    wish: Wish | None = None
    # Whether the customer gets messages again although the message says something else.
    has_resumed: bool = False


def apply(customer_id: int, text: str) -> Choice:
    """Store that a customer wants no more messages, or wants them again.

    Any message after a stop means that the customer wants messages again. Customers who want no
    offers get them again only if they ask for them.
    """
    words = _plain(text)
    if words in _STOP:
        customers.set_opt_out(customer_id, OptOut.ALL)
        return Choice("opted_out")
    before = Customer.objects.values_list("opt_out", flat=True).get(pk=customer_id)
    if before == OptOut.NONE:
        return Choice()
    if words in _START:
        customers.set_opt_out(customer_id, OptOut.NONE)
        return Choice("opted_in")
    if before == OptOut.ALL:
        customers.set_opt_out(customer_id, OptOut.NONE)
        return Choice(has_resumed=True)
    return Choice()


def choose_offers(customer_id: int, *, are_wanted: bool) -> None:
    """Store a customer's choice about offers, which the provider reported. Refusing offers changes
    nothing for a customer who wants no messages at all."""
    before = Customer.objects.values_list("opt_out", flat=True).get(pk=customer_id)
    if are_wanted or before == OptOut.NONE:
        customers.set_opt_out(customer_id, OptOut.NONE if are_wanted else OptOut.OFFERS)


def _plain(text: str) -> str:
    words = normalize("NFC", text[:60]).casefold().strip(" .!\n")
    return " ".join(words.split())
