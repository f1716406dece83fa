"""What providers report, in the same words for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from channels_app.providers.errors import Kind
from channels_app.providers.types import Place


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing in a callback. `key` is the same whenever the provider repeats it."""

    account_id: str
    key: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Unsupported(Item):
    """Of a kind that is not known, or that chats do not show: counted."""

    kind: str


@dataclass(frozen=True)
class InboundFile:
    """A customer's file: `url` at the provider, or what its client needs to find it."""

    kind: Literal["image", "audio", "video", "file"]
    url: str = ""
    media_id: str = ""
    file_name: str = ""


@dataclass(frozen=True, kw_only=True)
class FromCustomer(Item):
    """Done by a customer; `user_id` is the customer's id at this account."""

    user_id: str
    # Another id of the same customer there, if the provider has two and tells both.
    second_user_id: str = ""


@dataclass(frozen=True, kw_only=True)
class MessageIn(FromCustomer):
    """A customer wrote, tapped a button or sent files."""

    message_id: str | None
    text: str = ""
    files: Sequence[InboundFile] = ()
    place: Place | None = None
    reply_to: str | None = None
    # As far as the callback tells it.
    customer_name: str = ""
    phone: str = ""
    # A button's payload, the advertisement that led here.
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
    """`reaction` None: taken back."""

    message_id: str
    reaction: str | None


@dataclass(frozen=True, kw_only=True)
class Survey(FromCustomer):
    """A submitted survey. `question_id` is the one that we gave it."""

    question_id: str
    rating: int | None
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class Echo(FromCustomer):
    """A message to a customer (`user_id`), by us or by somebody with another tool."""

    message_id: str
    text: str = ""
    files: Sequence[InboundFile] = ()
    # Our own id of the send, if the provider gives it back.
    send_id: str | None = None
    # Whether another app sent it, if the provider tells.
    is_foreign: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Receipt(FromCustomer):
    """Messages arrived, or were read: those named, and all that were sent up to a moment."""

    status: Literal["delivered", "read"]
    message_ids: Sequence[str] = ()
    # Our own id of the send, if the provider gives it back.
    send_id: str | None = None
    # Also all that were sent before those named.
    and_before: bool = False
    up_to: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Failure(FromCustomer):
    """A message that the provider had taken did not arrive."""

    message_id: str
    send_id: str | None = None
    # None: the reason has no code that we know.
    kind: Kind | None = None
    error: str


@dataclass(frozen=True, kw_only=True)
class IdsChanged(FromCustomer):
    """The customer goes by another number or id from now on; empty: as before."""

    new_number: str = ""
    new_user_id: str = ""


@dataclass(frozen=True, kw_only=True)
class AccountTrouble(Item):
    """The provider restricted or removed the account, or all accounts below the one named."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Rated(FromCustomer):
    """A thumb on one of our messages."""

    message_id: str
    is_good: bool


@dataclass(frozen=True, kw_only=True)
class Referred(FromCustomer):
    """A link or an advertisement led a customer to an existing thread."""

    referral: dict[str, Any]
