"""What core asks of its neighbours about messaging channels; `apps.py` of each sets the answer.

Channels are in a higher app, and what follows a customer's message is in `reply`: both know core,
and core knows their protocols alone.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypedDict, Unpack

from chats.models import Conversation, Customer, Message
from chats.services.core.attachments import StoredFile
from chats.shapes.message import ConvMessage


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


class Received(Protocol):
    """A customer's message as it is stored."""

    @property
    def message(self) -> Message: ...


class Receiver(Protocol):
    """Satisfied by the module `chats.services.reply.incoming`."""

    def receive(
        self,
        chat: Conversation,
        body: ConvMessage,
        *,
        files: Sequence[StoredFile] = (),
        **fields: Unpack[ChannelFields],
    ) -> Received:
        """Store a customer's message in its chat, or in the one that follows it."""


_sender: ChannelSender | None = None
_receiver: Receiver | None = None


def install_sender(sender: ChannelSender) -> None:
    """Called once, when the apps are loaded."""
    global _sender  # noqa: PLW0603 - one a process
    _sender = sender


def install_receiver(receiver: Receiver) -> None:
    """Called once, when the apps are loaded."""
    global _receiver  # noqa: PLW0603 - one a process
    _receiver = receiver


def sender() -> ChannelSender:
    assert _sender, "channels_app.apps installs it"
    return _sender


def receiver() -> Receiver:
    assert _receiver, "chats.apps installs it"
    return _receiver
