"""The events that providers report, in one format for all providers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from channels_app.providers.errors import Kind
from channels_app.providers.types import Place
from chats.services.core.channel_context import Line


@dataclass(frozen=True, kw_only=True)
class Item:
    """One event in a callback. If the provider repeats the event, `key` is the same."""

    account_id: str
    key: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Unsupported(Item):
    """An event of an unknown kind, or one that chats do not show. It is recorded but ignored."""

    kind: str


@dataclass(frozen=True)
class InboundFile:
    """A customer's file: its `url` at the provider, the id with which to request a URL, or the
    bytes themselves, if the callback contained them."""

    kind: Literal["image", "audio", "video", "file"]
    url: str = ""
    media_id: str = ""
    file_name: str = ""
    data: bytes = b""


@dataclass(frozen=True)
class Price:
    """Whether the provider charges for a message, and in which category, such as `service`."""

    is_charged: bool
    category: str


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a message contains. `lines` describe its context, or content that is not text."""

    text: str = ""
    files: Sequence[InboundFile] = ()
    place: Place | None = None
    lines: Sequence[Line] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.files or self.place or self.lines)


@dataclass(frozen=True, kw_only=True)
class FromCustomer(Item):
    """An event that concerns a customer; `user_id` is the customer's id at this account."""

    user_id: str
    # A second id of the same customer at the account, if the provider reports two.
    alternate_user_id: str = ""
    # The phone number, if the callback contains it.
    phone: str = ""


@dataclass(frozen=True, kw_only=True)
class MessageIn(FromCustomer):
    """A customer wrote, tapped a button, sent files or called."""

    message_id: str | None
    content: Content
    reply_to: str | None = None
    # The words of the message that it replies to, if the callback contains them.
    quoted: str = ""
    # Empty if the callback does not contain it.
    customer_name: str = ""
    # For example a button's payload, or the advertisement that led the customer here.
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Edited(FromCustomer):
    message_id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Unsent(FromCustomer):
    message_id: str


@dataclass(frozen=True, kw_only=True)
class Reacted(FromCustomer):
    """A customer reacted to a message, or removed the reaction: then `reaction` is None."""

    message_id: str
    reaction: str | None


@dataclass(frozen=True, kw_only=True)
class Survey(FromCustomer):
    """A submitted survey. `question_id` is the id that we gave the survey's question."""

    question_id: str
    rating: int | None
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class Echo(FromCustomer):
    """A message to a customer (`user_id`), sent by us or by another app."""

    message_id: str
    content: Content = Content()
    # The id of our `OutboundSend`, if the provider returns it.
    send_id: str | None = None
    # Whether another app sent it; None if the provider does not say.
    is_foreign: bool | None = None
    price: Price | None = None


@dataclass(frozen=True, kw_only=True)
class Receipt(FromCustomer):
    """The messages in `message_ids`, and all messages sent until `up_to`, were delivered or
    read."""

    status: Literal["delivered", "read"]
    message_ids: Sequence[str] = ()
    # The id of our `OutboundSend`, if the provider returns it.
    send_id: str | None = None
    # Whether all messages sent before the ones in `message_ids` are included.
    and_before: bool = False
    up_to: datetime | None = None
    price: Price | None = None


@dataclass(frozen=True, kw_only=True)
class Failure(FromCustomer):
    """A message that the provider had accepted was not delivered."""

    message_id: str
    send_id: str | None = None
    # None if the reason has no known code.
    kind: Kind | None = None
    code: str = ""
    error: str


@dataclass(frozen=True, kw_only=True)
class IdsChanged(FromCustomer):
    """The customer has a new number or id from now on; an empty field means no change."""

    new_number: str = ""
    new_user_id: str = ""


@dataclass(frozen=True, kw_only=True)
class AccountTrouble(Item):
    """The provider restricted or removed an account, or a business account with all its numbers.

    If `is_over`, the trouble has ended.
    """

    reason: str = ""
    is_over: bool = False


@dataclass(frozen=True, kw_only=True)
class ProviderNotice(Item):
    """What a provider reports about an account, a business account with all its numbers, or one of
    its templates. The values are in lower case."""

    kind: Literal[
        "template_status", "template_quality", "template_category", "quality", "sending_limit",
        "name", "review", "alert",
    ]  # fmt: skip
    value: str
    previous: str = ""
    template: str = ""
    language: str = ""
    # The phone number that the provider names, in digits; empty if it names none.
    number: str = ""
    reason: str = ""
    # For an alert: whether it is only informational.
    is_harmless: bool = False


@dataclass(frozen=True, kw_only=True)
class ThreadControl(FromCustomer):
    """Another app has taken the customer's thread, or has given it back to us."""

    is_ours: bool


@dataclass(frozen=True, kw_only=True)
class AccountBlocked(FromCustomer):
    """A customer blocked or unblocked the account. Nothing reaches a customer who blocks it."""

    is_blocked: bool


@dataclass(frozen=True, kw_only=True)
class MarketingPreferenceChanged(FromCustomer):
    """A customer told the provider whether they want offers from the account."""

    are_wanted: bool


@dataclass(frozen=True, kw_only=True)
class Rated(FromCustomer):
    """A customer rated one of our messages with a thumb up or down."""

    message_id: str
    is_good: bool


@dataclass(frozen=True, kw_only=True)
class Referred(FromCustomer):
    """A link or an advertisement led a customer to an existing thread."""

    referral: dict[str, Any]
