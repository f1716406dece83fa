"""The schemas of the messaging API, which shows conversations in the terms of another system."""

import uuid
from typing import Annotated

from django.utils import timezone
from pydantic import BeforeValidator, Field, model_validator

from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import FreeObject, Moment, Schema, Text, example
from chats import models
from chats.schemas.conversation import ConversationStatus
from chats.schemas.data_exchange import MessageEntity
from chats.schemas.message import ClientMessageId, MessageContent, MessageText, Recipient, Sender
from chats.schemas.people import Identity, Location, OwnId
from chats.schemas.tags import TagNames

# A query parameter that is given once arrives as a string.
_as_list = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)


class ConversationRequest(Schema):
    """A conversation to open for a person whom your system knows."""

    requester: Identity = Field(
        description="The customer, identified by your own id; a known id selects an existing one."
    )
    responsible: Identity | None = Field(
        None,
        description="Who should answer. An agent on your team, given by user id or email"
        " address, gets the conversation; anyone else is only stored.",
    )
    provider: Text = Field(
        "",
        max_length=60,
        description="Your name for the system that the conversation comes from; if left out, the"
        " channel.",
        examples=["shop"],
    )
    location: Location | None = Field(None, description="Where the requester is.")
    tags: TagNames = Field(default_factory=list, description="At most 20 tags of 1..60 characters.")
    group_id: Text | None = Field(
        None,
        max_length=200,
        description="Your own id for a group that the conversation belongs to, by which you can"
        " filter lists.",
    )


class Responsible(Identity):
    """The person who answers a conversation, or should."""

    external_id: Text = Field(
        description="The id that you gave for the person; if you gave none, their user id.",
        max_length=200,
    )
    user_id: int | None = Field(
        description="The user id of the agent who has the conversation; null if none does.",
    )


class ConversationResponse(Schema):
    """A conversation as the messaging API shows it."""

    id: uuid.UUID = Field(
        description="The conversation's id, a UUIDv7; the same as in all other operations."
    )
    requester: Identity = Field(description="The customer.")
    responsible: Responsible | None = Field(
        description="The agent who has the conversation; otherwise the person you gave, or null."
    )
    provider: str = Field(
        description="The system that the conversation comes from; the channel if you gave none.",
    )
    location: Location | None = Field(description="Where the requester is; null if unknown.")
    tags: list[str] = Field(description="The conversation's tags.")
    group_id: str | None = Field(
        description="Your own id for the conversation's group; null if you gave none."
    )
    status: ConversationStatus
    created_at: Moment = Field(description="When the conversation was opened.")

    @classmethod
    def from_row(cls, row: models.Conversation) -> "ConversationResponse":
        """The conversation; its customer is the requester if the messaging API did not open it."""
        requester = row.requester or {
            "external_id": row.customer.external_id or str(row.customer_id),
            "name": row.customer.name,
        }
        return cls.copy_from(
            row,
            requester=Identity.model_construct(**requester),
            responsible=_responsible(row),
            provider=row.provider or row.channel,
            location=Location.from_stored(row.location),
            group_id=row.group_id or None,
        )


def _responsible(row: models.Conversation) -> Responsible | None:
    """The agent who has the conversation, with the other system's id if that system asked for this
    agent; without an agent, the person whom that system asked for, or None."""
    requested, agent = row.responsible, row.assignee
    if agent is None:
        return Responsible.model_construct(**requested | {"user_id": None}) if requested else None
    is_requested = requested is not None and requested.get("user_id") == agent.pk
    external_id = requested["external_id"] if requested and is_requested else str(agent.pk)
    return Responsible.model_construct(
        external_id=external_id, name=agent.full_name, user_id=agent.pk
    )


