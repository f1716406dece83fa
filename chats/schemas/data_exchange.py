"""Portable schemas of conversations and messages, for moving them between systems without loss."""

from typing import Annotated, Any, Generic, Literal, cast

from pydantic import Field, SerializeAsAny

from chatplatform.api.pagination import Item, ListPage, Page
from chatplatform.api.schemas import JsonObject, Moment, Schema, Text, iso
from chats import models
from chats.schemas.conversation import Conversation
from chats.schemas.feedback import FeedbackReason, Thumb
from chats.schemas.message import Message
from chats.schemas.people import Identity

# The highest counter and `seq` that an import accepts. The database's integer columns can store
# twice as much, which leaves room for later messages.
MAX_COUNTER = 1_000_000_000
Counter = Annotated[int, Field(ge=0, le=MAX_COUNTER)]


class PortableTag(Schema):
    """A tag, with who added it and when."""

    name: Text = Field(description="The tag's name.", max_length=60)
    source: Literal["agent", "ai", "customer"] = Field(
        description="Who added the tag: someone on your team or your server (`agent`), `ai`, or the"
        " `customer`."
    )
    confidence: float | None = Field(
        None,
        description="If AI added the tag: how well it fits, 0..1 (not a probability). Otherwise"
        " null.",
    )
    created_at: Moment = Field(description="When the tag was added.")


class PortableFeedback(Schema):
    """A customer's rating."""

    rating: int | None = Field(None, description="The stars, 1..5; null for a thumb.", ge=1, le=5)
    thumb: Thumb | None = Field(
        None,
        description="`up` or `down`, for one message, instead of `rating`; null with `rating`.",
    )
    reason: FeedbackReason | None = Field(
        None,
        description="What was wrong, as in the `reason` of *Create Chat Feed Back*; null if the"
        " customer did not say.",
    )
    resolved: bool | None = Field(
        None, description="Whether the problem is solved; null if unknown."
    )
    comment: Text = Field("", description="The customer's comment.")
    created_at: Moment = Field(description="When the customer gave the rating.")
    updated_at: Moment | None = Field(
        None, description="When the rating was last corrected; null if never."
    )


class PortableSummary(Schema):
    """A stored summary."""

    summary: Text = Field(description="The summary's text.")
    language: str = Field(description="The summary's language as a BCP 47 code.")
    key_points: list[Text] = Field(default_factory=list, description="The main points.")
    customer_intent: Text = Field("", description="What the customer wanted.")
    resolution: Text = Field("", description="How the customer's problem was solved.")
    message_count: int = Field(description="How many messages the summary covers.", ge=0)
    engine: str = Field(description="The engine that wrote the summary.", max_length=60)
    created_at: Moment = Field(description="When the summary was written.")


