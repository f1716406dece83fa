"""Customers who want no more messages: the bot is silent, and no template is sent."""

from bots.language.normalization import normalize
from chats.models import Customer, OptOut
from chats.services.core import customers

# Compared as whole messages, with their accents: "dung" may be "đúng", which is a yes.
_STOP = {
    "stop", "stop all", "stopall", "stop promotions", "unsubscribe", "opt out", "optout",
    "dừng", "dừng lại", "dừng nhắn tin", "dung nhan tin", "ngừng", "ngừng nhắn tin",
    "ngung nhan tin", "hủy đăng ký", "huỷ đăng ký", "huy dang ky",
}  # fmt: skip
_START = {"start", "unstop", "resume", "bắt đầu", "bat dau", "đăng ký", "dang ky"}


def apply(customer_id: int, text: str) -> bool:
    """Store a customer's wish to stop or restart messages; True if the message says nothing else,
    so that nobody answers it.

    Customers who write again get answers again, but offers only if they ask for them.
    """
    words = _plain(text)
    if words in _STOP:
        customers.set_opt_out(customer_id, OptOut.ALL)
        return True
    before = Customer.objects.values_list("opt_out", flat=True).get(pk=customer_id)
    is_start = before != OptOut.NONE and words in _START
    if is_start or before == OptOut.ALL:
        customers.set_opt_out(customer_id, OptOut.NONE)
    return is_start


def choose_offers(customer_id: int, *, are_wanted: bool) -> None:
    """Store what a customer told the provider about offers."""
    before = Customer.objects.values_list("opt_out", flat=True).get(pk=customer_id)
    if are_wanted or before == OptOut.NONE:
        customers.set_opt_out(customer_id, OptOut.NONE if are_wanted else OptOut.OFFERS)


def _plain(text: str) -> str:
    words = normalize("NFC", text[:60]).casefold().strip(" .!\n")
    return " ".join(words.split())
