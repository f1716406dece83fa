"""The schemas of a visitor's own conversations, with fewer fields than the client gets."""

import uuid
from typing import Any, Literal

from django.utils.timezone import now
from pydantic import Field

from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import Moment, Schema, example
from chats import models
from chats.schemas.content_kinds import preview
from chats.schemas.conversation import AssignTypeEnum, ConversationStatus
from chats.schemas.message import SHOWN_CONTENT, Citation, MessageContent, TurnStatus
from chats.schemas.people import IdentitySignature, OwnId
from identity.models import User
from identity.services import visitor_tokens

# How many characters of the newest message a list of conversations shows.
_MAX_EXCERPT_CHARS = 80


class VisitorAgent(Schema):
    """The agent who has the conversation."""

    name: str = Field(description="The agent's name.")
    avatar_url: str | None = Field(
        description="The http(s) URL of the agent's picture; null if there is none."
    )
    is_typing: bool = Field(description="Whether the agent is typing to the visitor.")

    @classmethod
    def from_row(cls, user: User, *, is_typing: bool) -> "VisitorAgent":
        return cls.model_construct(
            name=user.full_name, avatar_url=user.picture_url or None, is_typing=is_typing
        )


class VisitorCustomer(Schema):
    """The visitor's name and contact data."""

    name: str | None = Field(description="The visitor's name; null if unknown.")
    email: str | None = Field(description="The visitor's email address; null if unknown.")
    phone: str | None = Field(description="The phone number, as given; null if unknown.")

    @classmethod
    def from_row(cls, row: models.Customer) -> "VisitorCustomer":
        return cls.model_construct(
            name=row.name or None, email=row.email or None, phone=row.phone or None
        )


class VisitorSender(Schema):
    """Who wrote a message, without the ids that only your team sees."""

    type: Literal["customer", "bot", "agent", "system"] = Field(
        description="Who wrote the message: the customer, the bot, an agent, or the platform"
        " (`system`)."
    )
    name: str = Field(description="The name as shown.")


class VisitorMessage(Schema):
    """One message of a visitor's conversation."""

    id: uuid.UUID = Field(description="The message's id, a UUIDv7.")
    conversation_id: uuid.UUID = Field(description="The conversation that the message belongs to.")
    seq: int = Field(
        description="The message's number in the conversation, from 1; later messages have larger"
        " numbers, but some numbers may be missing."
    )
    sender: VisitorSender = Field(
        description="Who wrote the message: a `type` (`customer`, `bot`, `agent` or `system`) and"
        " the `name` as shown."
    )
    content: list[MessageContent] = Field(
        description="The content: one or more parts, such as a text and a file.",
        examples=[SHOWN_CONTENT],
    )
    in_reply_to: uuid.UUID | None = Field(
        description="The id of the message that this one answers; null if it answers none.",
    )
    is_welcome: bool = Field(description="Whether the message is the bot's welcome at the start.")
    client_message_id: str | None = Field(
        description="The id that the sender gave the message; null if none."
    )
    language: str | None = Field(
        description="The text's language as a BCP 47 code; null if unknown."
    )
    translations: dict[str, str] = Field(
        description="Translations of the text by language; empty if there are none."
    )
    citations: list[Citation] = Field(
        description="The passages of documents that support a bot's"
        " answer; empty if there are none."
    )
    is_seen: bool = Field(
        description="Whether the message was read: the visitor's own by an agent, any other by the"
        " visitor."
    )
    created_at: Moment = Field(description="When the message was stored.")
    edited_at: Moment | None = Field(
        description="When the sender last edited the message; null if never."
    )
    deleted_at: Moment | None = Field(
        description="When the sender deleted the message, which removed its content; null if it"
        " was not deleted."
    )

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> dict[str, Any]:
        """The fields of a finished `Message` that the visitor sees."""
        sender = message["sender"]
        values = message | {
            "sender": {"type": sender["type"], "name": sender["name"]},
            "is_seen": message["read_at"] is not None,
        }
        return {name: values[name] for name in cls.model_fields}


class VisitorMessages(ListPage[VisitorMessage]):
    """With a public key: a page of messages with fewer fields, oldest first."""


class VisitorTurn(Schema):
    """With a public key: some of the fields of a `ChatTurn`."""

    message: VisitorMessage = Field(description="The message as stored.")
    reply: VisitorMessage | None = Field(
        description="The bot's answer, or the message that announces the handover; null if there"
        " is none, or none yet: see `status`."
    )
    status: TurnStatus

    @classmethod
    def from_turn(cls, turn: dict[str, Any]) -> dict[str, Any]:
        """The fields of a finished `ChatTurn` that the visitor sees."""
        reply = turn["reply"]
        return {
            "message": VisitorMessage.from_message(turn["message"]),
            "reply": VisitorMessage.from_message(reply) if reply else None,
            "status": turn["status"],
        }


