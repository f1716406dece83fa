"""Views of replies that are made again."""

import uuid
from typing import Any

from bots.services import bots
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.services.core import conversations
from chats.services.reply import replays, reply_replay
from chats.shapes import replay as replay_shapes
from identity.auth import BEARER, TRAINER, TenantViewSet


class ReplayViewSet(TenantViewSet):
    @operation(
        "AI / chat",
        "Replay Reply",
        access=TRAINER,
        also={402: Error, 409: Error},
        waits=True,
    )
    def reply(self, chat_id: uuid.UUID, message_id: uuid.UUID) -> replay_shapes.ReplayedTurn:
        """Make a reply of the bot again, with today's documents, prompt, settings and engine.

        It is shown beside what was said, and sent to nobody: no message, no event, no figure, and
        no function is called. The embedded engine's answers are free, a model's tokens are paid.
        409 `nothing_to_replay` if it is no reply to a question.
        """
        chat = conversations.get(self.caller, pk=chat_id)
        reply = reply_replay.get(chat, message_id)
        made = reply_replay.made_again(reply, reference=f"replay:{uuid.uuid4()}")
        return replay_shapes.ReplayedTurn.of(reply, made)

    @operation("AI / train", "Start Replay", access=TRAINER, status=202, also={409: Error})
    def create(self, bot_id: int, body: replay_shapes.ReplayRequest) -> replay_shapes.ReplayDto:
        """Make all replies of a day again that were answers, or should have been.

        A worker does it, and nobody is told; `gained` and `lost` say what has changed. The embedded
        engine's answers are free, a model's tokens are paid, also those of a model of your own at
        its price: `limit` bounds them, and without credits the replay fails. 409 `replay_running`
        while another one of the bot is not over.
        """
        bot = bots.get(self.client, bot_id)
        replay = replays.start(bot, day=body.day, limit=body.limit, by=self.user)
        return replay_shapes.ReplayDto.from_row(replay)

    @operation("AI / train", "Get Replays", access=BEARER, returns=replay_shapes.ReplaysResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """The bot's replays, newest first."""
        rows = replays.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", shape=replay_shapes.ReplayDto.from_row)

    @operation("AI / train", "Get Replay", access=BEARER)
    def retrieve(self, bot_id: int, replay_id: uuid.UUID) -> replay_shapes.ReplayDto:
        """A replay with its progress."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        return replay_shapes.ReplayDto.from_row(replay)

    @operation(
        "AI / train",
        "Get Replayed Replies",
        access=BEARER,
        returns=replay_shapes.ReplayedResponse,
    )
    def replies(
        self, bot_id: int, replay_id: uuid.UUID, query: replay_shapes.ReplayedQuery
    ) -> dict[str, Any]:
        """The replies of a replay, each with its chat, then and today."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        rows = replays.replies_of(replay, change=query.change)
        return page(rows, query, by="id", shape=replay_shapes.ReplayedReplyDto.from_row)
