"""The base of the viewsets of conversations, which show visitors fewer fields than the client."""

import io
import uuid
from zoneinfo import ZoneInfo

from django.http import HttpResponseBase
from pydantic import BaseModel

from chatplatform import media
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import RawResponse
from chats import models
from chats.schemas.conversation import Conversation, Transcript, TranscriptQuery
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
# The rest of the description of the operations that let AI add tags.
HOW_AI_TAGS = """\
A language model chooses from your 40 most used tags and up to 3 new ones; tags with a
confidence of at least 0.6 are added, and the model's tokens are charged. Without a language
model, at most one of the 40 tags is added, for 1 credit: the tag that is clearly most
similar to the customer's messages, by its name and by the conversations that agents gave it
to. A conversation has at most 20 tags; further tags are left out. If the customer has not
written, nothing is added or charged. Added tags trigger the webhook event `tags.updated`."""

TRANSCRIPT = RawResponse(("text/plain",), "The transcript, as a download.")


def transcript_download(
    transcript: Transcript, query: TranscriptQuery, chat: models.Conversation
) -> HttpResponseBase:
    """A transcript as a download, with times in the requested time zone or the client's."""
    zone = ZoneInfo(query.timezone or chat.client.timezone)
    return media.file_response(
        io.BytesIO(transcript.as_text(zone).encode()),
        mime_type="text/plain; charset=utf-8",
        cache_control="private, no-store",
        download_as=f"{transcript.chat_code}.txt",
    )


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
