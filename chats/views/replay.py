"""Views of replayed replies."""

import uuid
from typing import Any

from bots.services import bots
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.services.reply import replays, reply_replay
from chats.shapes import replay as replay_shapes
from chats.views.base import ChatsViewSet
from identity.auth import BEARER, TRAINER


class ReplayViewSet(ChatsViewSet):
    @operation(
        "AI / chat", "Replay Reply", access=TRAINER, also={402: Error, 409: Error}, waits=True
    )
    def reply(self, chat_id: uuid.UUID, message_id: uuid.UUID) -> replay_shapes.ReplayedTurn:
        """Replay a reply of the bot with today's documents, instructions, settings and engine.

        The response shows the new reply next to the original. Nothing is sent or stored: no
        message, no event, no count, and no function is called. The embedded engine is free; a
        model's tokens are charged. 409 `nothing_to_replay` if the message is not a reply to a
        question.
        """
        reply = reply_replay.get(self._chat(chat_id), message_id)
        made = reply_replay.made_again(reply, reference=f"replay:{uuid.uuid4()}")
        return replay_shapes.ReplayedTurn.of(reply, made)

    @operation("AI / train", "Start Replay", access=TRAINER, status=202, also={409: Error})
    def create(self, bot_id: int, body: replay_shapes.ReplayRequest) -> replay_shapes.ReplayDto:
        """Replay all replies of a day that were answers or should have been.

        A worker does it and notifies nobody; `gained` and `lost` show what has changed. The
        embedded engine is free; a model's tokens are charged, those of your own model at its price.
        `limit` caps the number of replies, and without credits the replay fails. 409
        `replay_running` while another replay of the bot is running.
        """
        bot = bots.get(self.client, bot_id)
        replay = replays.start(bot, day=body.day, limit=body.limit, by=self.user)
        return replay_shapes.ReplayDto.from_row(replay)

    @operation("AI / train", "Get Replays", access=BEARER, returns=replay_shapes.ReplaysResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the bot's replays, newest first."""
        rows = replays.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", shape=replay_shapes.ReplayDto.from_row)

    @operation("AI / train", "Get Replay", access=BEARER)
    def retrieve(self, bot_id: int, replay_id: uuid.UUID) -> replay_shapes.ReplayDto:
        """Get a replay with its progress."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        return replay_shapes.ReplayDto.from_row(replay)

    @operation(
        "AI / train", "Get Replayed Replies", access=BEARER, returns=replay_shapes.ReplayedResponse
    )
    def replies(
        self, bot_id: int, replay_id: uuid.UUID, query: replay_shapes.ReplayedQuery
    ) -> dict[str, Any]:
        """List the replies of a replay, each with its conversation and the original reply."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        rows = replays.replies_of(replay, change=query.change)
        return page(rows, query, by="id", shape=replay_shapes.ReplayedReplyDto.from_row)
