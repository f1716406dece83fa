"""Sends the live stream of a reply. Only this module sets the name and the events of the stream."""

import uuid

from chatplatform.live import pubsub
from chatplatform.live.streaming import StreamEvent


class ReplyStream:
    """Streams the reply to one message to the requests that wait for it."""

    def __init__(self, message_id: uuid.UUID | str) -> None:
        self.name = f"reply:{message_id}"

    def delta(self, text: str) -> None:
        """Send the next piece of the reply's text."""
        pubsub.append(self.name, StreamEvent.DELTA, {"text": text})

    def reset(self) -> None:
        """Discard the pieces sent so far."""
        pubsub.append(self.name, StreamEvent.RESET, {})

    def joined(self, message_id: uuid.UUID | str) -> None:
        """Refer the waiting requests to a later message's stream: both messages get one reply."""
        pubsub.append(self.name, StreamEvent.JOINED, {"message_id": str(message_id)})

    def done(self) -> None:
        """End the stream, because the reply is stored or there will be no reply."""
        pubsub.append(self.name, StreamEvent.DONE, {})
