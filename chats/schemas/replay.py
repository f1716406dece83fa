"""The schemas of replays, in which a bot answers customers' past questions again."""

import uuid
from collections.abc import Iterable
from datetime import date
from typing import Any

from pydantic import Field

from bots.schemas.search import CONFIDENCE
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import Moment, Schema, example
from chats.models import Message, Replay, ReplayChange, ReplayedReply, ReplayStatus

_DECISION = (
    "The `decision` in the reply's receipt: `answered`, or why there is no answer, such as"
    " `below_gate` or `nothing_to_quote`; *Get Reply Receipt* explains them all."
)


def with_choices(text: str, choices: Iterable[str]) -> str:
    """A message as plain text: its text, then each choice on its own line."""
    return "\n".join([text, *(f"▸ {choice}" for choice in choices)])


class OriginalReply(Schema):
    """A reply and its sources."""

    text: str = Field(description="The text, then each offered choice on its own line after `▸`.")
    is_answered: bool = Field(description="Whether the bot answered the question.")
    decision: str = Field(description=_DECISION)
    sources: list[str] = Field(description="The titles of the cited sources.")

    @classmethod
    def from_message(cls, row: Message) -> "OriginalReply":
        decision = (row.receipt or {}).get("decision") or ""
        offered = (option for part in row.content for option in part.get("options") or ())
        return cls.model_construct(
            text=with_choices(row.text, (option["label"] for option in offered)),
            is_answered=decision == "answered",
            decision=decision,
            sources=list(dict.fromkeys(citation["title"] for citation in row.citations)),
        )


class CurrentReply(OriginalReply):
    """The bot's reply in the replay."""

    handoff_reason: str | None = Field(
        description="Why the bot hands over in the replay; null if it does not.",
    )
    engine: str | None = Field(description="The engine that answered; null if none did.")
    confidence: float | None = Field(description=f"{CONFIDENCE}; null if there was no search.")

    @classmethod
    def from_reply(cls, reply: Any) -> "CurrentReply":
        return cls.copy_from(reply, sources=list(reply.sources))


class ReplayedTurn(Schema):
    """An original reply of the bot, and its reply in the replay."""

    message_id: uuid.UUID = Field(description="The id of the message with the reply.")
    question: str = Field(description="What the customer asked.")
    said_at: Moment = Field(description="When the bot gave the original reply.")
    called_functions: bool = Field(
        description="Whether the bot called functions for the original reply; a replay calls none."
    )
    then: OriginalReply = Field(description="The original reply.")
    today: CurrentReply = Field(description="The bot's reply in the replay, which is not sent.")

    @classmethod
    def of(cls, reply: Message, current: Any) -> "ReplayedTurn":
        question = reply.in_reply_to
        return cls.model_construct(
            message_id=reply.pk,
            question=question.text if question else "",
            said_at=reply.created_at,
            called_functions=bool((reply.receipt or {}).get("calls")),
            then=OriginalReply.from_message(reply),
            today=CurrentReply.from_reply(current),
        )


class ReplayRequest(Schema):
    """The day whose replies to replay."""

    model_config = example(day="2026-11-20", limit=200)

    day: date = Field(description="The day, in your company's time zone; not in the future.")
    limit: int = Field(
        1000,
        ge=1,
        le=1000,
        description="The maximum number of replies to replay, the earliest of the day first,"
        " 1..1,000.",
    )


class ReplayDto(Schema):
    """A replay: the bot answers the questions of one day again, without sending anything."""

    id: uuid.UUID = Field(description="The replay's id.")
    day: date = Field(description="The day of the original replies, in your company's time zone.")
    status: ReplayStatus = Field(
        description="`queued`: a worker will begin the replay. `running`: in progress. `done`: it"
        " ended. `failed`: it stopped early; `error` says why."
    )
    error: str | None = Field(
        description="Why the replay failed; null if it did not. Replies already replayed are kept."
    )
    total: int = Field(description="How many replies the replay covers.")
    is_cut: bool = Field(
        description="Whether the day had more replies than the `limit` of *Start Replay*; the later"
        " ones are not replayed."
    )
    with_calls: int = Field(
        description="How many replies of the day called functions; they are not replayed."
    )
    done: int = Field(description="How many replies have been replayed so far.")
    gained: int = Field(
        description="How many questions were not answered originally, but are in the replay; a"
        " person must check whether the new answers are right."
    )
    lost: int = Field(
        description="How many questions were answered originally, but not in the replay."
    )
    changed: int = Field(
        description="How many questions are answered both times, but from another first source in"
        " the replay; a person must check which answer is right."
    )
    answered: int = Field(
        description="How many questions are answered both times, from the same first source."
    )
    unanswered: int = Field(description="How many questions are answered neither time.")
    engine: str | None = Field(
        description="What replied in the replay: `extractive` (rules, without a model) or"
        " `openai_compatible` (a language model); null until the replay ends."
    )
    knowledge_version: int | None = Field(
        description="The version of the bot's content; null until the replay ends."
    )
    created_at: Moment = Field(description="When the replay was requested.")
    finished_at: Moment | None = Field(description="When the replay ended; null until then.")

    @classmethod
    def from_row(cls, row: Replay) -> "ReplayDto":
        return cls.copy_from(
            row,
            status=ReplayStatus(row.status),
            error=row.error or None,
            engine=row.engine or None,
            total=len(row.message_ids),
        )


class ReplaysResponse(ListPage[ReplayDto]):
    """A page of replays, newest first."""


class ReplayedQuery(Page):
    """Filters of a replay's replies."""

    change: ReplayChange | None = Field(
        None,
        description="Only replies with this outcome: `gained` (not answered originally, answered in"
        " the replay), `lost` (the reverse), `changed` (answered both times, but from another first"
        " source in the replay), `answered` (both times, from the same first source) or"
        " `unanswered` (neither time).",
    )


class ReplayedReplyDto(Schema):
    """One reply of a replay, with its conversation."""

    chat_id: uuid.UUID = Field(description="The conversation's id.")
    chat_code: str = Field(description="The conversation's code.")
    message_id: uuid.UUID = Field(description="The id of the message with the reply.")
    change: ReplayChange = Field(
        description="How the reply in the replay compares with the original: `gained` (answered"
        " only in the replay), `lost` (answered only originally), `changed` (answered both times,"
        " but from another first source), `answered` (both times, from the same first source) or"
        " `unanswered` (neither time)."
    )
    question: str = Field(description="What the customer asked.")
    then: OriginalReply = Field(description="The original reply.")
    today: OriginalReply = Field(
        description="The bot's reply in the replay, cut to 4,000 characters."
    )

    @classmethod
    def from_row(cls, row: ReplayedReply) -> "ReplayedReplyDto":
        reply = row.message
        today = OriginalReply.model_construct(
            text=row.text,
            is_answered=row.decision == "answered",
            decision=row.decision,
            sources=row.sources,
        )
        return cls.model_construct(
            chat_id=reply.conversation_id,
            chat_code=reply.conversation.chat_code,
            message_id=reply.pk,
            change=ReplayChange(row.change),
            question=reply.in_reply_to.text if reply.in_reply_to else "",
            then=OriginalReply.from_message(reply),
            today=today,
        )


class ReplayedResponse(ListPage[ReplayedReplyDto]):
    """A page of a replay's replies, in the order in which they were sent."""
