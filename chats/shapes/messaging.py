"""The shapes of the messaging API: the same rows, in the words of another system."""

import uuid
from typing import Annotated, Any, cast

from django.utils import timezone
from pydantic import BeforeValidator, Field, model_validator

from chatplatform.api.pagination import Page
from chatplatform.api.shapes import FreeObject, Moment, Shape, Text, example
from chats import models
from chats.shapes.conversation import ConversationStatus
from chats.shapes.exchange import MessageEntity
from chats.shapes.insight import TagNames
from chats.shapes.message import MessageContent, Recipient, Sender
from chats.shapes.people import Identity, Location


def _as_list(value: Any) -> Any:
    """A parameter of the query that is given once is no list yet."""
    return [value] if isinstance(value, str) else value


class ConversationRequest(Shape):
    """Opens a conversation for a person whom the calling system knows."""

    requester: Identity = Field(
        description="The customer, by the calling system's own id. A known id joins the same"
        " customer."
    )
    responsible: Identity | None = Field(
        None,
        description="Who is to answer. One of your people here, by id or e-mail address, gets the"
        " conversation; anyone else is stored as a name.",
    )
    provider: Text = Field(
        "", max_length=60, description="The system that it comes from.", examples=["shop"]
    )
    location: Location | None = Field(None, description="Where the requester is.")
    tags: TagNames = Field(
        default_factory=list, description="Tags, at most 20 of 1..60 characters."
    )
    group_id: Text | None = Field(
        None, max_length=200, description="Your own grouping of conversations."
    )


class Responsible(Identity):
    """Who answers a conversation: by your own id if you named them, and by ours."""

    external_id: Text = Field(
        description="The id or address by which you named them; else our own id of the agent.",
        max_length=200,
    )
    user_id: int | None = Field(
        description="The agent here who has the conversation; null if nobody here has it."
    )


class ConversationResponse(Shape):
    """A conversation as the messaging interface shows it."""

    id: uuid.UUID = Field(description="UUIDv7; the same conversation's id everywhere.")
    requester: Identity = Field(description="The customer.")
    responsible: Responsible | None = Field(description="Who answers, or was named to.")
    provider: str = Field(description="The system, or the channel, that it comes from.")
    location: Location | None = Field(description="Where the requester is.")
    tags: list[str] = Field(description="Tags.")
    group_id: str | None = Field(description="Your own grouping.")
    status: ConversationStatus = Field(description="Whether work is expected.")
    created_at: Moment = Field(description="When it was opened.")

    @classmethod
    def from_row(cls, row: models.Conversation) -> "ConversationResponse":
        """A customer of another channel is shown by what is known of them."""
        asks = row.requester or {
            "external_id": row.customer.external_id or str(row.customer_id),
            "name": row.customer.name,
        }
        return cls.model_construct(
            id=row.pk,
            requester=Identity.model_construct(**asks),
            responsible=_responsible(row),
            provider=row.provider or row.channel,
            location=Location.model_construct(**row.location) if row.location else None,
            tags=row.tags,
            group_id=row.group_id or None,
            status=cast("ConversationStatus", row.status),
            created_at=row.created_at,
        )


def _responsible(row: models.Conversation) -> Responsible | None:
    """The agent who has it, by the id that the other system gave them if it named this agent."""
    named, agent = row.responsible, row.assignee
    if agent and (named is None or named.get("user_id") != agent.pk):
        return Responsible.model_construct(
            external_id=str(agent.pk), name=agent.full_name, user_id=agent.pk
        )
    if named is None:
        return None
    return Responsible.model_construct(
        external_id=named["external_id"],
        name=agent.full_name if agent else named["name"],
        user_id=agent.pk if agent else None,
    )


class MessagingQuery(Page):
    """Which conversations; all filters given must match."""

    group_id: Text | None = Field(
        None, min_length=1, max_length=200, description="Only of this group of yours."
    )
    status: ConversationStatus | None = Field(None, description="Only with this status.")
    tags: Annotated[TagNames, BeforeValidator(_as_list)] = Field(
        default_factory=list, description="Only with all of these tags: `tags=a&tags=b`."
    )
    requester_id: Text | None = Field(
        None, min_length=1, max_length=200, description="Only of the requester with this id."
    )
    created_from: Moment | None = Field(None, description="Opened at this time or later.")
    created_to: Moment | None = Field(None, description="Opened before this time.")


class ConversationResponses(Shape):
    """A page of conversations, newest first."""

    items: list[ConversationResponse] = Field(description="The conversations.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class MessageRequest(Shape):
    """A message that another system stores."""

    model_config = example(
        sender={"type": "customer", "id": "customer-17", "name": "Cara Diaz"},
        text="Where is my parcel?",
        generate_reply=True,
    )

    sender: Sender = Field(
        description="The sender. `customer`: answered if `generate_reply` is set; opens a"
        " conversation that has ended or is snoozed. `agent`: one of your people here, by id or"
        " e-mail address, takes a conversation that no agent has; anyone else is stored as a"
        " name. `bot`: your own assistant; refused while an agent has the conversation."
    )
    recipient: Recipient | None = Field(
        None, description="Whom it is for; left out: the other side."
    )
    content: list[MessageContent] = Field(
        default_factory=list, max_length=20, description="The pieces, at most 20; or `text`."
    )
    text: Text | None = Field(
        None, min_length=1, max_length=8000, description="A plain text instead of `content`."
    )
    client_message_id: Text | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Your own id of this message: sent twice, it is stored once.",
    )
    in_reply_to: uuid.UUID | None = Field(
        None,
        description="The message of this conversation that it answers. The bot and the system"
        " answer each once: 409 `already_answered`.",
    )
    sent_at: Moment | None = Field(
        None,
        description="When it was said, for history that is moved in: such a message is stored and"
        " counted, and nothing follows from it. No reply, event or delivery, no change of owner or"
        " status, nothing unread; an ended conversation takes it too. Not in the future.",
    )
    generate_reply: bool = Field(
        False, description="The bot is to answer a customer's message; the reply comes by webhook."
    )
    metadata: FreeObject = Field(
        default_factory=dict,
        description="Free keys and values, given back unchanged; at most 16,384 bytes of JSON,"
        " numbers up to 9007199254740991 (others as strings).",
    )

    @model_validator(mode="after")
    def _says_something_once(self) -> "MessageRequest":
        if bool(self.text) == bool(self.content):
            raise ValueError("give either text or content")
        if any(piece.type == "text" and not (piece.text or "").strip() for piece in self.pieces):
            raise ValueError("text must not be blank")
        if self.sent_at and self.sent_at > timezone.now():
            raise ValueError("sent_at must not lie in the future")
        if self.generate_reply and (self.sender.type != "customer" or self.sent_at):
            raise ValueError("a reply is generated to a customer's message of now only")
        return self

    @property
    def pieces(self) -> list[MessageContent]:
        """The content, given as `content` or as `text`."""
        return self.content or [MessageContent(type="text", text=self.text)]


class MessagingMessagesResponse(Shape):
    """A page of messages in portable form, oldest first."""

    items: list[MessageEntity] = Field(description="The messages.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")
