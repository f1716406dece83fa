"""Request and response shapes of golden questions and golden runs."""

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
    """A question that the bot must answer correctly."""

    model_config = example(
        question="May I bring my dog?", expected_source="House rules", expected_words=["welcome"]
    )

    id: int | None = read_only("The question's id.", path="golden_question_id")
    question: Text = Field(
        "",
        min_length=1,
        max_length=300,
        pattern=NOT_BLANK,
        description="The question as a customer asks it; line breaks become spaces. Required to add"
        " one.",
        json_schema_extra=without_default,
    )
    expected_source: Text | None = Field(
        None,
        max_length=300,
        description="Title, file name or address of the source that the answer must cite;"
        " case-insensitive. Null: any source.",
    )
    expected_words: list[Word] = Field(
        default_factory=list,
        max_length=10,
        description="Words that the answer must contain, at most 10. Without words and source, any"
        " answer passes.",
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
    """One page of the list of golden questions, newest first."""

    items: list[GoldenQuestionDto] = Field(description="The questions of this page.")
    next_cursor: str | None = Field(description="Cursor of the next page; null on the last.")


class GoldenCollectRequest(Shape):
    """The source of new golden questions."""

    model_config = example(source="samples")

    source: Literal["samples", "answers", "asked"] = Field(
        description="`samples`: the widget's sample questions. `answers`: the questions for which"
        " you wrote an answer, with that answer as expected source. `asked`: what customers"
        " recently asked most and the bot answered, with the cited source as expected source."
    )


class GoldenCollected(Shape):
    """The golden questions that were added."""

    added: list[GoldenQuestionDto] = Field(
        description="The new questions. Questions that the bot already has stay as they are, and"
        " the limit of 100 applies."
    )


class GoldenRunRequest(Shape):
    """The change to test, if any."""

    model_config = example(threshold=0.5)

    threshold: float | None = Field(
        None, ge=0, le=1, description="Test this `answer_threshold` instead of the current one."
    )
    prompt_version: int | None = Field(
        None, ge=1, le=2**31 - 1, description="Test this version of the instructions."
    )


class GoldenResult(Shape):
    """One question of a run with the bot's answer."""

    question: str = Field(description="The question.")
    is_passed: bool = Field(description="Whether the answer was as expected.")
    fault: Literal["no_answer", "engine_failed", "words_missing", "other_source"] | None = Field(
        description="Why it did not pass; null if it passed."
    )
    answer: str = Field(description="The bot's answer, truncated to 500 characters; may be empty.")
    sources: list[str] = Field(description="Titles of the sources that the answer cites.")
    was_passed: bool | None = Field(
        description="Whether it passed before: asked without the tested change or, if the run tests"
        " none, in the latest run without a change. Null: it was not asked then."
    )


class GoldenRunDto(Shape):
    """One pass through all golden questions of a bot."""

    id: uuid.UUID = Field(description="The run's id.")
    status: GoldenStatus = Field(description="`queued`, `running`, `done` or `failed`.")
    error: str | None = Field(description="Why it failed; else null.")
    total: int = Field(description="How many questions it asks.")
    done: int = Field(description="How many it has asked.")
    passed: int = Field(description="How many of the asked ones passed.")
    broke: list[str] = Field(description="Questions that passed before and fail now.")
    better: list[str] = Field(description="Questions that failed before and pass now.")
    prompt_version: int | None = Field(
        description="The version of the instructions that it tests; null: the current one.",
    )
    threshold: float | None = Field(
        description="The `answer_threshold` that it tests; null: the current one.",
    )
    document_ids: list[int] = Field(description="The documents held back that it tests.")
    outcome: Literal["published", "held", "overtaken"] | None = Field(
        description="The decision of a run that a change waits for: `published` or `held`."
        " `overtaken`: nothing waits for this run any more, because its documents were deleted or"
        " changed (a later run tests the changed ones once they are trained), or because the bot"
        " follows newer instructions. Null while it runs and for all other runs."
    )
    engine: str | None = Field(
        description="The engine that answered; comma-separated if there were several. `extractive`:"
        " an answer quoted the documents instead of using a model. Null: no engine answered."
    )
    knowledge_version: int = Field(description="The version of the bot's content that was asked.")
    created_by: int | None = Field(
        description="Id of the user who started it or wrote the instructions it tests; else null.",
    )
    created_at: Moment = Field(description="When it was started.")
    finished_at: Moment | None = Field(description="When it ended; null: not yet.")

    @classmethod
    def from_row(cls, row: GoldenRun) -> Self:
        """The shape of a row annotated by `golden_runs.with_outcome`."""
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

    results: list[GoldenResult] = Field(description="The questions asked so far, in order.")

    @classmethod
    def from_row(cls, row: GoldenRun) -> Self:
        results = [GoldenResult.model_construct(**result) for result in row.results]
        return cls.copy_run(row, results=results)


class GoldenRunsResponse(Shape):
    """One page of the list of runs, newest first."""

    items: list[GoldenRunDto] = Field(description="The runs of this page.")
    next_cursor: str | None = Field(description="Cursor of the next page; null on the last.")
