"""The shapes of questions that bots had no answer to."""

import uuid
from typing import Any, Literal

from pydantic import Field

from bots.shapes.written import MAX_ANSWER, MAX_QUESTION
from chatplatform.api.pagination import Page
from chatplatform.api.shapes import Moment, Shape, Text, example
from chats.models import GroupedQuestion, GroupStatus, QuestionGroup

_FAULTS = "`below_gate`, `nothing_to_quote`, `model_refused`, `no_answer` or `engine_failed`"


class UnansweredQuery(Page):
    """Filter of the groups."""

    status: Literal["open", "learning", "answered"] | None = Field(
        None, description="Only groups with this status; left out: `open` and `learning`."
    )


class AskedQuestion(Shape):
    """What a customer asked in vain."""

    message_id: uuid.UUID = Field(description="The customer's message.")
    chat_id: uuid.UUID = Field(description="The chat.")
    chat_code: str = Field(description="The chat's code.")
    text: str = Field(description="What was asked.")
    asked_at: Moment = Field(description="When.")

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


class AskedQuestionsResponse(Shape):
    """A page of what customers asked, the latest first."""

    items: list[AskedQuestion] = Field(description="The questions of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


class UnansweredQuestion(Shape):
    """A question that the bot had no answer to, with all that are like it."""

    id: int = Field(description="The group's id; it stays.")
    question: str = Field(description="The first question of the group, as it was asked.")
    count: int = Field(description="How often it was asked in the last 30 days.")
    latest_at: Moment | None = Field(description="When it was asked last.")
    status: GroupStatus = Field(
        description="`open`; `learning`: an answer was written, and is trained or held back;"
        " `answered`: asked again, it had an answer. A question that comes again in vain opens it."
    )
    document_id: int | None = Field(description="The answer that was written for it, if any.")
    asked_again_at: Moment | None = Field(description="When it was asked again.")
    answer: str | None = Field(description="What the bot said then; null: it had no answer.")
    sources: list[str] = Field(description="Titles of the sources that this answer cites.")
    fault: str | None = Field(description=f"Why it had none then: {_FAULTS}; else null.")

    @classmethod
    def from_row(cls, row: QuestionGroup) -> "UnansweredQuestion":
        """Of a row that `with_question` has read."""
        shown: Any = row
        return cls.copy_from(
            row,
            question=shown.question,
            status=GroupStatus(row.status),
            answer=row.answer or None,
            fault=row.fault or None,
        )


class UnansweredResponse(Shape):
    """A page of questions without an answer, most asked first."""

    items: list[UnansweredQuestion] = Field(description="The groups of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


class AddAnswerRequest(Shape):
    """The right answer to a question."""

    model_config = example(answer="Yes, dogs are welcome.")

    answer: Text = Field(
        min_length=1,
        max_length=MAX_ANSWER,
        pattern=r"[^\s!-/:-@\[-`{-~]",
        description=f"What the bot answers, 1..{MAX_ANSWER:,} characters.",
    )
    question: Text | None = Field(
        None,
        min_length=1,
        max_length=MAX_QUESTION,
        pattern=r"[^\s!-/:-@\[-`{-~]",
        description="The question in better words; null: as it was asked. Needed if that holds no"
        " words.",
    )
