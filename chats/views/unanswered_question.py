"""Views of unanswered questions."""

from typing import Any

from bots.services import bots
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.models import GroupStatus
from chats.services.insight import question_groups, unanswered_questions
from chats.shapes import unanswered_question as question_shapes
from identity.auth import BEARER, TRAINER, TenantViewSet


class UnansweredViewSet(TenantViewSet):
    @operation(
        "AI / train",
        "Get Unanswered Questions",
        access=BEARER,
        returns=question_shapes.UnansweredResponse,
    )
    def list(self, bot_id: int, query: question_shapes.UnansweredQuery) -> dict[str, Any]:
        """List the bot's unanswered questions of the last 30 days, most asked first.

        Similar questions form one group, compared by their words or by the encoder. A worker groups
        questions within seconds. Groups are never split, and a group leaves this list once its
        question is answered.
        """
        statuses = [query.status] if query.status else [GroupStatus.OPEN, GroupStatus.LEARNING]
        rows = question_groups.list_for_bot(bots.get(self.client, bot_id), statuses=statuses)
        shape = question_shapes.UnansweredQuestion.from_row
        return page(rows, query, by=("-count", "-id"), shape=shape)

    @operation("AI / train", "Get Unanswered Question", access=BEARER)
    def retrieve(self, bot_id: int, question_id: int) -> question_shapes.UnansweredQuestion:
        """Get a group; once an answer was written, with the bot's reply when it was asked again."""
        group = unanswered_questions.get(bots.get(self.client, bot_id), question_id)
        return question_shapes.UnansweredQuestion.from_row(group)

    @operation(
        "AI / train",
        "Get Unanswered Question Chats",
        access=BEARER,
        returns=question_shapes.AskedQuestionsResponse,
    )
    def chats(self, bot_id: int, question_id: int, query: Page) -> dict[str, Any]:
        """List the questions of a group, each with its conversation, newest first."""
        group = unanswered_questions.get(bots.get(self.client, bot_id), question_id)
        rows = question_groups.questions_of(group)
        return page(rows, query, by="-id", shape=question_shapes.AskedQuestion.from_row)

    @operation(
        "AI / train", "Answer Unanswered Question", access=TRAINER, status=201, also={409: Error}
    )
    def answer(
        self, bot_id: int, question_id: int, body: question_shapes.AddAnswerRequest
    ) -> question_shapes.UnansweredQuestion:
        """Write the answer as a question-answer source of the bot.

        Once it is trained, a worker asks the question again: get the group to see the bot's reply.
        409 `source_exists` if the bot already has an answer to this exact question,
        `document_limit` at the limit of 2,000.
        """
        group = unanswered_questions.get(bots.get(self.client, bot_id), question_id)
        group = unanswered_questions.add_answer(
            group, answer=body.answer, question=body.question, by=self.user
        )
        return question_shapes.UnansweredQuestion.from_row(group)

    @operation("AI / train", "Ask Unanswered Question Again", access=TRAINER, status=202)
    def ask(self, bot_id: int, question_id: int) -> question_shapes.UnansweredQuestion:
        """Have a worker ask the bot the question again.

        No customer notices. The embedded engine is free; a model's tokens are charged.
        """
        group = unanswered_questions.get(bots.get(self.client, bot_id), question_id)
        unanswered_questions.request_again(group)
        return question_shapes.UnansweredQuestion.from_row(group)
