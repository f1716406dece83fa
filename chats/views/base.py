"""The base of the viewsets of conversations, which show visitors fewer fields than the client."""

import uuid

from pydantic import BaseModel

from chatplatform.api.error_schemas import Error
from chats import models
from chats.schemas.conversation import Conversation
from chats.schemas.message import ChatTurn, Message, MessagesResponse
from chats.schemas.streams import reply_events
from chats.schemas.visitor import VisitorConversation, VisitorMessage, VisitorMessages, VisitorTurn
from chats.services.core import conversations, feedback, presence
from identity.auth import TenantViewSet

# The documented responses of operations that allow a public key.
ChatResponse = Conversation | VisitorConversation
TurnResponse = ChatTurn | VisitorTurn
MessageListResponse = MessagesResponse | VisitorMessages
EventStreamResponse = reply_events(TurnResponse, Message | VisitorMessage)

# For operations that cost credits and need an engine, which may be unavailable.
PAID: dict[int, type[BaseModel] | None] = {402: Error, 503: Error}


class ChatsViewSet(TenantViewSet):
    def _chat(self, chat_id: uuid.UUID) -> models.Conversation:
        """The conversation; 404 if the caller may not see it."""
        return conversations.get(self.caller, pk=chat_id)

    def _response(self, chat: models.Conversation) -> Conversation | VisitorConversation:
        """The conversation as this caller sees it."""
        if not self.caller.is_public_key:
            return Conversation.from_row(chat)
        return VisitorConversation.from_row(
            chat,
            place_in_queue=conversations.place_in_queue(chat),
            is_agent_typing=presence.is_agent_typing(chat),
            is_rated=feedback.is_given(chat),
        )
