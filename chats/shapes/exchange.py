"""The portable shapes of conversations and messages, which move between systems without loss."""

from typing import Annotated, Any, Literal, cast

from pydantic import Field

from chatplatform.api.pagination import Page
from chatplatform.api.shapes import FreeObject, JsonObject, Moment, Shape, Text, iso
from chats import models
from chats.shapes.conversation import Conversation
from chats.shapes.insight import FeedbackReason
from chats.shapes.message import Message
from chats.shapes.people import Identity

# Numbers that are counted on must stay far below a column's largest number.
HIGHEST = 1_000_000_000
Number = Annotated[int, Field(ge=0, le=HIGHEST)]


class PortableTag(Shape):
    """A tag as it was given."""

    name: Text = Field(description="The tag.", max_length=60)
    source: Literal["agent", "ai", "customer"] = Field(description="Who gave it.")
    confidence: float | None = Field(None, description="0..1, if a machine gave it.")
    created_at: Moment = Field(description="When it was given.")


class PortableFeedback(Shape):
    """A rating as the customer gave it."""

    rating: int | None = Field(None, description="1..5; null for a thumb.", ge=1, le=5)
    thumb: Literal["up", "down"] | None = Field(None, description="Of one message, instead.")
    reason: FeedbackReason | None = Field(None, description="What was not good.")
    resolved: bool | None = Field(None, description="Whether the matter is settled.")
    comment: Text = Field("", description="In the customer's words.")
    created_at: Moment = Field(description="When it was given.")
    updated_at: Moment | None = Field(None, description="When it was last corrected.")


class PortableSummary(Shape):
    """A summary as it was made."""

    summary: Text = Field(description="The text.")
    language: str = Field(description="Its language, BCP 47.")
    key_points: list[Text] = Field(default_factory=list, description="The main points.")
    customer_intent: Text = Field("", description="What the customer wanted.")
    resolution: Text = Field("", description="How it ended.")
    message_count: int = Field(description="How many messages it covers.", ge=0)
    engine: str = Field(description="What made it.", max_length=60)
    created_at: Moment = Field(description="When it was made.")


class ConversationEntity(Conversation):
    """A conversation with everything that is stored of it, but its messages."""

    version: Number = Field(description="Grows with each change of owner or status.")
    unread_count: Number = Field(description="Customer messages that no agent has seen.")
    message_count: Number = Field(
        description="Messages in all. An import counts those that it finds."
    )
    customer_id: int = Field(description="Names the customer within this export.")
    assignee_email: str | None = Field(
        None, description="How an import finds the agent again; null if nobody has it."
    )
    provider: str = Field("", description="Where it came from, as the messaging interface says.")
    group_id: str = Field("", description="The caller's own grouping.")
    requester: Identity | None = Field(None, description="Who asked, by the caller's own id.")
    responsible: Identity | None = Field(None, description="Who is in charge, likewise.")
    external_id: str | None = Field(None, description="Its id in the system it was moved from.")
    handed_off_at: Moment | None = Field(
        None, description="When it was first handed over; null: never, or not told."
    )
    assigned_at: Moment | None = Field(None, description="When the agent got it.")
    return_at: Moment | None = Field(None, description="When it goes back without a reply.")
    last_seq: Number = Field(
        0,
        description="The `seq` of its newest message, note or not. An import goes by the messages,"
        " and by this only as long as there are none.",
    )
    read_from_seq: Number = Field(0, description="What the bot reads of the past begins after it.")
    sentiment_score: float | None = Field(None, description="-1..1.")
    taggings: list[PortableTag] = Field(default_factory=list, description="Its tags in full.")
    feedback: PortableFeedback | None = Field(None, description="The rating of the whole chat.")
    summaries: list[PortableSummary] = Field(
        default_factory=list, description="Its summaries, the newest last."
    )

    @classmethod
    def from_row(cls, row: models.Conversation) -> "ConversationEntity":
        """A row of `exporting.conversations`, which fetches the rest along."""
        # Related rows are prefetched.
        agent, fetched = row.assignee, cast("Any", row)
        return cls.copy_from(
            row,
            # The newest message travels among the messages.
            **dict(Conversation.from_row(row)) | {"last_message": None},
            assignee_email=agent.email if agent else None,
            requester=_identity(row.requester),
            responsible=_identity(row.responsible),
            taggings=[PortableTag.copy_from(tag) for tag in fetched.taggings.all()],
            feedback=next(map(PortableFeedback.copy_from, fetched.chat_feedback), None),
            summaries=[PortableSummary.copy_from(summary) for summary in fetched.summaries.all()],
        )


def _identity(stored: dict[str, Any] | None) -> Identity | None:
    """Without our own id of the agent, which means nothing elsewhere."""
    if stored is None:
        return None
    return Identity.model_construct(external_id=stored["external_id"], name=stored["name"])


class MessageEntity(Message):
    """A message with everything that is stored of it."""

    seq: int = Field(
        ge=1,
        le=HIGHEST,
        description="Place in the conversation. An import keeps the order and closes gaps.",
    )
    external_id: str | None = Field(None, description="Its id in the system it was moved from.")
    sent_at: Moment | None = Field(
        None, description="When it was said, for history that was moved in; null: `created_at`."
    )
    metadata: FreeObject = Field(default_factory=dict, description="Free keys and values.")
    receipt: JsonObject | None = Field(
        None, description="If a bot answered: engine, passages and scores, credits."
    )
    feedback: PortableFeedback | None = Field(None, description="The rating of this message.")

    @classmethod
    def from_row(cls, row: models.Message) -> dict[str, Any]:
        rating = next(iter(row.feedback_set.all()), None)
        return {
            **Message.from_row(row),
            "receipt": row.receipt,
            "feedback": PortableFeedback.copy_from(rating) if rating else None,
            "external_id": row.external_id,
            "sent_at": iso(row.sent_at) if row.sent_at else None,
            "metadata": row.metadata,
        }


class ConversationEntitiesResponse(Shape):
    """A page of an export, oldest first."""

    items: list[ConversationEntity] = Field(description="The conversations.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")
    resume_cursor: str | None = Field(
        None,
        description="Behind the last row of this page, on the last page too: with it a later"
        " request returns what came since. Null if there is no row yet.",
    )


class MessageEntitiesResponse(Shape):
    """A page of an export: the messages of all conversations, oldest first."""

    items: list[MessageEntity] = Field(description="The messages.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")
    resume_cursor: str | None = Field(
        None,
        description="Behind the last row of this page, on the last page too: with it a later"
        " request returns what came since. Null if there is no row yet.",
    )


class MigratePage(Page):
    """Which page of an export."""

    limit: int = Field(100, ge=1, le=500, description="Rows on a page, 1..500.")
