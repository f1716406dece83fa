"""The schemas of conversations in the API, events and streams."""

import uuid
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from django.utils.timezone import now
from pydantic import Field, SerializeAsAny, model_validator
from typing_extensions import TypeAliasType

from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import FreeObject, Language, Moment, RowId, Schema, Text, example
from chatplatform.channel_names import ChannelName, OwnChannel
from chats import models
from chats.schemas.message import Message, MessageText, Sentiment
from chats.schemas.people import (
    ConversationCustomer,
    CustomerInfo,
    Identity,
    IdentitySignature,
    Location,
)
from chats.schemas.tags import TagNames
from identity.schemas.fields import Email, TimeZone

ConversationStatus = Annotated[
    Literal["open", "snoozed", "ended"],
    Field(
        description="`open`: being worked on; `snoozed`: paused until `snoozed_until` or a new"
        " message; `ended`: closed."
    ),
]
# A type alias becomes a separate component of the OpenAPI document.
AssignTypeEnum = TypeAliasType(
    "AssignTypeEnum",
    Annotated[
        Literal["bot", "queue", "agent"],
        Field(
            title="AssignTypeEnum",
            description="Who must act next: the `bot`; an `agent`; or `queue`: the conversation"
            " waits for an agent.",
        ),
    ],
)

EndedBy = Literal["customer", "agent", "bot", "inactivity", "api", "merged"]
ConversationPriority = Annotated[
    Literal["low", "normal", "high", "urgent"],
    Field(
        description="How urgent the conversation is for your team: `low`, `normal` (at first),"
        " `high` or `urgent`."
    ),
]


class Conversation(Schema):
    """A conversation between a customer and a bot or agent."""

    id: uuid.UUID = Field(description="The conversation's id, a UUIDv7.")
    chat_code: str = Field(
        description="A short, unguessable code to use in links or over the phone."
    )
    bot_id: int = Field(
        description="The id of the bot that serves the conversation, for *Get Bot By Id*."
    )
    channel: ChannelName = Field(
        description="Where the customer writes: the widget (`web`), your server (`api`), or the"
        " messaging channel `socialnet`, `photoapp`, `chatapp`, `localapp` or `telegram`."
    )
    status: ConversationStatus
    assign_type: AssignTypeEnum = Field(
        description="Who must act next: the bot, the queue or an agent.",
    )
    assignee: Identity | None = Field(
        None,
        description="The agent who has the conversation: their id as `external_id`, and `name`;"
        " null if none does.",
    )
    priority: ConversationPriority = "normal"
    version: int = Field(
        description="A number that increases with each change of `status`, `assign_type` or"
        " `assignee`; the `expected_version` of *Assign Chat*."
    )
    customer_id: int = Field(
        description="The customer's id on the platform, for *Get Customer By Id*; yours is"
        " `customer.external_id`."
    )
    customer: ConversationCustomer = Field(description="The customer.")
    is_preview: bool = Field(
        False,
        description="Whether this is a test conversation (preview), in which your team tries the"
        " bot: it notifies nobody, and reports do not count it.",
    )
    waiting_since: Moment | None = Field(
        None, description="When the customer began to wait for an agent; null if they do not wait."
    )
    snoozed_until: Moment | None = Field(
        None,
        description="When a snoozed conversation reopens; null if it is not snoozed.",
    )
    handoff_reason: str | None = Field(
        None,
        description="Why the conversation went to your team; null if it did not. It stays if the"
        " conversation later returns from an agent to the queue; the step's `reason` says why that"
        " happened. `no_answer`: the bot had no answer. `customer_asked`: the customer asked for a"
        " person. `engine_failed`: the bot's engine failed. `bot_disabled`: the bot is off."
        " `agents_reply`: the bot's `agent_reply` leaves its conversations to agents."
        " `staff_request`: someone on your team put it in the queue. `agent_silent`: the agent did"
        " not reply within `return_after_seconds`. `credits_used_up`: there were not enough"
        " credits for a reply. `agent_gone`: its agent was disabled or became a viewer."
        " `files_only`: the customer sent files that the bot cannot read. `unreadable`: the"
        " customer sent something else that only a person can deal with, such as an order."
        " `approval_needed`: an agent must approve a function call. `procedure`: a procedure"
        " handed over. `answered_elsewhere`: a person answered with the channel's own tools, or"
        " another app took over the conversation there.",
    )
    previous_chat_id: uuid.UUID | None = Field(
        None,
        description="The conversation that this one continues; null if none.",
    )
    language: str = Field(description="The conversation's language as a BCP 47 code.")
    tags: list[str] = Field(description="The conversation's tags.")
    sentiment: Sentiment | None = Field(
        None,
        description="The customer's sentiment (`positive`, `neutral` or `negative`); null if it was"
        " not judged.",
    )
    summary: str | None = Field(None, description="The newest summary; null if there is none.")
    unread_count: int = Field(
        description="The number of the customer's messages that no agent has read."
    )
    message_count: int = Field(
        description="The number of messages, without internal notes and the welcome.",
    )
    last_message: SerializeAsAny[Message] | None = Field(
        None,
        description="The newest message, apart from internal notes, the welcome, the message that"
        " announces a handover and, while the queue or an agent has the conversation, all messages"
        " of the bot and the platform; null if there is none.",
    )
    last_message_at: Moment | None = Field(
        None,
        description="When the newest message was stored, apart from internal notes, the welcome and"
        " messages added as history; null if there is none.",
    )
    first_response_at: Moment | None = Field(
        None,
        description="When the bot or an agent first answered, apart from the welcome; null until"
        " then.",
    )
    ended_at: Moment | None = Field(
        None,
        description="When the conversation ended; null while it has not.",
    )
    ended_by: EndedBy | None = Field(
        None,
        description="Who ended the conversation; null while it has not ended. `customer`: the"
        " customer, or your server on their behalf. `agent`: someone on your team. `bot`: a bot,"
        " only in imported conversations. `inactivity`: the platform, after"
        " `inactivity_end_minutes` without a message. `api`: your server, with *End Conversation*"
        " or by blocking the customer. `merged`: the platform, because the customer continues in"
        " another conversation.",
    )
    can_reply: bool = Field(
        description="Whether a message can be sent to the customer now: the conversation has not"
        " ended, its channel's account is connected, and the reply window has not expired."
    )
    is_reachable: bool = Field(
        True, description="Whether the channel's account is connected; always true elsewhere."
    )
    reply_window_expires_at: Moment | None = Field(
        None, description="Until when the channel accepts free text; null if it sets no limit."
    )
    location: Location | None = Field(
        None,
        description="Where the customer is, as given when the conversation was opened; null if"
        " unknown.",
    )
    metadata: FreeObject = Field(
        description="Your own keys and values, as given when the conversation was opened. On a"
        " messaging channel, the platform adds `referral` (the link or advertisement that led the"
        " customer here) and `consent` (how the customer agreed to messages from templates)."
    )
    created_at: Moment = Field(description="When the conversation was opened.")

    @classmethod
    def from_row(cls, row: models.Conversation) -> "Conversation":
        window_ends_at = row.reply_window_expires_at
        return cls.copy_from(
            row,
            assignee=Identity.from_row(row.assignee) if row.assignee else None,
            customer=ConversationCustomer.of_chat(row),
            last_message=row.last_message and Message.from_row(row.last_message),
            can_reply=row.status != models.Status.ENDED
            and row.is_reachable
            and (window_ends_at is None or window_ends_at > now()),
            location=Location.from_stored(row.location),
        )


