"""messaging: conversations and messages for another system's server."""

import uuid
from typing import Any

from chatplatform.api.openapi import Error
from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from chats.models import Conversation
from chats.services.core import conversations
from chats.services.desk import inbox
from chats.services.exchange import messaging_api
from chats.shapes import exchange as exchange_shapes
from chats.shapes import insight as insight_shapes
from chats.shapes import messaging as messaging_shapes
from identity.auth import SECRET_KEY, TenantViewSet


class MessagingViewSet(TenantViewSet):
    @operation(
        "messaging",
        "Create Message",
        access=SECRET_KEY,
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
    def list(self, query: Page) -> dict[str, Any]:
        """The key's conversations, newest first, whichever door they came through."""
        return page(
            messaging_api.list_(self.key),
            query,
            by="-id",
            shape=messaging_shapes.ConversationResponse.from_row,
        )

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

    @operation("messaging", "Get Conversation Ai Tags", access=SECRET_KEY)
    def ai_tags(self, conversation_id: uuid.UUID) -> insight_shapes.Tags:
        """The tags that an engine gave; an agent's own are not among them."""
        return insight_shapes.Tags.from_rows(messaging_api.ai_tags(self._chat(conversation_id)))

    def _chat(self, conversation_id: uuid.UUID) -> Conversation:
        return conversations.get_for_key(self.key, conversation_id)
