"""The shapes of conversations: what the API, events and streams say."""

import uuid
from typing import Annotated, Literal

from django.utils.timezone import now
from pydantic import Field, SerializeAsAny, model_validator
from typing_extensions import TypeAliasType

from chatplatform.api.pagination import Page
from chatplatform.api.shapes import MAX_ID, FreeObject, Language, Moment, Shape, Text, example
from chatplatform.customer_channels import ChannelName, OwnChannel
from chats import models
from chats.shapes.insight import TagNames
from chats.shapes.message import Message, Sentiment
from chats.shapes.people import CustomerInfo, Identity, IdentitySignature, Location
from identity.shapes.fields import Email

ConversationStatus = Literal["open", "snoozed", "ended"]
# A component of its own in the document.
AssignTypeEnum = TypeAliasType(
    "AssignTypeEnum",
    Annotated[
        Literal["bot", "queue", "agent"],
        Field(title="AssignTypeEnum", description="Who must act next; `queue` waits for an agent."),
    ],
)


class Conversation(Shape):
    """A chat between a customer and a bot or agent."""

    id: uuid.UUID = Field(description="UUIDv7.")
    chat_code: str = Field(description="Short and unguessable; for links and for the phone.")
    bot_id: int = Field(description="The bot that serves it.")
    channel: ChannelName = Field(description="The door it was opened through.")
    status: ConversationStatus = Field(description="Whether work is expected.")
    assign_type: AssignTypeEnum = Field(description="Who must act next.")
    assignee: Identity | None = Field(None, description="The agent, if one has it.")
    version: int = Field(description="Grows with each change of owner or status.")
    customer_id: int = Field(description="The customer's number.")
    customer: CustomerInfo = Field(description="The customer.")
    is_preview: bool = Field(
        False, description="The staff try the bot: such a chat notifies nobody and counts nowhere."
    )
    waiting_since: Moment | None = Field(None, description="Since when it waits for an agent.")
    snoozed_until: Moment | None = Field(None, description="When it opens again, if it is snoozed.")
    handoff_reason: str | None = Field(
        None,
        description="Why the bot handed over: `no_answer`, `customer_asked`, `engine_failed`,"
        " `bot_disabled`, `agents_reply`, `staff_request`, `agent_silent`, `credits_used_up`,"
        " `agent_gone` (its agent was locked out, or made a viewer),"
        " `files_only`, `approval_needed` (an agent must agree to a function call),"
        " `answered_elsewhere` (a person answered with the channel's own tools).",
    )
    previous_chat_id: uuid.UUID | None = Field(None, description="The chat that it continues.")
    language: str = Field(description="BCP 47.")
    tags: list[str] = Field(description="Tags.")
    sentiment: str | None = Field(
        None, description="positive, neutral or negative; null if unknown."
    )
    summary: str | None = Field(None, description="Summary, if one was made.")
    unread_count: int = Field(description="Customer messages that no agent has seen.")
    message_count: int = Field(description="Messages in all, internal notes not counted.")
    last_message: SerializeAsAny[Message] | None = Field(
        None, description="The newest message that the customer may see; null if there is none."
    )
    last_message_at: Moment | None = Field(None, description="When the newest message came.")
    first_response_at: Moment | None = Field(None, description="When the customer was answered.")
    ended_at: Moment | None = Field(None, description="When it ended.")
    ended_by: str | None = Field(None, description="customer, agent, bot, inactivity or api.")
    can_reply: bool = Field(
        description="Whether a message can be sent to the customer now: the chat is open, its"
        " channel's account is connected, and the reply window is not over."
    )
    reply_window_expires_at: Moment | None = Field(
        None, description="Until when the channel accepts free text, if it sets such a time."
    )
    location: Location | None = Field(None, description="Where the customer is.")
    metadata: FreeObject = Field(description="Free keys and values of the caller.")
    created_at: Moment = Field(description="When it was opened.")

    @classmethod
    def from_row(cls, row: models.Conversation) -> "Conversation":
        window_ends_at = row.reply_window_expires_at
        return cls.copy_from(
            row,
            assignee=Identity.from_row(row.assignee) if row.assignee else None,
            customer=CustomerInfo.from_row(row.customer),
            last_message=row.last_message and Message.from_row(row.last_message),
            can_reply=row.status != models.Status.ENDED
            and row.is_reachable
            and (window_ends_at is None or window_ends_at > now()),
            location=Location.model_construct(**row.location) if row.location else None,
        )


class ChatCreation(Shape):
    """Opens a conversation."""

    model_config = example(
        customer={"external_id": "customer-17", "name": "Cara Diaz"},
        message="How long do I have to return an order?",
        language="en",
    )

    bot_id: int | None = Field(
        None, ge=1, le=MAX_ID, description="The bot; only if the key serves several."
    )
    customer: CustomerInfo = Field(
        default_factory=CustomerInfo.model_construct, description="The customer."
    )
    identity_signature: IdentitySignature = None
    language: Language | None = Field(
        None, description="The customer's language; left out: the bot's default."
    )
    message: Text | None = Field(
        None,
        description="The customer's first message, answered as with reply=async.",
        min_length=1,
        max_length=8000,
    )
    channel: OwnChannel = Field("api", description="The door: a web page, or a server.")
    location: Location | None = Field(None, description="Where the customer is.")
    tags: TagNames = Field(
        default_factory=list,
        description="Tags to begin with, at most 20. Only with a secret key.",
    )
    metadata: FreeObject = Field(
        default_factory=dict,
        description="Free keys and values, given back unchanged; at most 16,384 bytes of JSON,"
        " numbers up to 9007199254740991 (others as strings). Only with a secret key.",
    )

    @model_validator(mode="after")
    def _message_is_not_blank(self) -> "ChatCreation":
        if self.message is not None and not self.message.strip():
            raise ValueError("message must not be blank")
        return self


