"""messaging: another system's conversations. AI / client: the export, the deletion of documents."""

import uuid
from typing import Any

from bots.services import bots, documents
from bots.shapes.train import DeletedCount
from bots.shapes.widget import KeyBotQuery
from chatplatform.api.error_shapes import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.models import Conversation
from chats.services.core import conversations
from chats.services.desk import inbox
from chats.services.exchange import exporting, messaging_api
from chats.services.insight import chat_analysis
from chats.shapes import exchange as exchange_shapes
from chats.shapes import insight as insight_shapes
from chats.shapes import messaging as messaging_shapes
from chats.views.chat_analysis import PAID
from identity.auth import SECRET_KEY, TenantViewSet


class MigrationViewSet(TenantViewSet):
    """The migration tool: everything in portable form, for `manage.py import_conversations`."""

    @operation(
        "AI / client",
        "Migration tool - Migrate chat messages",
        access=SECRET_KEY,
        returns=exchange_shapes.MessageEntitiesResponse,
    )
    def messages(self, query: exchange_shapes.MigratePage) -> dict[str, Any]:
        """All messages of the key's chats in a stable order, internal notes too.

        Keep `resume_cursor` to go on after a break, or later with what came since. A message is
        listed 5 seconds after it came, so that none is passed over.
        """
        return page(
            exporting.messages(self.key, query),
            query,
            shape=exchange_shapes.MessageEntity.from_row,
            resumable=True,
        )

    @operation(
        "AI / client",
        "Migration tool - Migrate chat conversations",
        access=SECRET_KEY,
        returns=exchange_shapes.ConversationEntitiesResponse,
    )
    def conversations(self, query: exchange_shapes.MigratePage) -> dict[str, Any]:
        """All chats of the key in a stable order; their messages have a list of their own.

        Keep `resume_cursor` to go on after a break, or later with what was opened since. A chat is
        listed 5 seconds after it began.
        """
        return page(
            exporting.conversations(self.key, query),
            query,
            shape=exchange_shapes.ConversationEntity.from_row,
            resumable=True,
        )


class ClientDocumentsViewSet(TenantViewSet):
    @operation("AI / client", "Delete All Documents", access=SECRET_KEY)
    def destroy(self, query: KeyBotQuery) -> DeletedCount:
        """Forget all that the key's bot was trained on: files and web pages, in whatever state.

        Once more deletes nothing and says 0. Web addresses stay, and are read again when due.
        """
        bot = bots.for_key(self.key, bot_id=query.bot_id)
        return DeletedCount(deleted=documents.delete_all(bot, by=self.key))


class MessagingViewSet(TenantViewSet):
    @operation(
        "messaging",
        "Create Message",
        access=SECRET_KEY,
        costs_credits=True,
        returns=exchange_shapes.MessageEntity,
        status=201,
        also={409: Error},
    )
    def send(
        self, conversation_id: uuid.UUID, body: messaging_shapes.MessageRequest
    ) -> dict[str, Any]:
        """Store a message of any side. With `sent_at` it is history: nothing follows from it."""
        return exchange_shapes.MessageEntity.from_row(
            messaging_api.send(self._chat(conversation_id), body)
        )

    @operation(
        "messaging",
        "List Messages",
        access=SECRET_KEY,
        returns=messaging_shapes.MessagingMessagesResponse,
    )
    def messages(self, conversation_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """The messages of a conversation with its internal notes, oldest first."""
        rows = inbox.transcript(self._chat(conversation_id)).prefetch_related("feedback_set")
        return page(rows, query, by="seq", shape=exchange_shapes.MessageEntity.from_row)

    @operation("messaging", "Create Conversation", access=SECRET_KEY, status=201)
    def create(
        self, body: messaging_shapes.ConversationRequest
    ) -> messaging_shapes.ConversationResponse:
        """Open a conversation with the key's bot; agents, channels and webhooks see it as any."""
        return messaging_shapes.ConversationResponse.from_row(messaging_api.open_(self.key, body))

    @operation(
        "messaging",
        "List Conversations",
        access=SECRET_KEY,
        returns=messaging_shapes.ConversationResponses,
    )
    def list(self, query: messaging_shapes.MessagingQuery) -> dict[str, Any]:
        """The key's conversations, newest first, whichever door they came through."""
        return page(
            messaging_api.list_(self.key, query),
            query,
            by="-id",
            shape=messaging_shapes.ConversationResponse.from_row,
        )

    @operation("messaging", "Get Conversation", access=SECRET_KEY)
    def retrieve(self, conversation_id: uuid.UUID) -> messaging_shapes.ConversationResponse:
        """One conversation, whichever door it came through."""
        return messaging_shapes.ConversationResponse.from_row(self._chat(conversation_id))

    @operation("messaging", "End Conversation", access=SECRET_KEY, also={409: Error})
    def end(self, conversation_id: uuid.UUID) -> messaging_shapes.ConversationResponse:
        """End a conversation, with `ended_by` api; 409 `chat_ended` if it has ended already."""
        return messaging_shapes.ConversationResponse.from_row(
            messaging_api.end(self._chat(conversation_id))
        )

    @operation("messaging", "Get Conversation Summary", access=SECRET_KEY)
    def summary(self, conversation_id: uuid.UUID) -> insight_shapes.ChatSummary:
        """The newest summary; 404 before the first is made."""
        return insight_shapes.ChatSummary.from_row(
            messaging_api.summary(self._chat(conversation_id))
        )

    @operation("messaging", "Create Conversation Summary", access=SECRET_KEY, also=PAID, waits=True)
    def make_summary(self, conversation_id: uuid.UUID) -> insight_shapes.ChatSummary:
        """The summary; made, stored and charged only if the last one is not current."""
        return insight_shapes.ChatSummary.from_row(
            chat_analysis.summarise(self._chat(conversation_id))
        )

    @operation("messaging", "Create Conversation Ai Tags", access=SECRET_KEY, also=PAID, waits=True)
    def make_ai_tags(self, conversation_id: uuid.UUID) -> insight_shapes.Tags:
        """Have an engine add the tags that it is sure of; the answer has all that it ever gave."""
        return insight_shapes.Tags.from_rows(
            messaging_api.make_ai_tags(self._chat(conversation_id))
        )

    @operation("messaging", "Get Conversation Ai Tags", access=SECRET_KEY)
    def ai_tags(self, conversation_id: uuid.UUID) -> insight_shapes.Tags:
        """The tags that an engine gave; an agent's own are not among them."""
        return insight_shapes.Tags.from_rows(messaging_api.ai_tags(self._chat(conversation_id)))

    def _chat(self, conversation_id: uuid.UUID) -> Conversation:
        return conversations.get(self.caller, pk=conversation_id)
