"""Request and response schemas of written texts, and of questions with their answers."""

from typing import Self

from pydantic import Field

from bots.models import Document, DocumentStage, DocumentStatus
from bots.schemas.document import (
    FAILED_CHANGE,
    IS_ANSWERING,
    STAGE,
    DocumentError,
    HeldChange,
)
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import Moment, Schema, Text, example, read_only

MAX_TITLE, MAX_TEXT = 200, 20_000
MAX_QUESTION, MAX_ANSWER = 300, 4_000
# The characters that `str.split` removes from titles and questions: `\s`, and the four ASCII
# separators, which only Python treats as whitespace.
_BLANK = r"\s\x1c-\x1f"


class Written(Schema):
    """The training fields that all written sources have."""

    status: DocumentStatus = read_only(
        "`queued` (waits for its training), `training`, `trained` or `failed` (see `error`)."
    )
    stage: DocumentStage = read_only(STAGE)
    is_answering: bool = read_only(IS_ANSWERING)
    progress: int = read_only("How far the training is, in percent, 0..100.")
    error: DocumentError | None = read_only(
        "Why training failed, as a `code` and a `message`; null if it did not."
    )
    language: str | None = read_only(
        "The language of the text, as a BCP 47 code; null until it has been read."
    )
    held_change: HeldChange | None = read_only(
        "The change that is held back until a golden run has tested it (see the bot's"
        " `hold_back_worse`) or a person publishes it. `status`, `stage`, `progress`, `error`,"
        " `updated_at` and `trained_at` then describe the change if it has a new text; the other"
        f" fields describe what is live. {FAILED_CHANGE} Null: no change is held back."
    )
    created_at: Moment = read_only("When the text was added.")
    updated_at: Moment = read_only("When the text was last changed.")
    trained_at: Moment | None = read_only(
        "When the text was last trained successfully; null: never.",
    )

    @classmethod
    def copy_written(cls, row: Document, **fields: str) -> Self:
        error = DocumentError(code=row.error_code, message=row.error_message)
        return cls.copy_from(
            row,
            status=DocumentStatus(row.status),
            stage=DocumentStage(row.stage),
            error=error if row.error_code else None,
            language=row.language or None,
            held_change=HeldChange.from_row(row),
            **fields,
        )


class TextDto(Written):
    """A text that a bot is trained on."""

    model_config = example(title="Parking", text="Guests park for free behind the house.")

    id: int = read_only("The text's id; citations contain it as `document_id`.", path="text_id")
    title: Text = Field(
        min_length=1,
        max_length=MAX_TITLE,
        pattern=rf"[^{_BLANK}]",
        description=f"The text's name in citations, 1..{MAX_TITLE} characters; line breaks become"
        " spaces.",
    )
    text: Text = Field(
        min_length=1,
        max_length=MAX_TEXT,
        pattern=r"[^\s!-/:-@\[-`{-~]",
        description=f"Plain text, 1..{MAX_TEXT:,} characters, not only punctuation, with blank"
        " lines between paragraphs; upload a longer text as a file.",
    )

    @classmethod
    def from_row(cls, row: Document) -> "TextDto":
        return cls.copy_written(row, title=row.title, text=row.content)


class TextsResponse(ListPage[TextDto]):
    """One page of the list of texts, newest first."""


class TextsQuery(Page):
    """Query parameters of the list of texts."""

    status: DocumentStatus | None = Field(
        None,
        description="Only texts with this status: `queued` (waits for its training), `training`,"
        " `trained` or `failed`; all if left out.",
    )


class QuestionAnswerDto(Written):
    """A question with the answer that the bot gives."""

    model_config = example(
        question="May I bring my dog?", answer="Yes, dogs are welcome in all rooms."
    )

    id: int = read_only(
        "The id of the question with its answer; citations contain it as `document_id`.",
        path="question_answer_id",
    )
    question: Text = Field(
        min_length=1,
        max_length=MAX_QUESTION,
        pattern=rf"[^{_BLANK}!-/:-@\[-`{{-~]",
        description=f"What customers ask, 1..{MAX_QUESTION} characters, not only punctuation; line"
        " breaks become spaces.",
    )
    answer: Text = Field(
        min_length=1,
        max_length=MAX_ANSWER,
        pattern=r"[^\s!-/:-@\[-`{-~]",
        description=f"What the bot answers, 1..{MAX_ANSWER:,} characters, not only punctuation.",
    )

    @classmethod
    def from_row(cls, row: Document) -> "QuestionAnswerDto":
        return cls.copy_written(row, question=row.title, answer=row.content)


class QuestionAnswersResponse(ListPage[QuestionAnswerDto]):
    """One page of the list of questions with their answers, newest first."""


class QuestionAnswersQuery(Page):
    """Query parameters of the list of questions with their answers."""

    status: DocumentStatus | None = Field(
        None,
        description="Only questions with this status: `queued` (waits for its training),"
        " `training`, `trained` or `failed`; all if left out.",
    )