class ConversationEntity(Conversation):
    """A conversation with all its stored data except the messages."""

    version: Counter = Field(
        description="Increases with each change of `status`, `assign_type` or `assignee`."
    )
    last_message: SerializeAsAny[Message] | None = Field(
        None,
        description="Always null: *Migration tool - Migrate chat messages* lists the messages.",
    )
    unread_count: Counter = Field(
        description="How many of the customer's messages no agent has read."
    )
    message_count: Counter = Field(
        description="The number of messages, without internal notes and the welcome. An import"
        " ignores this and counts the messages itself."
    )
    customer_id: int = Field(
        description="A number that identifies the customer within this export."
    )
    assignee_email: str | None = Field(
        None,
        description="The agent's email address, which an import uses to find the agent; null if no"
        " agent has the conversation.",
    )
    provider: str = Field(
        "",
        description="The system that the conversation comes from, as given to the messaging API.",
    )
    group_id: str = Field(
        "", description="Your own id for a group that the conversation belongs to."
    )
    requester: Identity | None = Field(
        None,
        description="The customer, with the id given to the messaging API; null if the conversation"
        " was not opened with it.",
    )
    responsible: Identity | None = Field(
        None,
        description="Who should answer, with the id given to the messaging API; null if none was"
        " given.",
    )
    external_id: str | None = Field(
        None,
        description="The conversation's id in the system from which it was imported; null if it was"
        " not imported.",
    )
    handed_off_at: Moment | None = Field(
        None,
        description="When the conversation was first handed over; null if never.",
    )
    assigned_at: Moment | None = Field(
        None,
        description="When the conversation was assigned to the agent; null if no agent has it.",
    )
    return_at: Moment | None = Field(
        None,
        description="When the conversation returns to the queue unless the agent replies; null if"
        " it does not.",
    )
    last_seq: Counter = Field(
        0,
        description="The `seq` of the newest message, notes included. An import uses it only if"
        " there are no messages.",
    )
    read_from_seq: Counter = Field(
        0, description="The bot considers only messages after this `seq`."
    )
    sentiment_score: float | None = Field(
        None,
        description="The sentiment as a number, from -1 (negative) to 1 (positive); null if it was"
        " not judged.",
    )
    taggings: list[PortableTag] = Field(
        default_factory=list, description="The conversation's tags, with who added them and when."
    )
    feedback: PortableFeedback | None = Field(
        None, description="The conversation's rating; null if there is none."
    )
    summaries: list[PortableSummary] = Field(
        default_factory=list, description="The conversation's summaries, newest last."
    )

    @classmethod
    def from_row(cls, row: models.Conversation) -> "ConversationEntity":
        """A conversation with its tags, rating and summaries; `row` must come from
        `exporting.conversations`, which prefetches them."""
        agent, prefetched = row.assignee, cast("Any", row)
        return cls.copy_from(
            row,
            # The newest message is exported with the other messages.
            **dict(Conversation.from_row(row)) | {"last_message": None},
            assignee_email=agent.email if agent else None,
            requester=_identity(row.requester),
            responsible=_identity(row.responsible),
            taggings=[PortableTag.copy_from(tag) for tag in prefetched.taggings.all()],
            feedback=next(map(PortableFeedback.copy_from, prefetched.chat_feedback), None),
            summaries=[
                PortableSummary.copy_from(summary) for summary in prefetched.summaries.all()
            ],
        )


def _identity(stored: dict[str, Any] | None) -> Identity | None:
    """A stored person as `Identity`, or None. The agent's user id is left out, because it means
    nothing in another system."""
    if stored is None:
        return None
    return Identity.model_construct(external_id=stored["external_id"], name=stored["name"])


class MessageEntity(Message):
    """A message with all its stored data."""

    seq: int = Field(
        ge=1,
        le=MAX_COUNTER,
        description="The message's number in the conversation. An import numbers the messages anew,"
        " 1, 2, 3 …",
    )
    external_id: str | None = Field(
        None,
        description="The message's id in the system from which it was imported; null if it was not"
        " imported.",
    )
    sent_at: Moment | None = Field(
        None,
        description="When the message was sent, for imported history; null means `created_at`.",
    )
    receipt: JsonObject | None = Field(
        None,
        description="For a message of the bot or the platform: what *Get Reply Receipt* explains,"
        " such as the engine, the passages with scores, and the credits. Null for other messages.",
    )
    feedback: PortableFeedback | None = Field(
        None, description="The rating of this message; null if there is none."
    )

    @classmethod
    def from_row(cls, row: models.Message) -> dict[str, Any]:
        rating = next(iter(row.feedback_set.all()), None)
        return {
            **Message.from_row(row),
            "receipt": row.receipt,
            "feedback": PortableFeedback.copy_from(rating) if rating else None,
            "external_id": row.external_id,
            "sent_at": iso(row.sent_at) if row.sent_at else None,
        }


class ExportPage(ListPage[Item], Generic[Item]):
    """A page of an export, oldest first."""

    resume_cursor: str | None = Field(
        None,
        description="A cursor to the rows after this page, also on the last page: a later request"
        " with it returns the rows added since. Null if there are no rows yet.",
    )


class ConversationEntitiesResponse(ExportPage[ConversationEntity]):
    """A page of an export, oldest first."""


class MessageEntitiesResponse(ExportPage[MessageEntity]):
    """A page of an export: the messages of all conversations, oldest first."""


class MigratePage(Page):
    """Which page of an export to return."""

    cursor: Text | None = Field(
        None,
        description="`next_cursor` or `resume_cursor` from the previous page; leave it out for the"
        " first page.",
        max_length=500,
    )
    limit: int = Field(
        100, ge=1, le=500, description="Maximum number of rows per page, 1 to 500; by default 100."
    )
