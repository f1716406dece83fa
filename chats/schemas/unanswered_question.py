"""The schemas of unanswered questions."""

import uuid
from typing import Any, Literal

from pydantic import Field

from bots.schemas.written import MAX_ANSWER, MAX_QUESTION
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import Moment, Schema, Text, example
from chats.models import GroupedQuestion, GroupStatus, QuestionGroup

_FAULTS = (
    "`below_gate` (the confidence was below the threshold), `nothing_to_quote` (no sentence of the"
    " content answers the question), `model_refused` (the model found no answer in the content),"
    " `no_answer` (the content does not support the model's answer) or `engine_failed`"
)


class UnansweredQuery(Page):
    """Filters of the groups of questions."""

    status: Literal["open", "learning", "answered"] | None = Field(
        None,
        description="Only groups with this status; if left out, `open` and `learning`. `open`:"
        " there is no answer. `learning`: an answer was written, and is being trained or held back."
        " `answered`: the bot answered when it was asked again.",
    )


class AskedQuestion(Schema):
    """A customer's question that got no answer."""

    message_id: uuid.UUID = Field(description="The id of the customer's message.")
    chat_id: uuid.UUID = Field(description="The conversation's id.")
    chat_code: str = Field(description="The conversation's code.")
    text: str = Field(description="The question.")
    asked_at: Moment = Field(description="When the customer asked.")

    @classmethod
    def from_row(cls, row: GroupedQuestion) -> "AskedQuestion":
        message = row.message
        return cls.model_construct(
            message_id=message.pk,
            chat_id=message.conversation_id,
            chat_code=message.conversation.chat_code,
            text=message.text,
            asked_at=row.asked_at,
        )


class AskedQuestionsResponse(ListPage[AskedQuestion]):
    """A page of customers' questions, newest first."""


class UnansweredQuestion(Schema):
    """A group of similar questions that the bot had no answer to."""

    id: int = Field(description="The group's id, which never changes.")
    question: str = Field(description="The first question of the group, as the customer asked it.")
    count: int = Field(description="How often the question was asked in the last 30 days.")
    latest_at: Moment | None = Field(
        description="When the question was last asked in the last 30 days; null if unknown."
    )
    status: GroupStatus = Field(
        description="`open`: there is no answer. `learning`: an answer was written, which is being"
        " trained, or is held back because a golden question failed. `answered`: the bot answered"
        " when it was asked again. A new unanswered question opens the group again."
    )
    document_id: int | None = Field(
        description="The id of the question-answer source with the written answer, for *Get"
        " Question Answer By Id*; null if nobody has written one yet."
    )
    asked_again_at: Moment | None = Field(
        description="When the bot was last asked again; null if never."
    )
    answer: str | None = Field(
        description="What the bot answered when it was last asked again; null if it had no answer."
    )
    sources: list[str] = Field(description="The titles of the sources that `answer` cites.")
    fault: str | None = Field(
        description=f"Why the bot had no answer when it was last asked again: {_FAULTS}; else null."
    )

    @classmethod
    def from_row(cls, row: QuestionGroup) -> "UnansweredQuestion":
        """A group of questions; `row` must come from `question_groups.with_question`."""
        shown: Any = row
        return cls.copy_from(
            row,
            question=shown.question,
            status=GroupStatus(row.status),
            answer=row.answer or None,
            fault=row.fault or None,
        )


class UnansweredResponse(ListPage[UnansweredQuestion]):
    """A page of unanswered questions, most asked first."""


class AddAnswerRequest(Schema):
    """The right answer to a question."""

    model_config = example(answer="Yes, dogs are welcome.")

    answer: Text = Field(
        min_length=1,
        max_length=MAX_ANSWER,
        pattern=r"[^\s!-/:-@\[-`{-~]",
        description=f"The bot's answer, 1..{MAX_ANSWER:,} characters.",
    )
    question: Text | None = Field(
        None,
        min_length=1,
        max_length=MAX_QUESTION,
        pattern=r"[^\s!-/:-@\[-`{-~]",
        description="The question, reworded, 1..300 characters; null keeps the customer's words, at"
        " most their first 300 characters. Required if those contain no letters or digits (422).",
    )
