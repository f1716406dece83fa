"""The schemas of feedback."""

import uuid
from typing import Literal

from pydantic import Field, model_validator

from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import Moment, RowId, Schema, Text, read_only
from chats import models

Thumb = Literal["up", "down"]
FeedbackReason = Literal[
    "wrong_answer", "not_understood", "no_solution", "too_slow", "unfriendly", "other"
]


class ChatFeedBackDto(Schema):
    """A customer's rating of a conversation or of one message in it."""

    rating: int | None = Field(
        None,
        ge=1,
        le=5,
        description="The stars, from 1 (bad) to 5 (good), for a conversation or a message; null"
        " with `thumb`.",
        examples=[5],
    )
    thumb: Thumb | None = Field(
        None,
        description="`up` or `down`, for one message, instead of `rating`; null with `rating`.",
    )
    reason: FeedbackReason | None = Field(
        None,
        description="What was wrong: `wrong_answer`, `not_understood` (the question),"
        " `no_solution`, `too_slow`, `unfriendly` or `other`; null if the customer did not say."
        " Your website may offer these reasons.",
    )
    resolved: bool | None = Field(
        None, description="Whether the problem is solved; null if unknown."
    )
    comment: Text | None = Field(
        None, description="The customer's comment; null if there is none.", max_length=2000
    )
    message_id: uuid.UUID | None = Field(
        None,
        description="The id of the rated answer, a message of the bot or an agent; null for the"
        " conversation as a whole.",
    )
    id: int = read_only("The rating's id.")
    chat_id: uuid.UUID = read_only("The conversation's id.", path="chat_id")
    created_at: Moment = read_only("When the customer gave the rating.")
    updated_at: Moment | None = read_only(
        "When the customer last corrected the rating; null if never.",
    )

    @model_validator(mode="after")
    def _has_one_rating(self) -> "ChatFeedBackDto":
        if (self.rating is None) == (self.thumb is None):
            raise ValueError("give either rating or thumb")
        if self.thumb and not self.message_id:
            raise ValueError("a thumb is for one message: give message_id")
        return self

    @classmethod
    def from_row(cls, row: models.Feedback) -> "ChatFeedBackDto":
        return cls.copy_from(row, chat_id=row.conversation_id, comment=row.comment or None)


class FeedbacksQuery(Page):
    """Filters of feedback."""

    bot_id: RowId | None = Field(
        None,
        description="Only feedback on conversations with the bot with this id, from *Get All Bot*.",
    )
    rating: int | None = Field(
        None, ge=1, le=5, description="Only feedback with this number of stars, 1 to 5."
    )
    thumb: Thumb | None = Field(None, description="Only feedback with this thumb, `up` or `down`.")
    reason: FeedbackReason | None = Field(None, description="Only feedback with this reason.")
    chat_id: uuid.UUID | None = Field(
        None, description="Only feedback on the conversation with this id."
    )
    customer_id: RowId | None = Field(
        None, description="Only feedback of the customer with this id, from *Get Customers*."
    )
    created_from: Moment | None = Field(None, description="Only feedback from this time or later.")
    created_to: Moment | None = Field(None, description="Only feedback from before this time.")


class FeedbacksResponse(ListPage[ChatFeedBackDto]):
    """A page of feedback, newest first."""
