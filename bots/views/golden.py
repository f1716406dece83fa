"""API operations for golden questions and golden runs."""

import uuid
from typing import Any

from bots.schemas.golden import (
    GoldenQuestionDto,
    GoldenQuestionsResponse,
    GoldenRunDetail,
    GoldenRunDto,
    GoldenRunRequest,
    GoldenRunsResponse,
)
from bots.services import bots, golden_questions, golden_runs
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import BEARER, TRAINER, TenantViewSet


class GoldenQuestionViewSet(TenantViewSet):
    @operation("AI / train", "Get Golden Questions", access=BEARER, returns=GoldenQuestionsResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the bot's golden questions, which test its answers: each with what a right answer
        contains or cites. Newest first."""
        rows = golden_questions.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", schema=GoldenQuestionDto.from_row)

    @operation(
        "AI / train", "Create Golden Question", access=TRAINER, status=201, also={409: Error}
    )
    def create(self, bot_id: int, body: GoldenQuestionDto) -> GoldenQuestionDto:
        """Add a golden question, with what the bot's answer must contain or cite.

        409 `golden_question_exists` if the bot already has this question, `golden_limit` if it has
        100.
        """
        bot = bots.get(self.client, bot_id)
        return GoldenQuestionDto.from_row(golden_questions.create(bot, body=body, by=self.user))

    @operation("AI / train", "Update Golden Question", access=TRAINER, also={409: Error})
    def update(
        self, bot_id: int, golden_question_id: int, body: GoldenQuestionDto
    ) -> GoldenQuestionDto:
        """Change a golden question or what the bot's answer must contain or cite; fields left out
        keep their value.

        409 `golden_question_exists` if the bot already has this question.
        """
        bot = bots.get(self.client, bot_id)
        row = golden_questions.update(bot, golden_question_id, body=body, by=self.user)
        return GoldenQuestionDto.from_row(row)

    @operation("AI / train", "Delete Golden Question", access=TRAINER, status=204)
    def destroy(self, bot_id: int, golden_question_id: int) -> None:
        """Delete a golden question; existing golden runs keep their results."""
        bot = bots.get(self.client, bot_id)
        golden_questions.delete(bot, golden_question_id, by=self.user)


class GoldenRunViewSet(TenantViewSet):
    @operation("AI / train", "Get Golden Runs", access=BEARER, returns=GoldenRunsResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the bot's golden runs (tests with its golden questions), newest first, each with the
        questions that fail now and passed before (`broke`) and the reverse (`better`)."""
        rows = golden_runs.list_for_bot(bots.get(self.client, bot_id)).select_related("prompt")
        return page(rows, query, by="-id", schema=GoldenRunDto.from_row)

    @operation("AI / train", "Start Golden Run", access=TRAINER, status=202, also={409: Error})
    def create(self, bot_id: int, body: GoldenRunRequest) -> GoldenRunDto:
        """Start a golden run: ask the bot all of its golden questions, as it is now or with a
        change to test.

        It runs in the background; *Get Golden Run* shows the progress and the result. Customers see
        nothing, no conversation is created and no function is called. With a change to test, each
        question is asked twice, with and without it. An answer that quotes documents is free; a
        language model's tokens are charged, also for judging answers. If the credits run out, the
        run fails. If the bot has no golden questions, the run ends at once with a `total` of 0. 409
        `golden_running` while another run that a person started is unfinished.
        """
        bot = bots.get(self.client, bot_id)
        return GoldenRunDto.from_row(golden_runs.start(bot, body=body, by=self.user))

    @operation("AI / train", "Get Golden Run", access=BEARER)
    def retrieve(self, bot_id: int, run_id: uuid.UUID) -> GoldenRunDetail:
        """Get a golden run with its progress, and the questions asked so far with their answers."""
        return GoldenRunDetail.from_row(golden_runs.get(bots.get(self.client, bot_id), run_id))

    @operation("AI / train", "Publish Held Change", access=TRAINER, also={409: Error})
    def publish(self, bot_id: int, run_id: uuid.UUID) -> GoldenRunDto:
        """Publish the change that the golden run holds back, even if answers get worse: new
        instructions, or new, changed or deleted documents.

        The response is the run, whose `outcome` is now `published`. 409 `not_held` if the run holds
        nothing back: it is unfinished, its change was already published or discarded, or the
        documents were deleted or trained again after it. A document that was changed after the run
        is not published; another run tests it.
        """
        bot = bots.get(self.client, bot_id)
        return GoldenRunDto.from_row(golden_runs.publish(bot, run_id, by=self.user))

    @operation("AI / train", "Discard Held Change", access=TRAINER, also={409: Error})
    def discard(self, bot_id: int, run_id: uuid.UUID) -> GoldenRunDto:
        """Discard the document changes that the golden run tests or holds back.

        New documents are deleted; other documents keep their live version. The response is the run;
        its `outcome` is now `overtaken`. An unfinished run goes on, and the tokens that it uses are
        charged; its `outcome` is null until it ends. Instructions that a run holds back are not
        discarded; they stay unused unless they are published. 409 `not_held` if no document waits
        for the run.
        """
        bot = bots.get(self.client, bot_id)
        return GoldenRunDto.from_row(golden_runs.discard(bot, run_id, by=self.user))
