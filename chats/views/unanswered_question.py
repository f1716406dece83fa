"""Views of questions that bots had no answer to."""

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
        """Questions of the last 30 days that the bot had no answer to, most asked first.

        Questions that are alike are one: by their words, or by what the encoder makes of them. A
        worker groups them, seconds after they were asked. A group stays as it is, and leaves this
        list once its question is answered.
        """
        statuses = [query.status] if query.status else [GroupStatus.OPEN, GroupStatus.LEARNING]
        rows = question_groups.list_for_bot(bots.get(self.client, bot_id), statuses=statuses)
        shape = question_shapes.UnansweredQuestion.from_row
        return page(rows, query, by=("-count", "-id"), shape=shape)

    @operation("AI / train", "Get Unanswered Question", access=BEARER)
    def retrieve(self, bot_id: int, question_id: int) -> question_shapes.UnansweredQuestion:
        """One of them; after an answer was written, what the bot says when it is asked again."""
        group = unanswered_questions.get(bots.get(self.client, bot_id), question_id)
        return question_shapes.UnansweredQuestion.from_row(group)

    @operation(
        "AI / train",
        "Get Unanswered Question Chats",
        access=BEARER,
        returns=question_shapes.AskedQuestionsResponse,
    )
    def chats(self, bot_id: int, question_id: int, query: Page) -> dict[str, Any]:
        """What customers asked, each with its chat, the latest first."""
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

        Once it is trained, a worker asks the question again: read it to see what the bot says. 409
        `source_exists` if the bot has an answer to that very question, `document_limit` at the
        limit of 2,000.
        """
        group = unanswered_questions.get(bots.get(self.client, bot_id), question_id)
        group = unanswered_questions.add_answer(
            group, answer=body.answer, question=body.question, by=self.user
        )
        return question_shapes.UnansweredQuestion.from_row(group)

    @operation("AI / train", "Ask Unanswered Question Again", access=TRAINER, status=202)
    def ask(self, bot_id: int, question_id: int) -> question_shapes.UnansweredQuestion:
        """Have a worker ask the question again, of the bot as it is now.

        No customer notices. A model's tokens are paid, the embedded engine's answers are free.
        """
        group = unanswered_questions.get(bots.get(self.client, bot_id), question_id)
        unanswered_questions.request_again(group)
        return question_shapes.UnansweredQuestion.from_row(group)