class ChatCreation(Schema):
    """A conversation to open."""

    model_config = example(
        customer={"external_id": "customer-17", "name": "Cara Diaz"},
        message="How long do I have to return an order?",
        language="en",
    )

    bot_id: RowId | None = Field(
        None,
        description="The bot's id, from *Get All Bot*; required if the key serves several bots.",
    )
    customer: CustomerInfo = Field(
        default_factory=CustomerInfo.model_construct,
        description="The customer. A known `external_id` selects the existing customer; with a"
        " public key it needs the `identity_signature`.",
    )
    identity_signature: IdentitySignature = None
    language: Language | None = Field(
        None,
        description="The customer's language as a BCP 47 code; if left out, that of `message`, or"
        " the bot's default if it cannot be detected.",
    )
    message: MessageText | None = Field(
        None,
        description="The customer's first message. The response does not wait for the bot's answer:"
        " *Get chat conversation history* shows it later, and the webhook event `message.created`"
        " reports it.",
    )
    channel: OwnChannel = Field(
        "api", description="Where the customer writes: website (`web`) or your server (`api`)."
    )
    location: Location | None = Field(None, description="Where the customer is.")
    tags: TagNames = Field(
        default_factory=list,
        description="The conversation's tags, at most 20. Only with a secret key.",
    )
    metadata: FreeObject = Field(
        default_factory=dict,
        description="Your own keys and values, returned unchanged; at most 16,384 bytes of JSON."
        " Send numbers above 9007199254740991 as strings. Only with a secret key.",
    )

    @model_validator(mode="after")
    def _message_is_not_blank(self) -> "ChatCreation":
        if self.message is not None and not self.message.strip():
            raise ValueError("message must not be blank")
        return self


