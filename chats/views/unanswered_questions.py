"""AI / train: unanswered questions."""

from typing import Any

from bots.services import bots
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.models import GroupStatus
from chats.schemas import unanswered_question as question_schemas
from chats.services.insight import question_groups, taught_answers
from identity.auth import BEARER, TRAINER, TenantViewSet


class UnansweredViewSet(TenantViewSet):
    @operation(
        "AI / train",
        "Get Unanswered Questions",
        access=BEARER,
        returns=question_schemas.UnansweredResponse,
    )
    def list(self, bot_id: int, query: question_schemas.UnansweredQuery) -> dict[str, Any]:
        """List the bot's unanswered questions of the last 30 days, most asked first.

        Similar questions form one group; a worker groups new questions within seconds. Groups are
        never split. Without a `status` filter, a group leaves this list once its question is
        answered.
        """
        statuses = [query.status] if query.status else [GroupStatus.OPEN, GroupStatus.LEARNING]
        rows = question_groups.list_for_bot(bots.get(self.client, bot_id), statuses=statuses)
        to_schema = question_schemas.UnansweredQuestion.from_row
        return page(rows, query, by=("-count", "-id"), schema=to_schema)

    @operation("AI / train", "Get Unanswered Question", access=BEARER)
    def retrieve(self, bot_id: int, question_id: int) -> question_schemas.UnansweredQuestion:
        """Get a group of unanswered questions, with the result of asking the bot again."""
        group = taught_answers.get(bots.get(self.client, bot_id), question_id)
        return question_schemas.UnansweredQuestion.from_row(group)

    @operation(
        "AI / train",
        "Get Unanswered Question Chats",
        access=BEARER,
        returns=question_schemas.AskedQuestionsResponse,
    )
    def chats(self, bot_id: int, question_id: int, query: Page) -> dict[str, Any]:
        """List the questions of a group, each with its conversation, newest first."""
        group = taught_answers.get(bots.get(self.client, bot_id), question_id)
        rows = question_groups.questions_of(group)
        return page(rows, query, by="-id", schema=question_schemas.AskedQuestion.from_row)

    @operation(
        "AI / train", "Answer Unanswered Question", access=TRAINER, status=201, also={409: Error}
    )
    def answer(
        self, bot_id: int, question_id: int, body: question_schemas.AddAnswerRequest
    ) -> question_schemas.UnansweredQuestion:
        """Answer an unanswered question yourself: your answer is stored as a question-answer source
        of the bot.

        Once the answer is trained, a worker asks the bot the question again: *Get Unanswered
        Question* shows the bot's reply. A reply that quotes documents is free; a language model's
        tokens are charged. If the bot's `hold_back_worse` is true, the answer may first have to
        pass a golden run (a test with the bot's golden questions). 409 `source_exists` if the bot
        already has an answer to this exact question, `document_limit` if it has 2,000 questions
        with answers.
        """
        group = taught_answers.get(bots.get(self.client, bot_id), question_id)
        group = taught_answers.add_answer(
            group, answer=body.answer, question=body.question, by=self.user
        )
        return question_schemas.UnansweredQuestion.from_row(group)

    @operation("AI / train", "Ask Unanswered Question Again", access=TRAINER, status=202)
    def ask(self, bot_id: int, question_id: int) -> question_schemas.UnansweredQuestion:
        """Have a worker ask the bot the question again; no customer notices it.

        When it is done, *Get Unanswered Question* has a new `asked_again_at`, with the `answer` or
        the `fault` (`engine_failed` if the credits are used up). Repeating the request while the
        question waits to be asked changes nothing. An answer that quotes documents is free here; a
        language model's tokens are charged.
        """
        group = taught_answers.get(bots.get(self.client, bot_id), question_id)
        taught_answers.request_again(group)
        return question_schemas.UnansweredQuestion.from_row(group)
