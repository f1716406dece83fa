"""AI / train: replays of an earlier day."""

import uuid
from typing import Any

from bots.services import bots
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.schemas import replay as replay_schemas
from chats.services.reply import replays, reply_replay
from chats.views.base import ChatsViewSet
from identity.auth import BEARER, TRAINER


class ReplayViewSet(ChatsViewSet):
    @operation(
        "AI / chat", "Replay Reply", access=TRAINER, also={402: Error, 409: Error}, waits=True
    )
    def reply(self, chat_id: uuid.UUID, message_id: uuid.UUID) -> replay_schemas.ReplayedTurn:
        """Replay a reply: have the bot answer the customer's question again, with its current
        documents, instructions, settings and language model.

        The response shows the new reply next to the original. Nothing is sent, stored, announced or
        counted, and no function is called. A reply that quotes documents is free; a language
        model's tokens are charged. 404 for a message from the customer or an agent, and for the
        welcome message. 409 `nothing_to_replay` for any other message that does not reply to a text
        from the customer.
        """
        reply = reply_replay.get(self._chat(chat_id), message_id)
        current = reply_replay.regenerate(reply, reference=f"replay:{uuid.uuid4()}")
        return replay_schemas.ReplayedTurn.of(reply, current)

    @operation("AI / train", "Start Replay", access=TRAINER, status=202, also={409: Error})
    def create(self, bot_id: int, body: replay_schemas.ReplayRequest) -> replay_schemas.ReplayDto:
        """Start a replay: have the bot answer the customers' questions of one day again, to compare
        its answers then and now.

        A worker runs the replay; nothing is sent to customers. *Get Replay* shows the progress and
        counts the questions that are answered only now (`gained`), only then (`lost`), or now from
        another source (`changed`). Answers that quote documents are free; a language model's tokens
        are charged, for your own model at the model's `credits_per_1000_tokens`. If the credits run
        out, the replay fails. 409 `replay_running` while another replay of the bot is running.
        """
        bot = bots.get(self.client, bot_id)
        replay = replays.start(bot, day=body.day, limit=body.limit, by=self.user)
        return replay_schemas.ReplayDto.from_row(replay)

    @operation("AI / train", "Get Replays", access=BEARER, returns=replay_schemas.ReplaysResponse)
    def list(self, bot_id: int, query: Page) -> dict[str, Any]:
        """List the bot's replays, newest first. In a replay, the bot answers the customers'
        questions of one day again, to compare its answers then and now."""
        rows = replays.list_for_bot(bots.get(self.client, bot_id))
        return page(rows, query, by="-id", schema=replay_schemas.ReplayDto.from_row)

    @operation("AI / train", "Get Replay", access=BEARER)
    def retrieve(self, bot_id: int, replay_id: uuid.UUID) -> replay_schemas.ReplayDto:
        """Get a replay, in which the bot answers the customers' questions of one day again, with
        its progress and the counts of its answers; *Get Replayed Replies* has the replies."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        return replay_schemas.ReplayDto.from_row(replay)

    @operation(
        "AI / train", "Get Replayed Replies", access=BEARER, returns=replay_schemas.ReplayedResponse
    )
    def replies(
        self, bot_id: int, replay_id: uuid.UUID, query: replay_schemas.ReplayedQuery
    ) -> dict[str, Any]:
        """List the replies of a replay, in which the bot answered the customers' questions of one
        day again: each with its conversation, the original reply and the new one."""
        replay = replays.get(bots.get(self.client, bot_id), replay_id)
        rows = replays.replies_of(replay, change=query.change)
        return page(rows, query, by="id", schema=replay_schemas.ReplayedReplyDto.from_row)
