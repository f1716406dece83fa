"""Request and response schemas of golden questions and golden runs."""

import uuid
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from bots.models import GoldenOrigin, GoldenQuestion, GoldenRun, GoldenStatus
from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import (
    NOT_BLANK,
    InRequest,
    Moment,
    Schema,
    Text,
    example,
    read_only,
    without_default,
)

Word = Annotated[Text, Field(min_length=1, max_length=100, pattern=NOT_BLANK)]


MAX_TURNS = 9
_SOURCE = (
    "The full title, file name or URL of the source that the answer must cite; case-insensitive."
    " Null: any source."
)
_WORDS = (
    "Words or phrases that the answer must all contain, at most 10; case-insensitive, also as a"
    " part of a longer word. If neither words nor a source nor an answer are expected, any answer"
    " passes."
)
_ANSWER = (
    "What the right answer says, in your words; a model judges whether the bot's answer says the"
    " same. If the bot has no model, only words and source are checked. Null: no model judges."
)


class GoldenTurn(Schema):
    """A follow-up message of the customer, with what is expected of its answer."""

    question: Text = Field(
        min_length=1, max_length=300, pattern=NOT_BLANK, description="The customer's message."
    )
    expected_source: Text | None = Field(None, max_length=300, description=_SOURCE)
    expected_words: list[Word] = Field(default_factory=list, max_length=10, description=_WORDS)
    expected_answer: Text | None = Field(None, max_length=500, description=_ANSWER)


class GoldenQuestionDto(Schema):
    """A question that the bot must answer correctly, optionally with follow-up messages."""

    model_config = example(
        question="May I bring my dog?",
        expected_source="House rules",
        expected_words=["welcome"],
        turns=[{"question": "And two of them?", "expected_answer": "At most two dogs."}],
    )

    id: int = read_only("The question's id.", path="golden_question_id")
    question: Annotated[
        Text, InRequest("Required to add a question.", is_required_to_create=True)
    ] = Field(
        "",
        min_length=1,
        max_length=300,
        pattern=NOT_BLANK,
        description="The question as a customer asks it; line breaks become spaces.",
        json_schema_extra=without_default,
    )
    expected_source: Text | None = Field(None, max_length=300, description=_SOURCE)
    expected_words: list[Word] = Field(default_factory=list, max_length=10, description=_WORDS)
    expected_answer: Text | None = Field(None, max_length=500, description=_ANSWER)
    turns: list[GoldenTurn] = Field(
        default_factory=list,
        max_length=MAX_TURNS,
        description="The customer's follow-up messages in the same conversation, at most 9. The"
        " question passes if every answer does; a run skips the messages after an answer that"
        " fails.",
    )
    origin: GoldenOrigin = read_only(
        "Where the question comes from: `written` by a person, or taken from the widget's"
        " `samples`, the questions with written `answers`, or what customers `asked` most."
    )
    created_at: Moment = read_only("When the question was added.")

    @classmethod
    def from_row(cls, row: GoldenQuestion) -> "GoldenQuestionDto":
        return cls.copy_from(
            row,
            expected_source=row.expected_source or None,
            expected_answer=row.expected_answer or None,
            turns=[GoldenTurn(**turn) for turn in row.turns],
            origin=GoldenOrigin(row.origin),
        )


class GoldenQuestionsResponse(ListPage[GoldenQuestionDto]):
    """One page of the list of golden questions, newest first."""


class GoldenCollectRequest(Schema):
    """The source of new golden questions."""

    model_config = example(source="samples")

    source: Literal["samples", "answers", "asked"] = Field(
        description="`samples`: the widget's sample questions. `answers`: the questions for which"
        " you wrote an answer, with that answer as expected source. `asked`: what customers"
        " recently asked most and the bot answered, with the cited source as expected source."
    )


class GoldenCollected(Schema):
    """The golden questions that were added."""

    added: list[GoldenQuestionDto] = Field(
        description="The new questions. Questions that the bot already has are not added again, and"
        " a bot has at most 100."
    )


class GoldenRunRequest(Schema):
    """The change to test: a threshold, a version of the instructions or both; `{}` for none."""

    model_config = example(threshold=0.5)

    threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Test this value of the setting `answer_threshold` of"
        " *Getclientchatconfigrouter*: the probability, 0..1, with which the documents must answer"
        " a question for the bot to quote them. Null: the run uses the current one.",
    )
    prompt_version: int | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="Test this version of the instructions, from *Get Prompt Versions*; 404 if the"
        " bot has no version with this number. Null: the run uses the current one.",
    )


