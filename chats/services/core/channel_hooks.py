"""What chats ask of messaging channels, which are in a higher app: `channels_app.apps` sets it."""

from collections.abc import Sequence
from typing import Any, Protocol, TypedDict

from chats.models import Conversation, Customer, Message


class ChannelSender(Protocol):
    """Satisfied by the module `channels_app.services.outbox`: jobs that send to a provider.

    Each is called in the transaction of what it follows, for chats of messaging channels only.
    """

    def enqueue_message(self, message: Message) -> None:
        """Send a message of bot, agent or system to the customer."""

    def ordering_key(self, chat: Conversation) -> str:
        """What keeps the jobs in order that send to one conversation's customer."""

    def enqueue_seen(self, chat: Conversation) -> None:
        """Show the customer that the messages were read."""

    def enqueue_typing(self, chat: Conversation, *, is_typing: bool) -> None:
        """Show the customer that somebody types."""

    def enqueue_survey(self, chat: Conversation) -> None:
        """Ask the customer how an ended chat was."""

    def forget(self, customer: Customer) -> Sequence[str]:
        """Forget what providers told of a customer; returns their ids there."""


class ChannelFields(TypedDict, total=False):
    """What a channel knows of a customer's message beside its content."""

    provider_message_id: str | None
    in_reply_to: Message | None
    metadata: dict[str, Any]


_sender: ChannelSender | None = None


def install_sender(sender: ChannelSender) -> None:
    """Called once, when the apps are loaded."""
    global _sender  # noqa: PLW0603 - one a process
    _sender = sender


def sender() -> ChannelSender:
    assert _sender, "channels_app.apps installs it"
    return _sender
