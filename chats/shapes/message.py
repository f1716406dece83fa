"""The shapes of messages: what the API, events and streams say."""

import uuid
from typing import Any, Literal

from pydantic import Field, model_validator

from bots.shapes.train import Upload
from chatplatform.api.pagination import Page
from chatplatform.api.shapes import (
    MAX_ID,
    MAX_NUMBER,
    Language,
    Moment,
    Shape,
    Text,
    example,
    iso,
    read_only,
)
from chats import models
from chats.shapes.people import Location

Sentiment = Literal["positive", "neutral", "negative"]
TurnStatus = Literal["answered", "asked_again", "pending", "handed_off", "not_expected"]


class Sender(Shape):
    """The side, and the person or bot of it, that a message comes from."""

    type: Literal["customer", "bot", "agent", "system"] = Field(description="Which side.")
    id: Text | None = Field(
        None, max_length=60, description="The sender's id; null for the system."
    )
    name: Text = Field("", max_length=200, description="Name as shown.")


class Recipient(Sender):
    """Whom a message is for."""


class Citation(Shape):
    """The passage that an answer rests on."""

    document_id: int = Field(ge=0, le=MAX_ID, description="The document it comes from.")
    title: Text = Field(description="The document's title.", max_length=500)
    url: Text | None = Field(None, description="Its web address, if it has one.", max_length=2000)
    page: int | None = Field(
        None, ge=0, le=2**31 - 1, description="Page of the document, from 1, if it has pages."
    )
    quote: Text = Field(description="The words that the answer rests on.", max_length=8000)


class MessageOption(Shape):
    """One of the answers that a message offers."""

    label: Text = Field(description="What the customer sees.", max_length=200)
    value: Text = Field(description="What choosing it says.", max_length=500)


class SentTemplate(Shape):
    """A channel's approved template, and the values that it was sent with."""

    name: str = Field(description="Its name at the provider.")
    language: str = Field(description="Its language, as the provider writes it.")
    values: list[str] = Field(description="The values of its variables, in their order.")


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
        description="Where the file is. A file that we store has a signed link on this host, valid"
        " for a day; read the message again for a fresh one. A sender's own link is passed on"
        " as it is and never fetched.",
    )
    file_name: Text | None = Field(None, description="Name as given.", max_length=255)
    mime_type: Text | None = Field(
        None, description="Recognised from the bytes, if we store the file.", max_length=120
    )
    size_bytes: int | None = Field(None, description="Size in bytes.", ge=0, le=MAX_NUMBER)
    error: Text | None = Field(
        None, description="Why a channel's file could not be stored; set by us.", max_length=300
    )
    location: Location | None = Field(None, description="A place, for `location`.")
    options: list[MessageOption] | None = Field(
        None, description="Answers to choose from, at most 20.", max_length=20
    )
    citations: list[Citation] | None = Field(
        None, description="What this piece rests on, at most 20.", max_length=20
    )

    template: SentTemplate | None = read_only(
        "For a `template` that was approved by its channel's provider: which one; `text` has its"
        " words."
    )

    @model_validator(mode="after")
    def _holds_what_its_type_says(self) -> "MessageContent":
        if self.type == "text" and self.text is None:
            raise ValueError("a text needs its text")
        if self.type in FILES and self.url is None and self.error is None:
            raise ValueError("a file needs its url")
        if self.type == "location" and self.location is None:
            raise ValueError("a location needs its location")
        return self


_PIECE_KEYS = tuple(MessageContent.model_fields)


def _piece(stored: dict[str, Any]) -> dict[str, Any]:
    """A stored piece as `MessageContent`: every key, and a fresh link to a stored file."""
    attachment_id = stored.get("attachment_id")
    piece = {name: stored.get(name) for name in _PIECE_KEYS}
    if attachment_id:
        piece["url"] = models.Attachment.link_to(attachment_id)
    return piece


