"""The interface through which this app calls the messaging channels of `channels_app`, which it
must not import."""

from collections.abc import Sequence
from typing import Any, Protocol, TypedDict

from chatplatform.hooks import Hook
from chats.models import Conversation, Customer, Message


class ChannelSender(Protocol):
    """Enqueues jobs that send to a provider; `channels_app.services.outbox` implements it. Call the
    `enqueue_…` methods in the transaction that stores what they send, and only for chats on
    messaging channels."""

    def enqueue_message(self, message: Message) -> None:
        """Send the customer a message by the bot, an agent or the system."""

    def ordering_key(self, chat: Conversation) -> str:
        """The ordering key of the jobs that send messages to the conversation's customer."""

    def enqueue_read_receipt(self, chat: Conversation) -> None:
        """Show the customer that an agent has read their messages."""

    def enqueue_typing(self, chat: Conversation, *, is_typing: bool) -> None:
        """Show the customer that an agent is typing, or has stopped typing."""

    def enqueue_survey(self, chat: Conversation) -> None:
        """Ask the customer to rate an ended chat."""

    def erase_customer(self, customer: Customer) -> Sequence[str]:
        """Delete what providers reported about a customer; return the customer's ids at the
        providers."""


class ChannelFields(TypedDict, total=False):
    """What a channel knows about a customer's message in addition to its content."""

    provider_message_id: str | None
    in_reply_to: Message | None
    metadata: dict[str, Any]


sender = Hook[ChannelSender]()
