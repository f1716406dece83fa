"""The shapes of conversations and messages: what the API, events and streams say."""

import uuid
from collections.abc import Iterable
from typing import Any, Literal, cast

from django.utils.timezone import now
from pydantic import Field, SerializeAsAny, field_validator, model_validator

from bots.serializers.train import Upload
from chatplatform.pagination import Page
from chatplatform.shapes import FreeObject, Language, Moment, Shape, Text, iso
from chats import models
from identity.models import User

MAX_TAGS = 20
MAX_TAG_CHARS = 60


def distinct(names: Iterable[str]) -> list[str]:
    """Names without repetitions: capitals and outer spaces make no difference, the first counts."""
    found: dict[str, str] = {}
    for name in names:
        tidy = " ".join(name.split())
        found.setdefault(tidy.casefold(), tidy)
    return list(found.values())


class Identity(Shape):
    """A person, by the id that its own system uses."""

    external_id: Text = Field(
        description="The id in the system it comes from.", min_length=1, max_length=200
    )
    name: Text = Field("", description="What to call the person.", max_length=200)

    @classmethod
    def of(cls, user: User) -> "Identity":
        """One of a client's people."""
        return cls.model_construct(external_id=str(user.pk), name=user.full_name)


class Location(Shape):
    """Where someone is, as far as it is known."""

    country: Text | None = Field(None, description="ISO 3166-1 alpha-2.", pattern="^[A-Z]{2}$")
    region: Text | None = Field(None, description="Region or state.", max_length=100)
    city: Text | None = Field(None, description="City.", max_length=100)
    latitude: float | None = Field(None, ge=-90, le=90, description="Degrees north, WGS 84.")
    longitude: float | None = Field(None, ge=-180, le=180, description="Degrees east, WGS 84.")


class CustomerInfo(Shape):
    """Who writes, as far as the caller knows."""

    external_id: Text | None = Field(
        None,
        description="The customer's id in your own system. A returning one joins the same"
        " customer. Only with a secret key: a web page cannot prove who its visitor is.",
        min_length=1,
        max_length=200,
    )
    name: Text | None = Field(None, description="Name.", max_length=200)
    email: Text | None = Field(
        None, description="E-mail address.", max_length=254, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
    )
    phone: Text | None = Field(None, description="Phone number as given.", max_length=40)
    avatar_url: Text | None = Field(
        None, description="Picture, an http(s) URL.", max_length=500, pattern="^https?://"
    )
    attributes: FreeObject = Field(
        default_factory=dict, description="Anything else you know: free keys and values."
    )

    @classmethod
    def of(cls, row: models.Customer) -> "CustomerInfo":
        return cls.model_construct(
            external_id=row.external_id,
            name=row.name or None,
            email=row.email or None,
            phone=row.phone or None,
            avatar_url=row.avatar_url or None,
            attributes=row.attributes,
        )


class Sender(Shape):
    """The side, and who of it, that a message comes from."""

    type: Literal["customer", "bot", "agent", "system"] = Field(description="Which side.")
    id: Text | None = Field(
        None, max_length=60, description="The sender's id; null for the system."
    )
    name: Text = Field("", max_length=200, description="Name as shown.")


class Recipient(Sender):
    """Whom a message is for."""


class Citation(Shape):
    """The passage that an answer rests on."""

    document_id: int = Field(description="The document it comes from.")
    title: Text = Field(description="The document's title.")
    url: Text | None = Field(None, description="Where it stands on the web, if it does.")
    page: int | None = Field(None, description="Page of the document, from 1, where it has pages.")
    quote: Text = Field(description="The words that the answer rests on.")


class Option(Shape):
    """One of the answers that a message offers."""

    label: Text = Field(description="What the customer sees.", max_length=200)
    value: Text = Field(description="What choosing it says.", max_length=500)


ContentType = Literal["text", "image", "file", "audio", "video", "location", "template", "feedback"]
FILES = {"image", "file", "audio", "video"}


