"""What a visitor of a page is shown: of their own chats, and less than the client sees of them."""

import uuid
from typing import Any, Literal

from django.utils.timezone import now
from pydantic import Field

from chatplatform.api.shapes import Moment, Shape
from chats import models
from chats.shapes.conversation import AssignTypeEnum, ConversationStatus
from chats.shapes.message import Citation, MessageContent, TurnStatus
from identity.models import User
from identity.services import visitor_tokens


class VisitorAgent(Shape):
    """The agent who has the chat."""

    name: str = Field(description="What to call the person.")
    avatar_url: str | None = Field(description="Picture, an http(s) URL; null: none.")
    is_typing: bool = Field(description="Whether they write to the visitor now.")

    @classmethod
    def from_row(cls, user: User, *, is_typing: bool) -> "VisitorAgent":
        return cls.model_construct(
            name=user.full_name, avatar_url=user.avatar_url or None, is_typing=is_typing
        )


class VisitorCustomer(Shape):
    """How the visitor can be reached."""

    name: str | None = Field(description="Name.")
    email: str | None = Field(description="E-mail address.")
    phone: str | None = Field(description="Phone number as given.")

    @classmethod
    def from_row(cls, row: models.Customer) -> "VisitorCustomer":
        return cls.model_construct(
            name=row.name or None, email=row.email or None, phone=row.phone or None
        )


class VisitorSender(Shape):
    """The side that a message comes from."""

    type: Literal["customer", "bot", "agent", "system"] = Field(description="Which side.")
    name: str = Field(description="Name as shown.")


class VisitorMessage(Shape):
    """One message of a visitor's chat."""

    id: uuid.UUID = Field(description="UUIDv7.")
    conversation_id: uuid.UUID = Field(description="The conversation it belongs to.")
    seq: int = Field(
        description="Place in the conversation. Numbers may be missing; they only grow."
    )
    sender: VisitorSender = Field(description="Who said it.")
    content: list[MessageContent] = Field(description="What was said.")
    in_reply_to: uuid.UUID | None = Field(description="The message that it answers.")
    is_welcome: bool = Field(description="The bot's welcome, first in its chat.")
    client_message_id: str | None = Field(description="The id that the sender gave it.")
    language: str | None = Field(description="Language of the text, BCP 47.")
    translations: dict[str, str] = Field(description="Text by language, if translations were made.")
    citations: list[Citation] = Field(description="The passages that a bot's answer rests on.")
    created_at: Moment = Field(description="When it was stored.")

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> dict[str, Any]:
        """Of a ready `Message`, what the visitor is shown."""
        sender = message["sender"]
        shown = {name: message[name] for name in cls.model_fields}
        return shown | {"sender": {"type": sender["type"], "name": sender["name"]}}


class VisitorMessages(Shape):
    """A page of messages, oldest first."""

    items: list[VisitorMessage] = Field(description="The messages.")
    next_cursor: str | None = Field(description="For the next page; null on the last.")


class VisitorTurn(Shape):
    """A visitor's message and what became of it."""

    message: VisitorMessage = Field(description="The message as stored.")
    reply: VisitorMessage | None = Field(
        description="The bot's answer, or what the visitor was told at the handover."
    )
    status: TurnStatus = Field(
        description="`asked_again`: the bot has no answer and asks for other words. `handed_off`:"
        " an agent will answer. `not_expected`: nobody was asked to."
    )

    @classmethod
    def from_turn(cls, turn: dict[str, Any]) -> dict[str, Any]:
        """Of a ready `ChatTurn`, what the visitor is shown."""
        reply = turn["reply"]
        return {
            "message": VisitorMessage.from_message(turn["message"]),
            "reply": VisitorMessage.from_message(reply) if reply else None,
            "status": turn["status"],
        }


class VisitorConversation(Shape):
    """A visitor's own chat."""

    id: uuid.UUID = Field(description="UUIDv7.")
    chat_code: str = Field(description="Short and unguessable; for links and for the phone.")
    bot_id: int = Field(description="The bot that serves it.")
    visitor_token: str = Field(
        description="Send it back as the header `Visitor-Token`. Each reply has a fresh one, which"
        " is good for 180 days."
    )
    status: ConversationStatus = Field(description="Whether work is expected.")
    assign_type: AssignTypeEnum = Field(description="Who must act next.")
    agent: VisitorAgent | None = Field(description="The agent, if one has it.")
    customer: VisitorCustomer = Field(description="What is known of the visitor.")
    previous_chat_id: uuid.UUID | None = Field(description="The chat that it continues.")
    language: str = Field(description="BCP 47.")
    message_count: int = Field(description="Messages in all.")
    last_message_at: Moment | None = Field(description="When the newest message came.")
    last_event_seq: int = Field(
        description="Grows with whatever happens to the chat or to one of its messages, such as a"
        " translation that comes later: then read the messages again."
    )
    waiting_since: Moment | None = Field(description="Since when it waits for an agent.")
    place_in_queue: int | None = Field(
        description="How many customers of the bot wait, this one among them, and not longer; null"
        " if it does not wait for an agent."
    )
    ended_at: Moment | None = Field(description="When it ended.")
    can_reply: bool = Field(description="Whether a message can be sent to the visitor now.")
    created_at: Moment = Field(description="When it was opened.")

    @classmethod
    def from_row(
        cls, row: models.Conversation, *, place_in_queue: int | None, is_agent_typing: bool
    ) -> "VisitorConversation":
        assert row.visitor_id, "only a page's chats are shown to visitors"
        window_ends_at = row.reply_window_expires_at
        return cls.copy_from(
            row,
            visitor_token=visitor_tokens.issue(bot_id=row.bot_id, visitor_id=row.visitor_id),
            agent=(
                VisitorAgent.from_row(row.assignee, is_typing=is_agent_typing)
                if row.assignee
                else None
            ),
            customer=VisitorCustomer.from_row(row.customer),
            place_in_queue=place_in_queue,
            can_reply=row.status != models.Status.ENDED
            and (window_ends_at is None or window_ends_at > now()),
        )
