"""The schemas of messages in the API, events and streams."""

import uuid
from typing import Annotated, Any, Literal, Self

from django.conf import settings
from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from bots.schemas.document import Upload
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import (
    MAX_ID,
    MAX_NUMBER,
    FreeObject,
    Language,
    Moment,
    Schema,
    Text,
    example,
    iso,
    read_only,
)
from chats import models
from chats.schemas.content_kinds import FILE_TYPES, KINDS, ContentType, SentType
from chats.schemas.people import Location, OwnId

Sentiment = Literal["positive", "neutral", "negative"]
TurnStatus = Annotated[
    Literal["answered", "asked_again", "pending", "handed_off", "not_expected"],
    Field(
        description="`answered`: the bot answered. `asked_again`: the bot has no answer and asked"
        " the customer to rephrase. `pending`: the answer comes later, as a message of the"
        " conversation: get its history again, or wait for the webhook event `message.created`,"
        " which previews do not trigger. `handed_off`: an agent will answer. `not_expected`: the"
        " bot will not answer, for example because `reply` is `none` or an agent has the"
        " conversation."
    ),
]
ReplyMode = Literal["wait", "async", "stream", "none"]
_REPLY = (
    "`wait`: the response contains the answer, or is 202 `pending` after a minute without one."
    " `async`: the response comes at once, as 202 `pending` if an answer will follow. `stream`: the"
    " response is a stream of server-sent events, which the operation's description lists. `none`:"
    " the bot does not answer."
)
MessageText = Annotated[Text, Field(min_length=1, max_length=8000)]
ClientMessageId = Annotated[
    OwnId | None,
    Field(
        description="Your own id for this message. If the conversation already has your message"
        " with this id, nothing is stored and that message is returned. Unlike an"
        " `Idempotency-Key`, it does not expire."
    ),
]


class Sender(Schema):
    """The sender of a message: the side, and the person or bot on that side."""

    type: Literal["customer", "bot", "agent", "system"] = Field(
        description="The side: the customer, the bot, an agent, or the platform (`system`)."
    )
    id: Text | None = Field(
        None,
        max_length=60,
        description="The platform's id of the customer, bot or agent, or the id that *Create"
        " Message* was given; null for the platform.",
    )
    name: Text = Field("", max_length=200, description="The name as shown.")


class Recipient(Sender):
    """Who a message is for."""


class Citation(Schema):
    """A citation: a passage of a document that supports an answer."""

    # Messages are stored without the fields that are null, and shown as they are stored.
    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    document_id: int = Field(
        ge=0,
        le=MAX_ID,
        description="The id of the document that contains the passage, for *Get Document By Id*.",
    )
    title: Text = Field(description="The document's title.", max_length=500)
    url: Text | None = Field(
        None, description="The document's URL; null if it has none.", max_length=2000
    )
    page: int | None = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="The page in the document, from 1; null if it has no pages.",
    )
    quote: Text = Field(description="The quoted words that support the answer.", max_length=8000)
    section: Text | None = Field(
        None, description="The heading above the passage; null if there is none.", max_length=1000
    )
    number: int | None = Field(
        None,
        ge=1,
        le=9999,
        description="The number with which the answer's text cites it, such as `[2]`; null if the"
        " text cites nothing.",
    )


class MessageOption(Schema):
    """A choice that a message offers."""

    label: Text = Field(description="The label that the customer sees.", max_length=200)
    value: Text = Field(
        description="The text that is sent as the customer's message if they choose this option.",
        max_length=500,
    )


class SentTemplate(Schema):
    """An approved template of a channel, with the values it was sent with."""

    name: str = Field(description="The template's name at the provider.")
    language: str = Field(description="The template's language code at the provider.")
    values: list[str] = Field(description="The values of the template's variables, in order.")


