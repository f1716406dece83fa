"""The shapes of replies that are made again."""

import uuid
from collections.abc import Iterable
from datetime import date
from typing import Any

from pydantic import Field

from chatplatform.api.pagination import Page
from chatplatform.api.shapes import Moment, Shape, example
from chats.models import Message, Replay, ReplayChange, ReplayedReply, ReplayStatus

_DECISION = "As in the receipt: `answered`, or why there is no answer."


def with_choices(text: str, choices: Iterable[str]) -> str:
    """What was said as people read it: below the words each choice, on a line of its own."""
    return "\n".join([text, *(f"▸ {choice}" for choice in choices)])


class OriginalReply(Shape):
    """What was said, and what it rested on."""

    text: str = Field(
        description="The words, and below them what there was to choose, each on a line after `▸`."
    )
    is_answered: bool = Field(description="Whether it answers the question.")
    decision: str = Field(description=_DECISION)
    sources: list[str] = Field(description="Titles of the sources that it cites.")

    @classmethod
    def from_message(cls, row: Message) -> "OriginalReply":
        decision = (row.receipt or {}).get("decision") or ""
        offered = (option for piece in row.content for option in piece.get("options") or ())
        return cls.model_construct(
            text=with_choices(row.text, (option["label"] for option in offered)),
            is_answered=decision == "answered",
            decision=decision,
            sources=list(dict.fromkeys(citation["title"] for citation in row.citations)),
        )


class CurrentReply(OriginalReply):
    """What the bot says today."""

    handoff_reason: str | None = Field(description="Why it would hand over; null: it would not.")
    engine: str | None = Field(description="The engine that answers; null: none did.")
    confidence: float | None = Field(
        description="How sure the search is, 0..1; null: it was not asked."
    )

    @classmethod
    def from_reply(cls, made: Any) -> "CurrentReply":
        return cls.copy_from(made, sources=list(made.sources))


class ReplayedTurn(Shape):
    """A reply of the bot beside the one that it gives today."""

    message_id: uuid.UUID = Field(description="The reply.")
    question: str = Field(description="What the customer asked.")
    said_at: Moment = Field(description="When it was answered.")
    called_functions: bool = Field(
        description="Whether functions were called for it; none is called again."
    )
    then: OriginalReply = Field(description="What was said then.")
    today: CurrentReply = Field(description="What the bot says today; it is not sent.")

    @classmethod
    def of(cls, reply: Message, made: Any) -> "ReplayedTurn":
        asked = reply.in_reply_to
        return cls.model_construct(
            message_id=reply.pk,
            question=asked.text if asked else "",
            said_at=reply.created_at,
            called_functions=bool((reply.receipt or {}).get("calls")),
            then=OriginalReply.from_message(reply),
            today=CurrentReply.from_reply(made),
        )


class ReplayRequest(Shape):
    """Which replies are made again."""

    model_config = example(day="2026-11-20", limit=200)

    day: date = Field(description="The day, in the client's time zone.")
    limit: int = Field(
        1000, ge=1, le=1000, description="Replies at most, the earliest of the day, 1..1,000."
    )


class ReplayDto(Shape):
    """A day's replies of a bot, made again."""

    id: uuid.UUID = Field(description="The replay's id.")
    day: date = Field(description="The day.")
    status: ReplayStatus = Field(description="`queued`, `running`, `done` or `failed`.")
    error: str | None = Field(description="Why it failed; else null. What was done stays.")
    total: int = Field(description="How many replies are made again.")
    is_cut: bool = Field(description="Whether the day held more.")
    with_calls: int = Field(
        description="Replies of the day that called functions: these are not made again."
    )
    done: int = Field(description="How many are done.")
    gained: int = Field(
        description="Not answered then, and answered today; whether rightly, a person must judge."
    )
    lost: int = Field(description="Answered by this bot then, and not today.")
    changed: int = Field(
        description="Answered then and today, but from another source first: perhaps wrongly now."
    )
    answered: int = Field(description="Answered then and today, from the same source first.")
    unanswered: int = Field(description="Answered neither then nor today.")
    engine: str | None = Field(description="The engine that answered; null until it is over.")
    knowledge_version: int | None = Field(description="State of the training; null until then.")
    created_at: Moment = Field(description="When it was asked for.")
    finished_at: Moment | None = Field(description="When it was over.")

    @classmethod
    def from_row(cls, row: Replay) -> "ReplayDto":
        return cls.copy_from(
            row,
            status=ReplayStatus(row.status),
            error=row.error or None,
            engine=row.engine or None,
            total=len(row.message_ids),
        )


class ReplaysResponse(Shape):
    """A page of replays, newest first."""

    items: list[ReplayDto] = Field(description="The replays of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


class ReplayedQuery(Page):
    """Filter of a replay's replies."""

    change: ReplayChange | None = Field(
        None,
        description="Only `gained` (not answered then, answered today), `lost` (the reverse),"
        " `changed` (answered from another source first), `answered` or `unanswered` (both times).",
    )


class ReplayedReplyDto(Shape):
    """One reply of a replay, with its chat."""

    chat_id: uuid.UUID = Field(description="The chat.")
    chat_code: str = Field(description="The chat's code.")
    message_id: uuid.UUID = Field(description="The reply.")
    change: ReplayChange = Field(description="What has become of it.")
    question: str = Field(description="What the customer asked.")
    then: OriginalReply = Field(description="What was said then.")
    today: OriginalReply = Field(description="What the bot says today; cut at 4,000 characters.")

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


class ReplayedResponse(Shape):
    """A page of a replay's replies, in the order of the day."""

    items: list[ReplayedReplyDto] = Field(description="The replies of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")