class GoldenTurnResult(Schema):
    """A message of the customer, with the bot's answer."""

    question: str = Field(description="The customer's message.")
    fault: (
        Literal["no_answer", "engine_failed", "words_missing", "other_source", "other_answer"]
        | None
    ) = Field(
        description="Why the message did not pass; null if it passed. `no_answer`: the bot had no"
        " answer. `engine_failed`: the language model failed. `words_missing`: an expected word is"
        " missing. `other_source`: the expected source is not cited. `other_answer`: a model judges"
        " that the answer does not say what was expected."
    )
    answer: str = Field(description="The bot's answer, truncated to 500 characters; may be empty.")
    sources: list[str] = Field(description="The titles of the sources that the answer cites.")


class GoldenResult(GoldenTurnResult):
    """One question of a run; `answer`, `fault` and `sources` belong to the last message asked."""

    is_passed: bool = Field(description="Whether all answers were as expected.")
    turns: list[GoldenTurnResult] = Field(
        default_factory=list,
        description="If the question has follow-up messages: all messages that were asked, the"
        " question itself first. Else empty.",
    )
    was_passed: bool | None = Field(
        description="Whether the question passes without the tested change or, if the run tests"
        " none, passed in the latest run without a change. Null: it was not asked then."
    )


def result_of(stored: dict[str, Any]) -> GoldenResult:
    """A stored result as a schema; results from an earlier release have no turns."""
    turns = [GoldenTurnResult.model_construct(**turn) for turn in stored.get("turns", ())]
    return GoldenResult.model_construct(**stored | {"turns": turns})


class GoldenRunDto(Schema):
    """A golden run: it asks the bot all of its golden questions and compares the answers."""

    id: uuid.UUID = Field(description="The run's id.")
    status: GoldenStatus = Field(
        description="`queued`: a worker will begin the run. `running`: in progress. `done`: it"
        " ended. `failed`: it stopped early; `error` says why.",
        examples=["done"],
    )
    error: str | None = Field(
        description="Why the run failed; null if it did not.", examples=[None]
    )
    total: int = Field(description="How many questions the run asks.")
    done: int = Field(description="How many questions the run has asked so far.")
    passed: int = Field(description="How many of the questions asked so far passed.")
    broke: list[str] = Field(
        description="Questions that fail now and passed before: without the tested change or, if"
        " the run tests none, in the latest run without a change, if there is one."
    )
    better: list[str] = Field(
        description="Questions that pass now and failed before: without the tested change or, if"
        " the run tests none, in the latest run without a change, if there is one."
    )
    prompt_version: int | None = Field(
        description="The version of the instructions that the run tests; null: it uses the current"
        " version.",
    )
    threshold: float | None = Field(
        description="The value of the setting `answer_threshold` (0..1) that the run tests; null:"
        " it uses the current one.",
    )
    document_ids: list[int] = Field(
        description="The ids of the held-back documents that the run tests."
    )
    outcome: Literal["published", "held", "overtaken"] | None = Field(
        description="What happened to the change that waits for this run: it was `published` or is"
        " `held` back. `overtaken`: nothing waits for this run anymore, because its documents were"
        " deleted, discarded or changed (a later run tests the changed ones once they are trained),"
        " or because the bot uses these or newer instructions. Null while the run is unfinished,"
        " and for runs that no change waits for."
    )
    engine: str | None = Field(
        description="The engine that answered; comma-separated if there were several. `extractive`:"
        " an answer quoted the documents and used no model. Null: no engine answered."
    )
    knowledge_version: int = Field(
        description="The version of the bot's content during the run; it increases with each change"
        " to the content. 0 until the run begins."
    )
    created_by: int | None = Field(
        description="The id of the person who started the run or saved the instructions that it"
        " tests; null if a change to documents started it, or if the person was deleted.",
    )
    created_at: Moment = Field(description="When the run was queued.")
    finished_at: Moment | None = Field(description="When the run ended; null: not yet.")

    @classmethod
    def from_row(cls, row: GoldenRun) -> Self:
        """An instance from a row annotated by `golden_runs.with_outcome`."""
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
        results = [result_of(stored) for stored in row.results]
        return cls.copy_run(row, results=results)


class GoldenRunsResponse(ListPage[GoldenRunDto]):
    """One page of the list of runs, newest first."""
