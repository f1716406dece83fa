"""API operations for written texts, and for questions with their answers."""

from typing import Any

from bots.models import DocumentSource
from bots.schemas.written import (
    QuestionAnswerDto,
    QuestionAnswersQuery,
    QuestionAnswersResponse,
    TextDto,
    TextsQuery,
    TextsResponse,
)
from bots.services import bots, written_sources
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import page
from identity.auth import BEARER, TRAINER, TenantViewSet


class TextViewSet(TenantViewSet):
    @operation("AI / train", "Create Text", access=TRAINER, status=202, also={409: Error})
    def create(self, bot_id: int, body: TextDto) -> TextDto:
        """Train the bot on a text.

        It is trained in the background; *Get Text By Id* shows the progress, and the events
        `document.trained` and `document.failed` report the result. If the bot's `hold_back_worse`
        is true, the text may then have to pass a golden run (a test with the bot's golden
        questions): until then, `is_answering` is false. 409 `source_exists` if the bot already has
        this text, `document_limit` if it has 500 texts.
        """
        bot = bots.get(self.client, bot_id)
        return TextDto.from_row(written_sources.create(bot, body=body, by=self.user))

    @operation("AI / train", "Get Texts", access=BEARER, returns=TextsResponse)
    def list(self, bot_id: int, query: TextsQuery) -> dict[str, Any]:
        """List the written texts with the progress of their training, newest first."""
        bot = bots.get(self.client, bot_id)
        rows = written_sources.list_for_bot(bot, DocumentSource.TEXT, status=query.status)
        return page(rows, query, by="-id", schema=TextDto.from_row)

    @operation("AI / train", "Get Text By Id", access=BEARER)
    def retrieve(self, bot_id: int, text_id: int) -> TextDto:
        """Get one written text with the progress of its training."""
        bot = bots.get(self.client, bot_id)
        return TextDto.from_row(written_sources.get(bot, DocumentSource.TEXT, text_id))

    @operation("AI / train", "Update Text By Id", access=TRAINER, also={409: Error})
    def update(self, bot_id: int, text_id: int, body: TextDto) -> TextDto:
        """Replace a text; a new title or text is trained, and the bot uses the old one until then.

        *Get Text By Id* shows the progress, and the events `document.trained` and `document.failed`
        report the result. If the bot's `hold_back_worse` is true, the change may first have to pass
        a golden run (a test with the bot's golden questions): see `held_change`; sending the live
        text again discards the change. *Reupload Files* also trains texts, by their ids, even if
        they have not changed. 409 `source_exists` if another text of the bot has the same title and
        text, `deletion_held` if the text's deletion is held back.
        """
        bot = bots.get(self.client, bot_id)
        return TextDto.from_row(written_sources.update(bot, text_id, body=body, by=self.user))

    @operation("AI / train", "Delete Text By Id", access=TRAINER, status=204)
    def destroy(self, bot_id: int, text_id: int) -> None:
        """Delete a text; the bot stops using it at once, unless the deletion is held back.

        If the bot's `hold_back_worse` is true, the deletion may first have to pass a golden run (a
        test with the bot's golden questions): then the text stays in use. The response is a 204 in
        both cases: afterwards, *Get Text By Id* is a 404 if the text is deleted; otherwise, its
        `held_change` shows the deletion. Repeating a deletion that is held back changes nothing.
        """
        bot = bots.get(self.client, bot_id)
        written_sources.delete(bot, DocumentSource.TEXT, text_id, by=self.user)


class QuestionAnswerViewSet(TenantViewSet):
    @operation(
        "AI / train", "Create Question Answer", access=TRAINER, status=202, also={409: Error}
    )
    def create(self, bot_id: int, body: QuestionAnswerDto) -> QuestionAnswerDto:
        """Give the bot the answer to a question.

        A customer who asks nearly the same gets exactly this answer, with a citation. For other
        questions, the answer is a source like any document. It is trained in the background; *Get
        Question Answer By Id* shows the progress, and the events `document.trained` and
        `document.failed` report the result. If the bot's `hold_back_worse` is true, the answer may
        then have to pass a golden run (a test with the bot's golden questions): until then,
        `is_answering` is false. 409 `source_exists` if the bot already has this question,
        `document_limit` if it has 2,000 questions.
        """
        bot = bots.get(self.client, bot_id)
        return QuestionAnswerDto.from_row(written_sources.create(bot, body=body, by=self.user))

    @operation("AI / train", "Get Question Answers", access=BEARER, returns=QuestionAnswersResponse)
    def list(self, bot_id: int, query: QuestionAnswersQuery) -> dict[str, Any]:
        """List the questions and answers with the progress of their training, newest first."""
        bot = bots.get(self.client, bot_id)
        rows = written_sources.list_for_bot(
            bot, DocumentSource.QUESTION_ANSWER, status=query.status
        )
        return page(rows, query, by="-id", schema=QuestionAnswerDto.from_row)

    @operation("AI / train", "Get Question Answer By Id", access=BEARER)
    def retrieve(self, bot_id: int, question_answer_id: int) -> QuestionAnswerDto:
        """Get one question with its answer and the progress of its training."""
        bot = bots.get(self.client, bot_id)
        row = written_sources.get(bot, DocumentSource.QUESTION_ANSWER, question_answer_id)
        return QuestionAnswerDto.from_row(row)

    @operation("AI / train", "Update Question Answer By Id", access=TRAINER, also={409: Error})
    def update(
        self, bot_id: int, question_answer_id: int, body: QuestionAnswerDto
    ) -> QuestionAnswerDto:
        """Replace a question and its answer; if one of them is new, the pair is trained.

        The bot uses the old pair until then; *Get Question Answer By Id* shows the progress, and
        the events `document.trained` and `document.failed` report the result. If the bot's
        `hold_back_worse` is true, the change may first have to pass a golden run (a test with the
        bot's golden questions): see `held_change`; sending the live pair again discards the change.
        *Reupload Files* also trains pairs, by their ids, even if they have not changed. 409
        `source_exists` if the bot has another answer to this question, `deletion_held` if the
        pair's deletion is held back.
        """
        bot = bots.get(self.client, bot_id)
        row = written_sources.update(bot, question_answer_id, body=body, by=self.user)
        return QuestionAnswerDto.from_row(row)

    @operation("AI / train", "Delete Question Answer By Id", access=TRAINER, status=204)
    def destroy(self, bot_id: int, question_answer_id: int) -> None:
        """Delete a question and its answer; the bot stops using them at once, unless the deletion
        is held back.

        If the bot's `hold_back_worse` is true, the deletion may first have to pass a golden run (a
        test with the bot's golden questions): then both stay in use. The response is a 204 in both
        cases: afterwards, *Get Question Answer By Id* is a 404 if the pair is deleted; otherwise,
        its `held_change` shows the deletion. Repeating a deletion that is held back changes
        nothing.
        """
        bot = bots.get(self.client, bot_id)
        written_sources.delete(
            bot, DocumentSource.QUESTION_ANSWER, question_answer_id, by=self.user
        )