class ConversationHistory(Schema):
    """A conversation with its customer and a page of its messages."""

    conversation: Conversation = Field(description="The conversation.")
    customer: ConversationCustomer = Field(description="The same as `conversation.customer`.")
    items: list[Message] = Field(description="The messages, oldest first.")
    next_cursor: str | None = Field(
        None, description="Cursor of the next page; null on the last page."
    )


ReadersTimeZone = Annotated[
    TimeZone | None,
    Field(
        description="The IANA time zone of the times in the text, such as the browser's; if left"
        " out, your company's.",
        examples=["Europe/Berlin"],
    ),
]


class TranscriptLine(Schema):
    """One message in a transcript."""

    sender: str = Field(description="The sender's side: `customer`, `bot`, `agent` or `system`.")
    name: str = Field(description="The sender's name at the time; may be empty.")
    text: str = Field(description="The text; empty if the message has none.")
    options: list[str] = Field(description="The choices that the message offered.")
    files: list[str] = Field(description="The names or types of files; where locations are.")
    created_at: Moment = Field(description="When the message was sent.")


class Transcript(Schema):
    """A conversation for its customer to keep."""

    chat_code: str = Field(description="The conversation's code.")
    bot_name: str = Field(description="The bot's name.")
    created_at: Moment = Field(description="When the conversation was opened.")
    ended_at: Moment | None = Field(
        None,
        description="When the conversation ended; null while it has not.",
    )
    messages: list[TranscriptLine] = Field(description="The messages, oldest first.")

    def as_text(self, zone: ZoneInfo) -> str:
        """The transcript as plain text, with times in this time zone."""
        began = f"{self.created_at.astimezone(zone):%Y-%m-%d %H:%M}"
        lines = [f"{self.bot_name}, {self.chat_code}, {began} ({zone.key})", ""]
        for line in self.messages:
            words = [line.text, ", ".join(line.options), *(f"[{file}]" for file in line.files)]
            text = " ".join(word for word in words if word)
            name = line.name or ("Customer" if line.sender == "customer" else self.bot_name)
            lines.append(f"{line.created_at.astimezone(zone):%Y-%m-%d %H:%M} {name}: {text}")
        return "\n".join(lines) + "\n"


class TranscriptQuery(Schema):
    """The options of a transcript."""

    timezone: ReadersTimeZone = None


class TranscriptMail(Schema):
    """The recipient of a transcript."""

    email: Email = Field(description="The email address.", examples=["zoe@example.com"])
    timezone: ReadersTimeZone = None


class ConversationsResponse(ListPage[Conversation]):
    """A page of conversations."""


class QueuedFile(Schema):
    """A file in a customer's message."""

    type: Literal["image", "file", "audio", "video"] = Field(description="The kind of file.")
    file_name: str | None = Field(None, description="The file's name; null if it has none.")
    line: FreeObject | None = Field(
        None,
        description="The entry of the message's `metadata.lines` that says what the file is: a"
        " sticker, a live photo or a video message; null for other files.",
    )


class QueuedMessage(Schema):
    """A customer's message, shortened for a list."""

    seq: int = Field(description="The message's number in the conversation.")
    text: str = Field(description="The first 300 characters of the text; may be empty.")
    files: list[QueuedFile] = Field(description="The files in the message.")
    translations: dict[str, str] = Field(
        description="The first 300 characters of each stored translation, by language."
    )
    is_earlier: bool = Field(
        description="Whether the customer wrote it before the message that led to the handover."
    )
    is_request: bool = Field(
        description="Whether the conversation was handed over because this message asks for a"
        " person."
    )


class QueueNote(Schema):
    """An internal note of an agent, shortened for a list."""

    name: str = Field(description="The name of the agent.")
    text: str = Field(description="The first 300 characters of the note.")


class QueueReturn(Schema):
    """How a conversation came back to the queue from an agent."""

    name: str | None = Field(
        None, description="Who returned it; null if the platform did, such as after a time limit."
    )
    reason: str = Field(description="Why, as in `handoff_reason`.")


class QueueDetails(Schema):
    """What tells an agent how urgent a conversation in the queue is."""

    messages: list[QueuedMessage] = Field(
        description="What the customer wants, oldest first: up to three messages from before the"
        " handover, and from the one that led to it on the first four and the newest. Messages"
        " that only repeat the widget's button for a person are left out, and so is everything"
        " before the conversation's newest 40 messages.",
    )
    note: QueueNote | None = Field(
        None, description="The newest internal note of an agent; null if there is none."
    )
    returned: QueueReturn | None = Field(
        None, description="How it came back from an agent; null if no agent had it last."
    )
    previous_rating: int | None = Field(
        None,
        description="The customer's rating, 1 to 5, of their conversation before this one; null if"
        " there is none.",
    )