class MessageContent(Schema):
    """One part of a message. Fields that its `type` does not use are null, or left out of a
    request."""

    type: Annotated[
        ContentType, BeforeValidator(lambda value: value, json_schema_input_type=SentType)
    ] = Field(
        description="The kind of part, which decides where its content is. `text`: in `text`."
        " `image`, `file`, `audio`, `video`: in `url`. `location`: in `location`. Two more kinds"
        " exist only in messages that the platform makes; do not send them: `template`, an approved"
        " template of the channel, in `template` (*Post Chatapp Template* sends one), and"
        " `feedback`, the request for a rating, in `text` and `options`.",
        examples=["text"],
    )
    text: Text | None = Field(None, description="The plain text.", max_length=8000)
    url: Text | None = Field(
        None,
        max_length=2000,
        pattern=r"^(https?://|/)[^\s]+$",
        description="The file's URL. For a file that the platform stores, a signed link on this"
        " host, valid for a day; read the message again for a new one. A link from the sender is"
        " passed on unchanged, and the platform never fetches it.",
    )
    file_name: Text | None = Field(
        None, description="The file's name, as the sender called it.", max_length=255
    )
    mime_type: Text | None = Field(
        None,
        description="The media type; for a file that the platform stores, detected from its bytes.",
        max_length=120,
    )
    size_bytes: int | None = Field(
        None, description="The file's size in bytes.", ge=0, le=MAX_NUMBER
    )
    error: Text | None = Field(
        None,
        description="Why a file from a messaging channel could not be stored; null otherwise. The"
        " platform sets it.",
        max_length=300,
    )
    location: Location | None = Field(None, description="The location, if `type` is `location`.")
    options: list[MessageOption] | None = Field(
        None,
        description="Choices for the customer, at most 20, each with a `label` and a `value`; null"
        " if there are none.",
        max_length=20,
    )
    citations: list[Citation] | None = Field(
        None,
        description="The passages of your documents that support this part, at most 20; null if"
        " there are none.",
        max_length=20,
    )
    template: SentTemplate | None = read_only(
        "The approved template, if `type` is `template`, otherwise null; `text` contains its text."
    )
    transcript: Text | None = read_only(
        "The text of a customer's voice note, if a model has transcribed it; otherwise null. It may"
        " come later, with the event `message.updated`.",
        max_length=8000,
    )

    @model_validator(mode="after")
    def _has_content_of_its_type(self) -> "MessageContent":
        needs = KINDS[self.type].needs
        if needs and all(getattr(self, key) is None for key in needs):
            noun = "file" if self.type in FILE_TYPES else self.type
            raise ValueError(f"a {noun} needs its {needs[0]}")
        return self


# What a message says in the OpenAPI document's examples.
SHOWN_CONTENT = [MessageContent(type="text", text="Where's my parcel?").model_dump(mode="json")]


_PART_KEYS = tuple(MessageContent.model_fields)


def _part(stored: dict[str, Any]) -> dict[str, Any]:
    """A stored part with every key of `MessageContent`, and with a new link to a stored file."""
    attachment_id = stored.get("attachment_id")
    part = {name: stored.get(name) for name in _PART_KEYS}
    if attachment_id:
        part["url"] = models.Attachment.signed_url(attachment_id)
    return part


