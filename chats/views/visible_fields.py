"""What a caller sees of a conversation: visitors see less than the client."""

from chats import models
from chats.services.core import conversations, presence
from chats.shapes.conversation import Conversation
from chats.shapes.message import ChatTurn, Message, MessagesResponse
from chats.shapes.streams import reply_events
from chats.shapes.visitor import (
    VisitorConversation,
    VisitorMessage,
    VisitorMessages,
    VisitorTurn,
)
from chats.views.reply_responses import Shaper, as_it_is
from identity.auth import Principal

# The documented responses of operations that allow a public key.
ChatResponse = Conversation | VisitorConversation
TurnResponse = ChatTurn | VisitorTurn
MessageListResponse = MessagesResponse | VisitorMessages
EventStreamResponse = reply_events(TurnResponse, Message | VisitorMessage)


def chat(caller: Principal, row: models.Conversation) -> Conversation | VisitorConversation:
    """The conversation as this caller sees it."""
    if not caller.is_public_key:
        return Conversation.from_row(row)
    return VisitorConversation.from_row(
        row,
        place_in_queue=conversations.place_in_queue(row),
        is_agent_typing=presence.is_agent_typing(row),
    )


def message_shaper(caller: Principal) -> Shaper:
    """A function that reduces a `Message` to what this caller may see."""
    return VisitorMessage.from_message if caller.is_public_key else as_it_is


def turn_shaper(caller: Principal) -> Shaper:
    """A function that reduces a `ChatTurn` to what this caller may see."""
    return VisitorTurn.from_turn if caller.is_public_key else as_it_is