class VisitorIdentity(Schema):
    """Who a visitor of your website is."""

    model_config = example(external_id="customer-17", identity_signature="9f86d081884c7d65…")

    external_id: OwnId = Field(description="The customer's id in your own system.")
    identity_signature: IdentitySignature = None


class VisitorChat(Schema):
    """A conversation in a customer's list."""

    id: uuid.UUID = Field(description="The conversation's id, a UUIDv7.")
    status: ConversationStatus
    last_message_at: Moment = Field(description="When the newest message was stored.")
    text: str = Field(
        description="The beginning of the newest message or, if it has no text, what it contains:"
        " a file's name, or where a location is."
    )

    @classmethod
    def from_row(cls, row: models.Conversation) -> "VisitorChat":
        assert row.last_message, "only chats with messages are listed"
        return cls.copy_from(row, text=preview(row.last_message)[:_MAX_EXCERPT_CHARS])


class KnownVisitor(Schema):
    """A customer's newest conversations and, for their browser, a visitor token."""

    visitor_token: str | None = Field(
        description="The customer's token for the header `Visitor-Token`, valid for 180 days; null"
        " with a secret key, and if no customer has this `external_id` yet."
    )
    chats: list[VisitorChat] = Field(description="The newest conversations, newest first.")

    @classmethod
    def of(cls, token: str | None, chats: list[models.Conversation]) -> "KnownVisitor":
        listed = [VisitorChat.from_row(chat) for chat in chats]
        return cls.model_construct(visitor_token=token, chats=listed)


class VisitorConversation(Schema):
    """With a public key: the visitor's own conversation."""

    id: uuid.UUID = Field(description="The conversation's id, a UUIDv7.")
    chat_code: str = Field(
        description="A short, unguessable code to use in links or over the phone."
    )
    bot_id: int = Field(
        description="The id of the bot that serves the conversation, for *Get Bot By Id*."
    )
    visitor_token: str = Field(
        description="The visitor's token, valid for 180 days: send it as the header"
        " `Visitor-Token`."
    )
    status: ConversationStatus
    assign_type: AssignTypeEnum = Field(
        description="Who must act next: the `bot`, an `agent`, or nobody yet (`queue`)."
    )
    agent: VisitorAgent | None = Field(
        description="The agent who has the conversation, with `name`, `avatar_url` and `is_typing`;"
        " null if none does.",
    )
    customer: VisitorCustomer = Field(
        description="The visitor's name, email address and phone number."
    )
    previous_chat_id: uuid.UUID | None = Field(
        description="The conversation that this one continues; null if none.",
    )
    language: str = Field(description="The conversation's language as a BCP 47 code.")
    message_count: int = Field(
        description="How many messages the conversation has, without the welcome."
    )
    last_message_at: Moment | None = Field(
        description="When the newest message was stored, apart from the welcome and imported"
        " history; null if there is none."
    )
    last_event_seq: int = Field(
        description="Increases with every event of the conversation or its messages, such as a"
        " later translation. When it has increased, read the messages again."
    )
    waiting_since: Moment | None = Field(
        description="When the visitor began to wait for an agent; null if they are not waiting."
    )
    place_in_queue: int | None = Field(
        description="The visitor's place in the bot's queue, from 1; null if they are not waiting"
        " for an agent."
    )
    ended_at: Moment | None = Field(
        description="When the conversation ended; null until then.",
    )
    is_rated: bool = Field(
        description="Whether the conversation has ended and the visitor has rated it.",
    )
    can_reply: bool = Field(description="Whether a message can be sent to the visitor now.")
    is_blocked: bool = Field(
        description="Whether the visitor is blocked: everything they send is refused, even ratings."
    )
    created_at: Moment = Field(description="When the conversation was opened.")

    @classmethod
    def from_row(
        cls,
        row: models.Conversation,
        *,
        place_in_queue: int | None,
        is_agent_typing: bool,
        is_rated: bool,
    ) -> "VisitorConversation":
        assert row.visitor_id, "only chats of public keys are shown to visitors"
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
            is_rated=is_rated,
            is_blocked=row.customer.is_blocked,
            can_reply=row.status != models.Status.ENDED
            and (window_ends_at is None or window_ends_at > now()),
        )
