"""The shapes of the events of streams: of a reply while it is made, and of the live feed."""

import uuid
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from chatplatform.api.operation import Reply
from chatplatform.api.shapes import Shape
from chatplatform.live.streaming import STORED_EVENT, StreamEvent
from chats.shapes.message import Message
from webhooks.shapes.webhook import StoredEvent


class ReplyDelta(Shape):
    """A further piece of the reply."""

    text: str = Field(description="The piece: it continues the pieces before it.")


class ReplyReset(Shape):
    """The pieces so far do not count."""


class FeedReady(Shape):
    """The feed is open."""

    user_id: int = Field(description="Whose feed it is.")
    online: list[int] = Field(description="The people who are online, by their ids.")


class FeedPresence(Shape):
    """A colleague came or went."""

    user_id: int = Field(description="Who.")
    name: str = Field(description="Their name.")
    is_online: bool = Field(description="Whether they are online now.")


class Typist(Shape):
    """Who types."""

    type: Literal["agent", "customer"] = Field(description="Which side of the chat.")
    id: str = Field(description="The id of the person or the customer.")
    name: str = Field(description="Their name.")


class FeedTyping(Shape):
    """Somebody types in a chat, or stopped."""

    conversation_id: uuid.UUID = Field(description="The chat.")
    sender: Typist = Field(description="Who.")
    is_typing: bool = Field(description="False: they stopped.")


class FeedViewing(Shape):
    """A colleague looks at a chat, or no more."""

    conversation_id: uuid.UUID = Field(description="The chat.")
    user_id: int = Field(description="Who.")
    name: str = Field(description="Their name.")
    is_viewing: bool = Field(description="False: they look elsewhere.")


FEED_EVENTS: Mapping[str, type[BaseModel]] = {
    StreamEvent.READY: FeedReady,
    StreamEvent.PRESENCE: FeedPresence,
    StreamEvent.TYPING: FeedTyping,
    StreamEvent.VIEWING: FeedViewing,
    STORED_EVENT: StoredEvent,
}


def reply_events(turn: Reply, message: Reply = Message) -> Mapping[str, Reply]:
    """The events of a reply's stream, which begins with the `message` and ends with the `turn`."""
    return {
        StreamEvent.MESSAGE: message,
        StreamEvent.DELTA: ReplyDelta,
        StreamEvent.RESET: ReplyReset,
        StreamEvent.DONE: turn,
    }
