"""The schemas of a conversation's summary and sentiment, and of runs that summarize many."""

import uuid
from typing import Literal

from pydantic import Field

from chatplatform.api.schemas import Moment, RowId, Schema, example
from chats import models
from chats.schemas.message import Sentiment


class ChatSummary(Schema):
    """A summary of a conversation."""

    chat_id: uuid.UUID = Field(description="The conversation's id.")
    summary: str = Field(
        description="A model's prose; without a model, labeled lines from the conversation."
    )
    language: str = Field(
        description="The summary's language as a BCP 47 code: the conversation's or, without a"
        " model, that of the customer's messages."
    )
    key_points: list[str] = Field(
        description="The main points; without a model, the customer's open questions."
    )
    customer_intent: str = Field(
        description="What the customer wants; without a model, their first request."
    )
    resolution: str = Field(
        description="What was done or agreed, according to an agent or the bot; otherwise empty.",
    )
    message_count: int = Field(description="How many messages the summary covers.")
    engine: str = Field(
        description="What wrote the summary: `extractive` (rules, without a model) or"
        " `openai_compatible` (a language model)."
    )
    created_at: Moment = Field(description="When the summary was written.")

    @classmethod
    def from_row(cls, row: models.Summary) -> "ChatSummary":
        return cls.copy_from(row, chat_id=row.conversation_id)


class SummaryCalculateRequest(Schema):
    """Which conversations to summarize: those that match all given filters."""

    model_config = example(created_from="2026-11-01T00:00:00Z", created_to="2026-12-01T00:00:00Z")

    bot_id: RowId | None = Field(
        None, description="Only conversations of the bot with this id, from *Get All Bot*."
    )
    created_from: Moment | None = Field(
        None, description="Only conversations opened at this time or later."
    )
    created_to: Moment | None = Field(
        None, description="Only conversations opened before this time."
    )
    force: bool = Field(
        False, description="Whether to summarize even conversations whose summary is up to date."
    )


class SummaryJob(Schema):
    """A run that summarizes many conversations. `GET` it by its id to see its progress."""

    id: uuid.UUID = Field(description="The run's id, a UUIDv7.")
    status: Literal["queued", "running", "done", "failed"] = Field(
        description="`queued`: a worker will begin the run. `running`: in progress. `done`:"
        " finished, even if some conversations failed. `failed`: stopped early, because the credits"
        " ran out or the engine failed."
    )
    total: int = Field(
        description="How many conversations to summarize; grows if more need it during the run."
    )
    done: int = Field(description="How many conversations have been summarized so far.")
    failed: int = Field(description="How many conversations could not be summarized.")
    created_at: Moment = Field(description="When the run was requested.")
    finished_at: Moment | None = Field(None, description="When the run ended; null until then.")


class ChatSentiment(Schema):
    """A customer's sentiment in a conversation."""

    chat_id: uuid.UUID = Field(description="The conversation's id.")
    sentiment: Sentiment = Field(
        description="The customer's sentiment: `positive`, `negative`, or `neutral`, also if"
        " unsure."
    )
    score: float = Field(description="From -1 (very negative) to 1 (very positive).")
    engine: str = Field(
        description="What judged it: `extractive` (without a language model) or"
        " `openai_compatible` (a language model)."
    )
    created_at: Moment = Field(description="When the sentiment was judged.")
