"""The live stream of a reply: the only place that knows its name and its events."""

import uuid

from chatplatform.live import pubsub
from chatplatform.live.streaming import StreamEvent


class ReplyStream:
    """The reply to one message while it is made, for the requests that wait for it."""

    def __init__(self, message_id: uuid.UUID | str) -> None:
        self.name = f"reply:{message_id}"

    def delta(self, text: str) -> None:
        """A further piece of the text."""
        pubsub.append(self.name, StreamEvent.DELTA, {"text": text})

    def reset(self) -> None:
        """The pieces so far do not count."""
        pubsub.append(self.name, StreamEvent.RESET, {})

    def joined(self, message_id: uuid.UUID | str) -> None:
        """A later message is answered together with this one: its stream goes on."""
        pubsub.append(self.name, StreamEvent.JOINED, {"message_id": str(message_id)})

    def done(self) -> None:
        """The reply is stored, or there will be none."""
        pubsub.append(self.name, StreamEvent.DONE, {})