class ListedConversation(Conversation):
    """A listed conversation, with the message that a search found."""

    queue_details: QueueDetails | None = Field(
        None,
        description="What the customer wants, for a list; null if the conversation is not in the"
        " queue.",
    )

    found_message: SerializeAsAny[Message] | None = Field(
        None,
        description="The newest message that contains all words of `q`; null without a search, or"
        " if the customer or the code matches instead.",
    )


class ChatsResponse(ListPage[ListedConversation]):
    """A page of conversations, each with the message that a search found."""


class ChatsQuery(Page):
    """Filters and order of conversations; all given filters must match."""

    status: ConversationStatus | None = Field(
        None,
        description="Only conversations with this status: `open`, `snoozed` (paused until a time or"
        " a message) or `ended`.",
    )
    assign_type: AssignTypeEnum | None = Field(
        None,
        description="Only conversations in which this side must act next: the `bot`, an `agent`, or"
        " nobody yet (`queue`).",
    )
    priority: ConversationPriority | None = Field(
        None,
        description="Only conversations with this priority: `low`, `normal`, `high` or `urgent`.",
    )
    mine: bool | None = Field(
        None,
        description="true: only conversations assigned to you; false: only the others. 422 with an"
        " API key.",
    )
    is_assigned: bool | None = Field(
        None,
        description="true: only conversations that an agent has; false: only the others.",
    )
    is_unread: bool | None = Field(
        None,
        description="true: only conversations with messages that no agent has read; false: only"
        " the others.",
    )
    is_waiting: bool | None = Field(
        None,
        description="true: only conversations whose customer waits for a person's answer; false:"
        " only the others.",
    )
    previews: bool = Field(
        False,
        description="true: only test conversations (previews): your own or, for owners and admins,"
        " those of the whole team; false: no test conversations.",
    )
    bot_id: RowId | None = Field(
        None, description="Only conversations with the bot with this id, from *Get All Bot*."
    )
    customer_id: RowId | None = Field(
        None, description="Only conversations of the customer with this id, from *Get Customers*."
    )
    channel: ChannelName | None = Field(None, description="Only conversations of this channel.")
    assignee_id: RowId | None = Field(
        None,
        description="Only conversations that the agent with this id has, from *Get My Company"
        " Users*.",
    )
    tag: Text | None = Field(None, description="Only conversations with this tag.", max_length=60)
    language: Language | None = Field(None, description="Only conversations in this language.")
    min_wait_seconds: int | None = Field(
        None,
        ge=0,
        le=366 * 86_400,
        description="Only conversations whose customer has waited for a person for at least this"
        " many seconds.",
    )
    sentiment: Sentiment | None = Field(None, description="Only conversations with this sentiment.")
    q: Text | None = Field(
        None,
        description="Words or parts of words that all occur in one message, or a part of the"
        " customer's name, email address, phone number or external id, or the beginning of the"
        " conversation's code. Only the first ten words count, and only the newest 2,000 matching"
        " messages. Without three letters or digits in a row, the search covers only the newest"
        " 10,000 messages and the beginning of the customer's fields.",
        min_length=1,
        max_length=200,
    )
    created_from: Moment | None = Field(
        None, description="Only conversations opened at this time or later."
    )
    created_to: Moment | None = Field(
        None, description="Only conversations opened before this time."
    )
    sort: Literal["newest", "longest_wait", "priority"] = Field(
        "newest",
        description="`newest`: the newest activity first. `longest_wait`: first the conversations"
        " whose customer waits for a person, the longest wait first, then the others by newest"
        " activity. `priority`: the most urgent first, and within a priority like `longest_wait`.",
    )


class ChatCounts(Schema):
    """The number of conversations in each view of the inbox, each at most 10,000. Each description
    names the *Get Chats* filters that list the view."""

    mine: int = Field(description="Open conversations that are yours: `mine=true&status=open`.")
    unassigned: int = Field(
        description="Open conversations in the queue: `assign_type=queue&status=open`.",
    )
    all: int = Field(description="All open conversations: `status=open`.")
    snoozed: int = Field(description="Snoozed conversations: `status=snoozed`.")
    ended: int = Field(description="Ended conversations: `status=ended`.")
    unread: int = Field(
        description="Open conversations with unread messages: `is_unread=true&status=open`.",
    )
    mine_unread: int = Field(
        description="Open conversations that are yours and have unread messages:"
        " `mine=true&is_unread=true&status=open`."
    )
