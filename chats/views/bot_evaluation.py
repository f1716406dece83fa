"""AI / train: golden questions, unanswered questions and replays."""

import uuid
from typing import Any

from bots.schemas.golden import GoldenCollected, GoldenCollectRequest, GoldenQuestionDto
from bots.services import bots
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.models import GroupStatus
from chats.schemas import replay as replay_schemas
from chats.schemas import unanswered_question as question_schemas
from chats.services.insight import golden_candidates, question_groups, taught_answers
from chats.services.reply import replays, reply_regeneration
from chats.views.base import ChatsViewSet
from identity.auth import BEARER, TRAINER, TenantViewSet


class GoldenCollectViewSet(TenantViewSet):
    @operation("AI / train", "Collect Golden Questions", access=TRAINER)
    def collect(self, bot_id: int, body: GoldenCollectRequest) -> GoldenCollected:
        """Add golden questions from sample questions, your own answers or frequent questions.

        Questions that the bot already has are skipped, as are questions beyond its limit of 100.
        The response has only those that were added.
        """
        bot = bots.get(self.client, bot_id)
        rows = golden_candidates.collect(bot, body=body, by=self.user)
        return GoldenCollected(added=[GoldenQuestionDto.from_row(row) for row in rows])


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
        """Store the right answer as a question-answer source of the bot.

        Once it is trained, a worker asks the bot the question again: *Get Unanswered Question*
        shows the bot's reply. Quoting documents is free; a model's tokens are charged. If the
        bot's `hold_back_worse` is true, the answer may first wait for a golden run. 409
        `source_exists` if the bot already has an answer to this exact question, `document_limit` if
        it has 2,000 questions with answers.
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
        the `fault`, which is `engine_failed` without credits. Repeating the request while the
        question waits to be asked changes nothing. A language model's tokens are charged; quoting
        documents is free here.
        """
        group = taught_answers.get(bots.get(self.client, bot_id), question_id)
        taught_answers.request_again(group)
        return question_schemas.UnansweredQuestion.from_row(group)


class ReplayViewSet(ChatsViewSet):
    @operation(
        "AI / chat", "Replay Reply", access=TRAINER, also={402: Error, 409: Error}, waits=True
    )
    def reply(self, chat_id: uuid.UUID, message_id: uuid.UUID) -> replay_schemas.ReplayedTurn:
        """Replay a reply: have the bot answer the same question with its present documents,
        instructions, settings and engine.

        The response shows the new reply next to the original. Nothing is sent, stored, announced or
        counted, and no function is called. Quoting documents is free; a model's tokens are
        charged. 404 if the message has no receipt: a message from the customer or an agent, or the
        welcome message. 409 `nothing_to_replay` if it has one, but does not reply to a text from
        the customer.
        """
        reply = reply_regeneration.get(self._chat(chat_id), message_id)
        current = reply_regeneration.regenerate(reply, reference=f"replay:{uuid.uuid4()}")
        return replay_schemas.ReplayedTurn.of(reply, current)

    @operation("AI / train", "Start Replay", access=TRAINER, status=202, also={409: Error})
    def create(self, bot_id: int, body: replay_schemas.ReplayRequest) -> replay_schemas.ReplayDto:
        """Replay a day: have the bot answer that day's questions again, to compare its replies.

        A worker runs the replay; nothing is sent to customers. *Get Replay* shows the progress, and
        its `gained`, `lost` and `changed` show what differs. Quoting documents is free; a
        model's tokens are charged, those of your own model at its price. If the credits run out,
        the replay fails. 409 `replay_running` while another replay of the bot is running.
        """
        bot = bots.get(self.client, bot_id)
        replay = replays.start(bot, day=body.day, limit=body.limit, by=self.user)
        return replay_schemas.ReplayDto.from_row(replay)

    @operation("AI / train", "Get Replays", access=BEARER, returns=replay_schemas.ReplaysResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the bot's replays, newest first."""
        rows = replays.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", schema=replay_schemas.ReplayDto.from_row)

    @operation("AI / train", "Get Replay", access=BEARER)
    def retrieve(self, bot_id: int, replay_id: uuid.UUID) -> replay_schemas.ReplayDto:
        """Get a replay with its progress and its counts; *Get Replayed Replies* has the replies."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        return replay_schemas.ReplayDto.from_row(replay)

    @operation(
        "AI / train", "Get Replayed Replies", access=BEARER, returns=replay_schemas.ReplayedResponse
    )
    def replies(
        self, bot_id: int, replay_id: uuid.UUID, query: replay_schemas.ReplayedQuery
    ) -> dict[str, Any]:
        """List the replies of a replay, each with its conversation and the original reply."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        rows = replays.replies_of(replay, change=query.change)
        return page(rows, query, by="id", schema=replay_schemas.ReplayedReplyDto.from_row)