class Message(Schema):
    """One message of a conversation."""

    id: uuid.UUID = Field(description="The message's id, a UUIDv7.")
    conversation_id: uuid.UUID = Field(description="The conversation that the message belongs to.")
    seq: int = Field(
        description="The message's number in the conversation, from 1. Internal notes have numbers"
        " too, which are missing in a list without notes."
    )
    sender: Sender = Field(
        description="Who sent the message: the side as `type`, and an `id` and `name`."
    )
    recipient: Recipient | None = Field(
        None,
        description="Who the message was for, as `type`, `id` and `name`: the customer or, for a"
        " message of the customer, the bot or agent who had the conversation. Null for a note, and"
        " for a message of the customer while the conversation waited in the queue.",
    )
    content: list[MessageContent] = Field(
        description="The content: one or more parts, such as a text and a file.",
        examples=[SHOWN_CONTENT],
    )
    status: Literal["pending", "sent", "delivered", "read", "failed"] = Field(
        description="The delivery status. `pending`: to be sent by the channel."
        " `sent`: accepted by the channel, or stored. `delivered`, `read`: reported by the channel,"
        " the website, your app or the inbox. `failed`: `error` says why."
    )
    error: str | None = Field(
        None,
        description="Why the delivery failed, or why its result is unknown, as a sentence; null if"
        " neither.",
    )
    in_reply_to: uuid.UUID | None = Field(
        None,
        description="The id of the message that this one answers; null if it answers none.",
    )
    is_note: bool = Field(
        False, description="Whether the message is an internal note, which the customer never sees."
    )
    is_welcome: bool = Field(
        False,
        description="Whether the message is the bot's welcome at the start of the conversation. A"
        " welcome has a `seq`, but no count includes it and it triggers no event.",
    )
    client_message_id: str | None = Field(
        None, description="The id that the sender gave the message; null if none."
    )
    provider_message_id: str | None = Field(
        None,
        description="The message's id at the messaging channel's provider; null if it has none.",
    )
    language: str | None = Field(
        None, description="The text's language as a BCP 47 code; null if unknown."
    )
    translations: dict[str, str] = Field(
        description="Translations of the text by language; empty if there are none."
    )
    sentiment: Sentiment | None = Field(
        None,
        description="The customer's sentiment in this message (`positive`, `neutral` or"
        " `negative`), judged together with the conversation's sentiment; null if it was not judged"
        " or the sender is not the customer.",
    )
    citations: list[Citation] = Field(
        description="The passages of documents that support a bot's"
        " answer; empty if there are none."
    )
    created_at: Moment = Field(description="When the message was stored.")
    delivered_at: Moment | None = Field(
        None,
        description="When the message reached the reader's device; null until then.",
    )
    read_at: Moment | None = Field(None, description="When the message was read; null until then.")
    edited_at: Moment | None = Field(
        None, description="When the sender last edited the message; null if never."
    )
    deleted_at: Moment | None = Field(
        None,
        description="When the sender deleted the message, which removed its content; null if it"
        " was not deleted.",
    )
    customer_reaction: str | None = Field(
        None,
        description="The customer's reaction in the channel: an emoji, or a word for it; null if"
        " there is none.",
    )
    metadata: FreeObject = Field(
        default_factory=dict,
        description="Your own keys and values, as sent with the message. On a messaging channel,"
        " the platform adds what the channel reported. `lines`: what the message refers to or"
        " contains besides text, each with a `kind` and perhaps a `text` and a `url`. `no_words`:"
        " true if the customer wrote no text, so that the message's text describes what they sent."
        " `needs_no_reply`: true if the message needs no answer, such as a missed call or STOP, so"
        " that nobody waits for one. `payload`: the value of the option that they chose."
        " `pricing`: the provider's price `category`, how many of its messages it `charged` for"
        " this one, and their `cost` if your `message_prices` have the category.",
    )

    @classmethod
    def from_row(cls, row: models.Message) -> dict[str, Any]:
        """The row as a plain dict; built by hand, because a pydantic model would be slower."""
        return {
            "id": str(row.pk),
            "conversation_id": str(row.conversation_id),
            "seq": row.seq,
            "sender": {"type": row.sender_type, "id": row.sender_id, "name": row.sender_name},
            "recipient": row.recipient,
            "content": [_part(part) for part in row.content],
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
            "metadata": row.metadata,
        }


class ArrivalReport(Schema):
    """Reports that the customer received or read messages: all, or all up to a given one."""

    model_config = example(seq=4)

    seq: int | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="The `seq` of the last message that was received or read; the report covers"
        " all messages before it too.",
    )
    message_id: uuid.UUID | None = Field(
        None,
        description="The id of the last message that was received or read, instead of `seq`; 404 if"
        " the conversation has no such message. If both are given, the earlier message counts. With"
        " neither, as in `{}`, the report covers all messages.",
    )


