"""The shapes of golden questions and of the runs that ask them."""

import uuid
from typing import Annotated, Literal, Self

from pydantic import Field

from bots.models import GoldenOrigin, GoldenQuestion, GoldenRun, GoldenStatus
from chatplatform.api.shapes import (
    NOT_BLANK,
    Moment,
    Shape,
    Text,
    example,
    read_only,
    without_default,
)

Word = Annotated[Text, Field(min_length=1, max_length=100, pattern=NOT_BLANK)]


class GoldenQuestionDto(Shape):
    """A question that a bot must answer rightly."""

    model_config = example(
        question="May I bring my dog?", expected_source="House rules", expected_words=["welcome"]
    )

    id: int | None = read_only("The question's id.", path="golden_question_id")
    question: Text = Field(
        "",
        min_length=1,
        max_length=300,
        pattern=NOT_BLANK,
        description="The question, as a customer asks it; line breaks become spaces. Required to"
        " add one.",
        json_schema_extra=without_default,
    )
    expected_source: Text | None = Field(
        None,
        max_length=300,
        description="Title, file name or address of a source that the answer must cite; upper and"
        " lower case are one. Null: any.",
    )
    expected_words: list[Word] = Field(
        default_factory=list,
        max_length=10,
        description="Words that must all stand in the answer, at most 10. With neither words nor"
        " source any answer passes.",
    )
    origin: GoldenOrigin | None = read_only(
        "`written`, or taken from `samples`, `answers` or what was `asked` most."
    )
    created_at: Moment | None = read_only("When it was added.")

    @classmethod
    def from_row(cls, row: GoldenQuestion) -> "GoldenQuestionDto":
        return cls.copy_from(
            row,
            expected_source=row.expected_source or None,
            origin=GoldenOrigin(row.origin),
        )


class GoldenQuestionsResponse(Shape):
    """A page of golden questions, newest first."""

    items: list[GoldenQuestionDto] = Field(description="The questions of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")


class GoldenCollectRequest(Shape):
    """Where golden questions are to be taken from."""

    model_config = example(source="samples")

    source: Literal["samples", "answers", "asked"] = Field(
        description="`samples`: the widget's sample questions. `answers`: questions that you have"
        " answered yourself, each with that answer as its source. `asked`: what customers asked"
        " most of late and got an answer to, with the source that was cited."
    )


class GoldenCollected(Shape):
    """The golden questions that were added."""

    added: list[GoldenQuestionDto] = Field(
        description="The new ones. Those that the bot had are left as they are, and no more are"
        " added than the limit of 100 allows."
    )


class GoldenRunRequest(Shape):
    """A change to try, if any."""

    model_config = example(threshold=0.5)

    threshold: float | None = Field(
        None, ge=0, le=1, description="Try this `answer_threshold` in place of the present one."
    )
    prompt_version: int | None = Field(
        None, ge=1, le=2**31 - 1, description="Try this version of the prompt."
    )


class GoldenResult(Shape):
    """One question of a run, with the bot's answer."""

    question: str = Field(description="The question.")
    is_passed: bool = Field(description="Whether the answer was as expected.")
    fault: Literal["no_answer", "engine_failed", "words_missing", "other_source"] | None = Field(
        description="What was wrong with it; null: nothing."
    )
    answer: str = Field(description="What the bot answers, cut at 500 characters; may be empty.")
    sources: list[str] = Field(description="Titles of the sources that it cites.")
    was_passed: bool | None = Field(
        description="Whether it passed before: without the change that is tried, or without one in"
        " the run before. Null: it was not asked."
    )


class GoldenRunDto(Shape):
    """All golden questions of a bot, asked at one time."""

    id: uuid.UUID = Field(description="The run's id.")
    status: GoldenStatus = Field(description="`queued`, `running`, `done` or `failed`.")
    error: str | None = Field(description="Why it failed; else null.")
    total: int = Field(description="How many questions it asks.")
    done: int = Field(description="How many it has asked.")
    passed: int = Field(description="How many of these were answered as expected.")
    broke: list[str] = Field(description="Questions that passed before and fail now.")
    better: list[str] = Field(description="Questions that failed before and pass now.")
    prompt_version: int | None = Field(description="The version of the prompt that it tries.")
    threshold: float | None = Field(description="The threshold that it tries.")
    document_ids: list[int] = Field(description="The documents that it tries.")
    outcome: Literal["published", "held", "overtaken"] | None = Field(
        description="Of a run that a change waits for: whether it was let through; `overtaken`:"
        " neither, its documents were deleted or changed (once they are trained, a later run tries"
        " them), or the bot follows a later prompt. Else null."
    )
    engine: str | None = Field(
        description="The engine that answered, `embedded` where the documents were quoted in place"
        " of a model's answer; each, if several did. Null: none did."
    )
    knowledge_version: int = Field(description="Which state of the bot's knowledge was asked.")
    created_by: int | None = Field(description="Id of who started it; null: the platform did.")
    created_at: Moment = Field(description="When it was started.")
    finished_at: Moment | None = Field(description="When it was over.")

    @classmethod
    def from_row(cls, row: GoldenRun) -> Self:
        """Of a row that `with_outcome` has read."""
        return cls.copy_run(row)

    @classmethod
    def copy_run(cls, row: GoldenRun, **more: object) -> Self:
        return cls.copy_from(
            row,
            status=GoldenStatus(row.status),
            error=row.error or None,
            total=len(row.questions),
            done=len(row.results),
            prompt_version=row.prompt.version if row.prompt else None,
            outcome=row.shown_outcome or None,  # type: ignore[attr-defined]
            engine=row.engine or None,
            created_by=row.created_by_id,
            **more,
        )


class GoldenRunDetail(GoldenRunDto):
    """A run with its questions and answers."""

    results: list[GoldenResult] = Field(description="The questions asked so far, in their order.")

    @classmethod
    def from_row(cls, row: GoldenRun) -> Self:
        results = [GoldenResult.model_construct(**result) for result in row.results]
        return cls.copy_run(row, results=results)


class GoldenRunsResponse(Shape):
    """A page of runs, newest first."""

    items: list[GoldenRunDto] = Field(description="The runs of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")
