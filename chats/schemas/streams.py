"""The schemas of the events in reply streams and in the live feed of the desk."""

import uuid
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from chatplatform.api.operation import Reply
from chatplatform.api.schemas import Schema
from chatplatform.live.streaming import STORED_EVENT, StreamEvent
from chats.schemas.message import Message
from webhooks.schemas.webhook import StoredEvent


class ReplyDelta(Schema):
    """The next piece of the reply's text."""

    text: str = Field(description="The text to append to the pieces before it.")


class ReplyReset(Schema):
    """Tells the reader to discard all pieces so far."""


class FeedReady(Schema):
    """The feed is open."""

    user_id: int = Field(description="The id of the person whose feed this is.")
    online: list[int] = Field(description="The ids of the people who are online.")
    away: list[int] = Field(
        description="The ids of the people who have set themselves as away, online or not."
    )


class FeedPresence(Schema):
    """A colleague came online or went offline."""

    user_id: int = Field(description="The person's id.")
    name: str = Field(description="The person's name.")
    is_online: bool = Field(description="Whether the person is online now.")


class FeedAway(Schema):
    """A person set themselves as away or as available."""

    user_id: int = Field(description="The person's id.")
    is_away: bool = Field(description="Whether the person is away; false if they are available.")


class Typist(Schema):
    """The agent or customer who is typing."""

    type: Literal["agent", "customer"] = Field(
        description="Who is typing: an `agent` or the `customer`."
    )
    id: str = Field(description="The agent's user id, or the customer's id.")
    name: str = Field(description="The typist's name.")


class FeedTyping(Schema):
    """Somebody started or stopped typing in a conversation."""

    conversation_id: uuid.UUID = Field(description="The conversation's id.")
    sender: Typist = Field(
        description="Who is typing, or has stopped: the side as `type`, and `id` and `name`."
    )
    is_typing: bool = Field(description="Whether the sender is typing; false if they stopped.")


class FeedViewing(Schema):
    """A colleague opened or left a conversation."""

    conversation_id: uuid.UUID = Field(description="The conversation's id.")
    user_id: int = Field(description="The person's id.")
    name: str = Field(description="The person's name.")
    is_viewing: bool = Field(
        description="Whether the person has the conversation open; false if they left it.",
    )


class FeedDeleted(Schema):
    """A conversation was deleted, with all of its messages."""

    conversation_id: uuid.UUID = Field(description="The conversation's id.")


FEED_EVENTS: Mapping[str, type[BaseModel]] = {
    StreamEvent.READY: FeedReady,
    StreamEvent.PRESENCE: FeedPresence,
    StreamEvent.AWAY: FeedAway,
    StreamEvent.TYPING: FeedTyping,
    StreamEvent.VIEWING: FeedViewing,
    StreamEvent.DELETED: FeedDeleted,
    STORED_EVENT: StoredEvent,
}


def reply_events(turn: Reply, message: Reply = Message) -> Mapping[str, Reply]:
    """The events of a reply's stream, which starts with the `message` and ends with the `turn`."""
    return {
        StreamEvent.MESSAGE: message,
        StreamEvent.DELTA: ReplyDelta,
        StreamEvent.RESET: ReplyReset,
        StreamEvent.DONE: turn,
    }