class ConversationHistory(Shape):
    """A conversation with its customer and a page of its messages."""

    conversation: Conversation = Field(description="The conversation.")
    customer: CustomerInfo = Field(description="What is known of the customer.")
    items: list[Message] = Field(description="The messages, oldest first.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class TranscriptLine(Shape):
    """What somebody said."""

    sender: str = Field(description="Which side it was: customer, bot, agent or system.")
    name: str = Field(description="The name at the time; may be empty.")
    text: str = Field(description="The words; empty if there were only files.")
    options: list[str] = Field(description="What it offered to choose from.")
    files: list[str] = Field(description="Names of the files, or their types.")
    created_at: Moment = Field(description="When it was said.")


class Transcript(Shape):
    """A chat for its customer to keep."""

    chat_code: str = Field(description="The chat's code.")
    bot_name: str = Field(description="Who the customer wrote to.")
    created_at: Moment = Field(description="When the chat was opened.")
    ended_at: Moment | None = Field(None, description="When it ended.")
    messages: list[TranscriptLine] = Field(description="What was said, oldest first.")

    def as_text(self) -> str:
        """The same for people to read; times are in UTC."""
        lines = [f"{self.bot_name}, {self.chat_code}, {self.created_at:%Y-%m-%d %H:%M} UTC", ""]
        for line in self.messages:
            words = [line.text, ", ".join(line.options), *(f"[{file}]" for file in line.files)]
            said = " ".join(word for word in words if word)
            name = line.name or ("Customer" if line.sender == "customer" else self.bot_name)
            lines.append(f"{line.created_at:%Y-%m-%d %H:%M} {name}: {said}")
        return "\n".join(lines) + "\n"


class TranscriptMail(Shape):
    """Where a transcript is mailed to."""

    email: Email = Field(description="The mailbox.", examples=["zoe@example.com"])


class ConversationsResponse(Shape):
    """A page of chats."""

    items: list[Conversation] = Field(description="The chats.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class ChatsQuery(Page):
    """Which chats, and in which order; all filters given must match."""

    status: ConversationStatus | None = Field(None, description="Its status.")
    assign_type: AssignTypeEnum | None = Field(
        None, description="Who must act next; `queue`: it waits for an agent."
    )
    mine: bool | None = Field(
        None, description="true: you have it; false: you do not. Not with an API key."
    )
    is_assigned: bool | None = Field(
        None, description="true: an agent has it; false: nobody's, so the bot's or the queue's."
    )
    is_unread: bool | None = Field(
        None, description="Whether its customer has written what no agent has seen."
    )
    is_waiting: bool | None = Field(
        None, description="Whether its customer waits for a person's answer."
    )
    previews: bool = Field(
        False, description="true: only the staff's previews of a bot; false: only real chats."
    )
    bot_id: int | None = Field(None, ge=1, le=MAX_ID, description="Served by this bot.")
    customer_id: int | None = Field(None, ge=1, le=MAX_ID, description="Of this customer.")
    channel: ChannelName | None = Field(None, description="Opened through this door.")
    assignee_id: int | None = Field(None, ge=1, le=MAX_ID, description="This agent has it.")
    tag: Text | None = Field(None, description="Carries this tag.", max_length=60)
    sentiment: Sentiment | None = Field(None, description="The customer's sentiment.")
    q: Text | None = Field(
        None,
        description="Words, or parts of words, that one of its messages holds, all of them; or a"
        " part of the customer's name, e-mail address or external id; or the beginning of the"
        " chat's code. The first ten words count; of the messages that match, the newest 2,000."
        " If no three letters or digits stand together in it, only the newest 10,000 messages and"
        " the beginning of the customer's fields are searched.",
        min_length=1,
        max_length=200,
    )
    created_from: Moment | None = Field(None, description="Opened at this time or later.")
    created_to: Moment | None = Field(None, description="Opened before this time.")
    sort: Literal["newest", "longest_wait"] = Field(
        "newest",
        description="`newest`: the newest activity first. `longest_wait`: whose customer waits"
        " longest for a person first, then those that do not wait, by newest activity.",
    )


class ChatCounts(Shape):
    """How many chats are in each view of the desk. Each is counted up to 10,000, then stops."""

    mine: int = Field(description="Open, and you have them: `mine=true&status=open`.")
    unassigned: int = Field(
        description="Open, and waiting for an agent: `assign_type=queue&status=open`."
    )
    all: int = Field(description="Open, whoever has them: `status=open`.")
    snoozed: int = Field(description="Snoozed: `status=snoozed`.")
    ended: int = Field(description="Ended: `status=ended`.")
    unread: int = Field(description="Open with unread messages: `is_unread=true&status=open`.")
    mine_unread: int = Field(description="Of those, yours.")