class MessagingQuery(Page):
    """Filters of conversations; all filters given must match."""

    group_id: OwnId | None = Field(
        None, description="Only conversations that were opened with this `group_id`."
    )
    status: ConversationStatus | None = Field(
        None,
        description="Only conversations with this status: `open`, `snoozed` (paused until a time or"
        " a message) or `ended`.",
    )
    tags: Annotated[TagNames, _as_list] = Field(
        default_factory=list,
        description="Only conversations with all of these tags: `tags=a&tags=b`.",
    )
    requester_id: OwnId | None = Field(
        None, description="Only conversations of the customer with this external id."
    )
    created_from: Moment | None = Field(
        None, description="Only conversations opened at this time or later."
    )
    created_to: Moment | None = Field(
        None, description="Only conversations opened before this time."
    )


class ConversationResponses(ListPage[ConversationResponse]):
    """A page of conversations, newest first."""


class MessageRequest(Schema):
    """A message that another system stores."""

    model_config = example(
        sender={"type": "customer", "id": "customer-17", "name": "Cara Diaz"},
        text="Where is my parcel?",
        generate_reply=True,
    )

    sender: Sender = Field(
        description="The sender. `customer`: reopens a snoozed conversation, or one that ended at"
        " most `reopen_window_minutes` ago (`GET /config/{client_id}/chat`). If it ended earlier,"
        " the message goes to a new one: see `conversation_id` in the response. The bot answers if"
        " `generate_reply` is set. `agent`: reopens a snoozed conversation; if `id` is the user id"
        " or email address of an active agent of your team, this agent gets the conversation if no"
        " agent has it. `bot`: your own assistant; refused while an agent has the conversation."
        " `system`: an automatic message. Any other `id` is stored and returned as it is: it is not"
        " looked up. Without an `id`, it is the platform's id of the conversation's customer or"
        " bot."
    )
    recipient: Recipient | None = Field(
        None,
        description="Who the message is for; if left out, the customer or, for a message of the"
        " customer, whoever has the conversation.",
    )
    content: list[MessageContent] = Field(
        default_factory=list,
        max_length=20,
        description="At most 20 parts, instead of `text`; for a template, use *Post Chatapp"
        " Template*.",
    )
    text: MessageText | None = Field(None, description="A plain text, instead of `content`.")
    client_message_id: ClientMessageId = None
    in_reply_to: uuid.UUID | None = Field(
        None,
        description="The id of the message of this conversation that it answers. The bot or system"
        " can answer a message only once: 409 `already_answered`.",
    )
    sent_at: Moment | None = Field(
        None,
        description="When the message was sent, if you import history; not in the future. Such a"
        " message is stored and counted, but has no effect: no reply, event or delivery, no change"
        " of assignee or status, nothing unread. An ended conversation accepts it too.",
    )
    generate_reply: bool = Field(
        False,
        description="Whether the bot should answer this message; 422 unless it is a customer's,"
        " without `sent_at`. The response does not contain the answer: *List Messages* shows it"
        " later, and the webhook event `message.created` reports it.",
    )
    metadata: FreeObject = Field(
        default_factory=dict,
        description="Your own keys and values, returned unchanged; at most 16,384 bytes of JSON."
        " Send numbers above 9007199254740991 as strings.",
    )

    @model_validator(mode="after")
    def _check_consistency(self) -> "MessageRequest":
        if bool(self.text) == bool(self.content):
            raise ValueError("give either text or content")
        if any(part.type == "text" and not (part.text or "").strip() for part in self.parts):
            raise ValueError("text must not be blank")
        if self.sent_at and self.sent_at > timezone.now():
            raise ValueError("sent_at must not lie in the future")
        if self.generate_reply and (self.sender.type != "customer" or self.sent_at):
            raise ValueError("only a customer's new message can get a generated reply")
        return self

    @property
    def parts(self) -> list[MessageContent]:
        """The content, whether given as `content` or as `text`."""
        return self.content or [MessageContent(type="text", text=self.text)]


class MessagingMessagesResponse(ListPage[MessageEntity]):
    """A page of messages, oldest first."""