class MessageContent(Shape):
    """One piece of a message."""

    type: ContentType = Field(description="What kind of piece.", examples=["text"])
    text: Text | None = Field(None, description="The text, plain.", max_length=8000)
    url: Text | None = Field(
        None,
        max_length=2000,
        pattern=r"^(https?://|/)[^\s]+$",
        description="Where the file lies. One that we keep has a signed link on this host, good"
        " for a day; ask for the message again to get a fresh one. One that a sender linked is"
        " given as it came: we never fetch it.",
    )
    file_name: Text | None = Field(None, description="Name as given.", max_length=255)
    mime_type: Text | None = Field(
        None, description="Recognised from the bytes, where we keep the file.", max_length=120
    )
    size_bytes: int | None = Field(None, description="Size in bytes.", ge=0)
    location: Location | None = Field(None, description="A place, for `location`.")
    options: list[Option] | None = Field(
        None, description="Answers to choose from, at most 20.", max_length=20
    )
    citations: list[Citation] | None = Field(None, description="What this piece rests on.")

    @model_validator(mode="after")
    def _holds_what_its_type_says(self) -> "MessageContent":
        if self.type == "text" and self.text is None:
            raise ValueError("a text needs its text")
        if self.type in FILES and self.url is None:
            raise ValueError("a file needs its url")
        if self.type == "location" and self.location is None:
            raise ValueError("a location needs its location")
        return self


def _piece(stored: dict[str, Any]) -> dict[str, Any]:
    """A stored piece as `MessageContent`: every key there, a kept file with a fresh link."""
    attachment_id = stored.get("attachment_id")
    return {
        "type": stored["type"],
        "text": stored.get("text"),
        "url": models.Attachment.link_to(attachment_id) if attachment_id else stored.get("url"),
        "file_name": stored.get("file_name"),
        "mime_type": stored.get("mime_type"),
        "size_bytes": stored.get("size_bytes"),
        "location": stored.get("location"),
        "options": stored.get("options"),
        "citations": stored.get("citations"),
    }


class Message(Shape):
    """One message of a conversation."""

    id: uuid.UUID = Field(description="UUIDv7.")
    conversation_id: uuid.UUID = Field(description="The conversation it belongs to.")
    seq: int = Field(description="Place in the conversation: 1, 2, 3 … without gaps.")
    sender: Sender = Field(description="Who said it.")
    recipient: Recipient | None = Field(
        None, description="Whom it was for; null for a note, and while nobody had the chat."
    )
    content: list[MessageContent] = Field(description="What was said.")
    status: Literal["pending", "sent", "delivered", "read", "failed"] = Field(
        description="How far it came on its way to the reader."
    )
    error: str | None = Field(None, description="Why it failed, where it did.")
    in_reply_to: uuid.UUID | None = Field(None, description="The message that it answers.")
    is_note: bool = Field(False, description="An internal note: never shown to the customer.")
    client_message_id: str | None = Field(None, description="The id that the sender gave it.")
    provider_message_id: str | None = Field(None, description="The id in a messaging channel.")
    language: str | None = Field(None, description="Language of the text, BCP 47.")
    translations: dict[str, str] = Field(
        description="Language to text, where a translation was made."
    )
    sentiment: Literal["positive", "neutral", "negative"] | None = Field(
        None, description="How the customer sounds; null where nobody has looked."
    )
    citations: list[Citation] = Field(description="What a bot's answer rests on.")
    created_at: Moment = Field(description="When it was stored.")
    delivered_at: Moment | None = Field(None, description="When it reached the reader's device.")
    read_at: Moment | None = Field(None, description="When it was read.")

    @classmethod
    def of(cls, row: models.Message) -> dict[str, Any]:
        """The row as plain data: built by hand, since every list of messages passes here."""
        return {
            "id": str(row.pk),
            "conversation_id": str(row.conversation_id),
            "seq": row.seq,
            "sender": {
                "type": row.sender_type,
                "id": row.sender_id,
                "name": row.sender_name,
            },
            "recipient": row.recipient,
            "content": [_piece(piece) for piece in row.content],
            "status": row.status,
            "error": row.error,
            "in_reply_to": str(row.in_reply_to_id) if row.in_reply_to_id else None,
            "is_note": row.is_note,
            "client_message_id": row.client_message_id,
            "provider_message_id": row.provider_message_id,
            "language": row.language or None,
            "translations": row.translations,
            "sentiment": row.sentiment,
            "citations": row.citations,
            "created_at": iso(row.created_at),
            "delivered_at": iso(row.delivered_at) if row.delivered_at else None,
            "read_at": iso(row.read_at) if row.read_at else None,
        }