class Message(Shape):
    """One message of a conversation."""

    id: uuid.UUID = Field(description="UUIDv7.")
    conversation_id: uuid.UUID = Field(description="The conversation it belongs to.")
    seq: int = Field(description="Place in the conversation: 1, 2, 3 … without gaps.")
    sender: Sender = Field(description="Who said it.")
    recipient: Recipient | None = Field(
        None, description="Whom it was for; null for a note, and if nobody had the chat."
    )
    content: list[MessageContent] = Field(description="What was said.")
    status: Literal["pending", "sent", "delivered", "read", "failed"] = Field(
        description="How far it came on its way to the reader."
    )
    error: str | None = Field(None, description="Why it failed, if it did.")
    in_reply_to: uuid.UUID | None = Field(None, description="The message that it answers.")
    is_note: bool = Field(False, description="An internal note: never shown to the customer.")
    is_welcome: bool = Field(
        False,
        description="The bot's welcome, first in its chat. It has a `seq`, and nothing else counts"
        " it; it raises no event.",
    )
    client_message_id: str | None = Field(None, description="The id that the sender gave it.")
    provider_message_id: str | None = Field(None, description="The id in a messaging channel.")
    language: str | None = Field(None, description="Language of the text, BCP 47.")
    translations: dict[str, str] = Field(description="Text by language, if translations were made.")
    sentiment: Sentiment | None = Field(
        None,
        description="How the customer sounds in this message, judged together with the chat's"
        " sentiment; null if it was not judged, and for every other side.",
    )
    citations: list[Citation] = Field(description="The passages that a bot's answer rests on.")
    created_at: Moment = Field(description="When it was stored.")
    delivered_at: Moment | None = Field(None, description="When it reached the reader's device.")
    read_at: Moment | None = Field(None, description="When it was read.")
    edited_at: Moment | None = Field(
        None, description="When the customer last changed it at its channel."
    )
    deleted_at: Moment | None = Field(
        None, description="When the customer took it back at its channel: its content is gone."
    )
    customer_reaction: str | None = Field(
        None, description="The customer's reaction at the channel: an emoji, or a word for it."
    )

    @classmethod
    def from_row(cls, row: models.Message) -> dict[str, Any]:
        """The row as plain data. Built by hand, because every list of messages needs it."""
        return {
            "id": str(row.pk),
            "conversation_id": str(row.conversation_id),
            "seq": row.seq,
            "sender": {"type": row.sender_type, "id": row.sender_id, "name": row.sender_name},
            "recipient": row.recipient,
            "content": [_piece(piece) for piece in row.content],
            "status": row.status,
            "error": row.error,
            "in_reply_to": str(row.in_reply_to_id) if row.in_reply_to_id else None,
            "is_note": row.is_note,
            "is_welcome": row.is_welcome,
            "client_message_id": row.client_message_id,
            "provider_message_id": row.provider_message_id,
            "language": row.language or None,
            "translations": row.translations,
            "sentiment": row.sentiment,
            "citations": row.citations,
            "created_at": iso(row.created_at),
            "delivered_at": iso(row.delivered_at) if row.delivered_at else None,
            "read_at": iso(row.read_at) if row.read_at else None,
            "edited_at": iso(row.edited_at) if row.edited_at else None,
            "deleted_at": iso(row.deleted_at) if row.deleted_at else None,
            "customer_reaction": row.customer_reaction or None,
        }


class ArrivalReport(Shape):
    """Messages to the customer arrived or were read: all, or all up to one that is named."""

    model_config = example(seq=4)

    seq: int | None = Field(
        None, ge=1, le=2**31 - 1, description="Up to the message with this place in the chat."
    )
    message_id: uuid.UUID | None = Field(None, description="Up to this message of the chat.")


class MessagesResponse(Shape):
    """A page of messages."""

    items: list[Message] = Field(description="The messages.")
    next_cursor: str | None = Field(None, description="For the next page; null on the last.")


class HistoryQuery(Page):
    """Which end of a chat comes first."""

    sort: Literal["oldest", "newest"] = Field(
        "oldest", description="`newest`: the end of the chat first, and further pages go back."
    )


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
        None, description="Language of the text; left out: recognised."
    )
    attachments: list[MessageContent] = Field(
        default_factory=list,
        max_length=10,
        description="Files by link, places, at most 10. A link is passed on and never fetched.",
    )
    reply: Literal["wait", "async", "stream", "none"] = Field(
        "wait",
        description="`wait`: the answer comes with this reply, or 202 `pending` after a minute."
        " `async`: 202 at once. `stream`: server-sent events. `none`: no reply is wanted.",
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


FilesBody = Body_generate_client_chat_with_files_by_chat_id_ai_client_chat_files__chat_id___post


class AttachmentQuery(Shape):
    """What opens a file's link."""

    signature: Text = Field(description="As the message's content has it.", max_length=200)


class ChatTurn(Shape):
    """A customer's message and what became of it."""

    message: Message = Field(description="The message as stored.")
    reply: Message | None = Field(
        None, description="The bot's answer, or what the customer was told at the handover."
    )
    status: TurnStatus = Field(
        description="`asked_again`: the bot has no answer and asks for other words. `handed_off`:"
        " an agent will answer. `not_expected`: nobody was asked to."
    )
    handoff_reason: str | None = Field(None, description="Why the bot handed over, if it did.")