class MessagesResponse(ListPage[Message]):
    """A page of messages."""


class HistoryQuery(Page):
    """Which page of messages to return, and in which order."""

    sort: Literal["oldest", "newest"] = Field(
        "oldest",
        description="`oldest` starts at the beginning of the conversation; `newest` starts at"
        " its end, and further pages go back in time.",
    )


class NewMessage(Schema):
    """A message to store: a text, links to files, and locations."""

    text: MessageText = Field(description="The text, 1 to 8,000 characters.")
    client_message_id: ClientMessageId = None
    attachments: list[MessageContent] = Field(
        default_factory=list,
        max_length=settings.MAX_MESSAGE_FILES,
        description=f"Links to files, and locations; at most {settings.MAX_MESSAGE_FILES}. The"
        " platform passes links on and never fetches them. To upload an agent's files, use"
        " *Manual Chat With Files*; a customer's, *Send message with files in chat conversation*."
        " Your own assistant can send only links.",
    )

    @model_validator(mode="after")
    def _not_blank(self) -> Self:
        if not self.text.strip():
            raise ValueError("text must not be blank")
        return self


class NewFiles(Schema):
    """Uploaded files, to store with a message."""

    files: list[Upload] = Field(
        min_length=1,
        max_length=settings.MAX_MESSAGE_FILES,
        description=f"1 to {settings.MAX_MESSAGE_FILES} files (422 for more): images (PNG, JPEG,"
        " GIF, WebP), audio (MP3, OGG, WAV, M4A), video (MP4, MOV, WebM, MKV), PDF, DOCX, XLSX,"
        f" PPTX or plain text, as detected from the bytes; at most {settings.MAX_UPLOAD_BYTES:,}"
        f" bytes per file and {settings.MAX_REQUEST_BYTES:,} bytes per request, otherwise 413.",
    )
    client_message_id: ClientMessageId = None


class ConvMessage(NewMessage):
    """A message of a customer or, in *Send assistant reply message in chat conversation*, of your
    own assistant."""

    text: MessageText = Field(
        description="The text, 1 to 8,000 characters.",
        examples=["How long do I have to return an order?"],
    )
    language: Language | None = Field(
        None,
        description="The message's language as a BCP 47 code; detected if left out.",
    )
    reply: ReplyMode = Field(
        "wait",
        description=f"How you get the bot's answer to a customer's message. {_REPLY} Ignored for"
        " your own assistant's message.",
    )


class Body_generate_client_chat_with_files_by_chat_id_ai_client_chat_files__chat_id___post(  # noqa: N801 - the document's name
    NewFiles
):
    """A customer's message with files."""

    message: Text = Field("", max_length=8000, description="The customer's text; may be empty.")
    reply: ReplyMode = Field("wait", description=_REPLY)

    @property
    def without_files(self) -> ConvMessage:
        """The message without its files."""
        return ConvMessage.model_construct(
            text=self.message.strip(), client_message_id=self.client_message_id, reply=self.reply
        )


FilesBody = Body_generate_client_chat_with_files_by_chat_id_ai_client_chat_files__chat_id___post


class AttachmentQuery(Schema):
    """The credential in a file's link."""

    signature: Text = Field(description="The signature in the link to the file.", max_length=200)


class ChatTurn(Schema):
    """A customer's message and what became of it, as your server and your team see it."""

    message: Message = Field(description="The customer's message, as it was stored.")
    reply: Message | None = Field(
        None,
        description="The bot's answer, or the message that announces the handover; null if there"
        " is none, or none yet: see `status`.",
    )
    status: TurnStatus
    handoff_reason: str | None = Field(
        None,
        description="Why the bot handed over, as in the `handoff_reason` of a `Conversation`; null"
        " if it did not.",
    )
