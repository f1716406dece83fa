"""messaging: conversations and messages for another system's server."""

import uuid
from typing import Any

from rest_framework.request import Request

from chatplatform.api import TenantViewSet, operation
from chatplatform.openapi import Error
from chatplatform.pagination import Page, page
from chats.models import Conversation
from chats.serializers import insight as i
from chats.serializers import messaging as m
from chats.serializers import portable as p
from chats.services import conversations, inbox, messaging
from identity.auth import SECRET_KEY


class MessagingViewSet(TenantViewSet):
    @operation(
        "messaging", "Create Message", access=SECRET_KEY, body=m.MessageRequest,
        returns=p.MessageEntity, status=201, also={409: Error},
    )  # fmt: skip
    def send(
        self, request: Request, conversation_id: uuid.UUID, body: m.MessageRequest
    ) -> dict[str, Any]:
        """Bring a message of any side. With `sent_at` it is history, from which nothing follows."""
        return p.MessageEntity.of(messaging.send(self._chat(conversation_id), body))

    @operation(
        "messaging", "List Messages", access=SECRET_KEY, query=Page,
        returns=m.MessagingMessagesResponse,
    )  # fmt: skip
    def messages(self, request: Request, conversation_id: uuid.UUID, query: Page) -> dict[str, Any]:
        """The messages of a conversation with its internal notes, oldest first."""
        rows = inbox.transcript(self._chat(conversation_id)).prefetch_related("feedback_set")
        return page(rows, query, by="seq", shape=p.MessageEntity.of)

    @operation(
        "messaging", "Create Conversation", access=SECRET_KEY, body=m.ConversationRequest,
        returns=m.ConversationResponse, status=201,
    )  # fmt: skip
    def create(self, request: Request, body: m.ConversationRequest) -> m.ConversationResponse:
        """Open a conversation with the key's bot; agents, channels and webhooks see it as any."""
        return m.ConversationResponse.of(messaging.open_(self.key, body))

    @operation(
        "messaging", "List Conversations", access=SECRET_KEY, query=Page,
        returns=m.ConversationResponses,
    )  # fmt: skip
    def list(self, request: Request, query: Page) -> dict[str, Any]:
        """The key's conversations, newest first, whichever door they came through."""
        return page(messaging.list_(self.key), query, by="-id", shape=m.ConversationResponse.of)

    @operation(
        "messaging", "End Conversation", access=SECRET_KEY, returns=m.ConversationResponse,
        also={409: Error},
    )  # fmt: skip
    def end(self, request: Request, conversation_id: uuid.UUID) -> m.ConversationResponse:
        """End a conversation, with `ended_by` api; 409 `chat_ended` where it has ended already."""
        return m.ConversationResponse.of(messaging.end(self._chat(conversation_id)))

    @operation(
        "messaging", "Get Conversation Summary", access=SECRET_KEY, returns=i.ChatSummary
    )  # fmt: skip
    def summary(self, request: Request, conversation_id: uuid.UUID) -> i.ChatSummary:
        """The newest summary; 404 before the first is made."""
        return i.ChatSummary.of(messaging.summary(self._chat(conversation_id)))

    @operation("messaging", "Get Conversation Ai Tags", access=SECRET_KEY, returns=i.Tags)
    def ai_tags(self, request: Request, conversation_id: uuid.UUID) -> i.Tags:
        """The tags that an engine gave; an agent's own are not among them."""
        return i.Tags.of(messaging.ai_tags(self._chat(conversation_id)))

    def _chat(self, conversation_id: uuid.UUID) -> Conversation:
        return conversations.get(self.key, conversation_id)