class MessagesResponse(Shape):
    """A page of messages, oldest first."""

    items: list[Message] = Field(description="The messages.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class Conversation(Shape):
    """A chat between a customer and a bot or agent."""

    id: uuid.UUID = Field(description="UUIDv7.")
    chat_code: str = Field(description="Short and unguessable; for links and for the phone.")
    bot_id: int = Field(description="The bot that serves it.")
    channel: Literal["web", "api", "socialnet", "photoapp", "chatapp", "localapp"] = Field(
        description="The door it was opened through."
    )
    status: Literal["open", "snoozed", "ended"] = Field(description="Whether work is expected.")
    assign_type: Literal["bot", "queue", "agent"] = Field(description="Who must act next.")
    assignee: Identity | None = Field(None, description="The agent, where one has it.")
    version: int = Field(description="Grows with each change of owner or status.")
    customer: CustomerInfo = Field(description="Who writes.")
    waiting_since: Moment | None = Field(None, description="Since when it waits for an agent.")
    handoff_reason: str | None = Field(
        None,
        description="Why the bot handed over: `no_answer`, `customer_asked`, `engine_failed`,"
        " `bot_disabled`, `agents_reply`, `staff_request`, `agent_silent`, `credits_used_up`,"
        " `files_only`, `approval_needed` (an agent must agree to a function call).",
    )
    previous_chat_id: uuid.UUID | None = Field(None, description="The chat that it continues.")
    language: str = Field(description="BCP 47.")
    tags: list[str] = Field(description="Tags.")
    sentiment: str | None = Field(
        None, description="positive, neutral or negative; null if unknown."
    )
    summary: str | None = Field(None, description="Summary, where one was made.")
    unread_count: int = Field(description="Customer messages that no agent has seen.")
    message_count: int = Field(description="Messages in all.")
    last_message: SerializeAsAny[Message] | None = Field(
        None, description="The newest message that the customer may see; null where there is none."
    )
    last_message_at: Moment | None = Field(None, description="When the newest message came.")
    first_response_at: Moment | None = Field(None, description="When the customer was answered.")
    ended_at: Moment | None = Field(None, description="When it ended.")
    ended_by: str | None = Field(None, description="customer, agent, bot, inactivity or api.")
    can_reply: bool = Field(description="Whether a message can be sent to the customer now.")
    reply_window_expires_at: Moment | None = Field(
        None, description="Until when the channel carries a free text, where it sets such a time."
    )
    location: Location | None = Field(None, description="Where the customer is.")
    metadata: FreeObject = Field(description="Free keys and values of the caller.")
    created_at: Moment = Field(description="When it was opened.")

    @classmethod
    def of(cls, row: models.Conversation) -> "Conversation":
        return cls.model_construct(
            id=row.pk,
            chat_code=row.chat_code,
            bot_id=row.bot_id,
            channel=cast("Any", row.channel),
            status=cast("Any", row.status),
            assign_type=cast("Any", row.assign_type),
            assignee=Identity.of(row.assignee) if row.assignee else None,
            version=row.version,
            customer=CustomerInfo.of(row.customer),
            waiting_since=row.waiting_since,
            handoff_reason=row.handoff_reason,
            previous_chat_id=row.previous_chat_id,
            language=row.language,
            tags=row.tags,
            sentiment=row.sentiment,
            summary=row.summary,
            unread_count=row.unread_count,
            message_count=row.message_count,
            last_message=cast("Any", row.last_message and Message.of(row.last_message)),
            last_message_at=row.last_message_at,
            first_response_at=row.first_response_at,
            ended_at=row.ended_at,
            ended_by=row.ended_by,
            can_reply=row.status != models.Status.ENDED
            and (row.reply_window_expires_at is None or row.reply_window_expires_at > now()),
            reply_window_expires_at=row.reply_window_expires_at,
            location=Location.model_construct(**row.location) if row.location else None,
            metadata=row.metadata,
            created_at=row.created_at,
        )


class ChatCreation(Shape):
    """Opens a conversation."""

    bot_id: int | None = Field(
        None, ge=1, description="The bot; only where the key serves several."
    )
    customer: CustomerInfo = Field(
        default_factory=CustomerInfo.model_construct, description="Who writes."
    )
    language: Language | None = Field(
        None, description="The customer's language; the bot's default where left out."
    )
    message: Text | None = Field(
        None,
        description="The customer's first message, answered as with reply=async.",
        min_length=1,
        max_length=8000,
    )
    channel: Literal["web", "api"] = Field("api", description="The door: a web page, or a server.")
    location: Location | None = Field(None, description="Where the customer is.")
    tags: list[Text] = Field(
        default_factory=list, description="Tags to begin with, at most 20.", max_length=MAX_TAGS
    )
    metadata: FreeObject = Field(
        default_factory=dict, description="Free keys and values, given back unchanged."
    )

    @field_validator("tags")
    @classmethod
    def _tags_are_short(cls, given: list[str]) -> list[str]:
        if any(not name.strip() or len(name) > MAX_TAG_CHARS for name in given):
            raise ValueError(f"each tag has 1 to {MAX_TAG_CHARS} characters")
        return distinct(given)

    @model_validator(mode="after")
    def _message_is_not_blank(self) -> "ChatCreation":
        if self.message is not None and not self.message.strip():
            raise ValueError("message must not be blank")
        return self


class ConvMessage(Shape):
    """A customer's message."""

    text: Text = Field(
        description="What the customer says; 1 to 8,000 characters.", min_length=1, max_length=8000,
        examples=["How long do I have to return an order?"],
    )  # fmt: skip
    client_message_id: Text | None = Field(
        None,
        description="Your own id of this message: sent twice, it is stored and answered once.",
        min_length=1,
        max_length=200,
    )
    language: Language | None = Field(
        None, description="Language of the text; recognised where left out."
    )
    attachments: list[MessageContent] = Field(
        default_factory=list,
        max_length=10,
        description="Files by link, places, at most 10. A link is passed on and never fetched.",
    )
    reply: Literal["wait", "async", "stream", "none"] = Field(
        "wait",
        description="`wait`: the answer comes with this reply, or 202 `pending` after a minute."
        " `async`: 202 at once. `stream`: server-sent events. `none`: nobody is to answer.",
    )

    @model_validator(mode="after")
    def _not_blank(self) -> "ConvMessage":
        if not self.text.strip():
            raise ValueError("text must not be blank")
        return self


class Body_generate_client_chat_with_files_by_chat_id_ai_client_chat_files__chat_id___post(  # noqa: N801 - the document's name
    Shape
):
    """A customer's message with files."""

    message: Text = Field(
        "", max_length=8000, description="What the customer says; may be empty beside files."
    )
    files: list[Upload] = Field(
        min_length=1,
        max_length=10,
        description="1 to 10 files of at most 25,000,000 bytes: pictures (PNG, JPEG, GIF, WebP),"
        " sounds, videos, PDF, office documents, plain text. Recognised by their bytes.",
    )
    client_message_id: Text | None = Field(
        None, min_length=1, max_length=200, description="As with a message without files."
    )
    reply: Literal["wait", "async", "stream", "none"] = Field(
        "wait", description="As with a message without files."
    )

    @property
    def words(self) -> "ConvMessage":
        """The message without its files."""
        return ConvMessage.model_construct(
            text=self.message.strip(),
            client_message_id=self.client_message_id,
            language=None,
            attachments=[],
            reply=self.reply,
        )


class AttachmentQuery(Shape):
    """What opens a file's link."""

    signature: Text = Field(description="As the message's content has it.", max_length=200)


class ChatTurn(Shape):
    """A customer's message and what became of it."""

    message: Message = Field(description="The message as stored.")
    reply: Message | None = Field(
        None, description="The bot's answer, or what the customer was told at the handover."
    )
    status: Literal["answered", "pending", "handed_off", "not_expected"] = Field(
        description="`handed_off`: an agent will answer. `not_expected`: nobody was asked to."
    )
    handoff_reason: str | None = Field(None, description="Why the bot handed over, if it did.")


class ConversationHistory(Shape):
    """A conversation with who wrote it, and a page of what was said."""

    conversation: Conversation = Field(description="The conversation.")
    customer: CustomerInfo = Field(description="What is known of the customer.")
    items: list[Message] = Field(description="The messages, oldest first.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class ConversationsResponse(Shape):
    """A page of chats."""

    items: list[Conversation] = Field(description="The chats.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class ChatsQuery(Page):
    """Which chats; all filters given must match."""

    status: Literal["open", "snoozed", "ended"] | None = Field(None, description="Its status.")
    bot_id: int | None = Field(None, ge=1, le=2**63 - 1, description="Served by this bot.")
    channel: Literal["web", "api", "socialnet", "photoapp", "chatapp", "localapp"] | None = Field(
        None, description="Opened through this door."
    )
    assignee_id: int | None = Field(None, ge=1, le=2**63 - 1, description="This agent has it.")
    tag: Text | None = Field(None, description="Carries this tag.", max_length=60)
    sentiment: Literal["positive", "neutral", "negative"] | None = Field(
        None, description="The customer's sentiment."
    )
    q: Text | None = Field(
        None,
        description="Words that were said in it, or the beginning of its code or of the customer's"
        " name; the first ten words count.",
        min_length=1,
        max_length=200,
    )
    created_from: Moment | None = Field(None, description="Opened at this time or later.")
    created_to: Moment | None = Field(None, description="Opened before this time.")
