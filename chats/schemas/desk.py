"""The schemas of the agents' desk: assigning, answering, snoozing, notifications, live feed."""

import re
import uuid
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from chatplatform import web_push
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import (
    InRequest,
    Language,
    Moment,
    RowId,
    Schema,
    Text,
    example,
    read_only,
    without_default,
)
from chats import models
from chats.schemas.conversation import AssignTypeEnum, ConversationPriority, EndedBy
from chats.schemas.message import MessageText, NewFiles, NewMessage
from chats.schemas.people import Identity
from identity.models import SavedView
from webhooks.models import Event
from webhooks.schemas.webhook import event_id


class ChatAssignDto(Schema):
    """Who a conversation is assigned to."""

    model_config = example(assign_type="agent", return_after_seconds=600)

    assign_type: AssignTypeEnum = Field(
        description="Who gets the conversation: an agent, the queue or the bot."
    )
    user_id: RowId | None = Field(
        None,
        description="The agent's id, from *Get My Company Users*; 422 unless `assign_type` is"
        " `agent`. If left out, you get the conversation, unless another agent has it: an owner or"
        " an admin who takes it over must send `user_id` or `expected_version`, otherwise 409"
        " `already_assigned`.",
    )
    note: MessageText | None = Field(None, description="An internal note for the next assignee.")
    return_after_seconds: int | None = Field(
        None,
        ge=10,
        le=7 * 86_400,
        description="Returns the conversation to the queue if the agent has not replied after this"
        " many seconds; 422 unless `assign_type` is `agent`. If left out, it stays with the agent.",
    )
    expected_version: RowId | None = Field(
        None,
        description="The conversation's `version` that you last saw: 409 `stale_version` if it has"
        " changed since.",
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.assign_type != "agent" and (self.user_id or self.return_after_seconds):
            raise ValueError("user_id and return_after_seconds go with assign_type agent")
        if self.note is not None and not self.note.strip():
            raise ValueError("note must not be blank")
        return self


class ManualChatMessageDto(NewMessage):
    """An agent's message in a conversation."""

    model_config = example(text="I have looked into it: your parcel left us this morning.")

    is_note: bool = Field(
        False,
        description="Whether the message is an internal note, which the customer never sees. A"
        " note notifies the people it mentions: `@` and the full name, or the first name if it is"
        " unambiguous.",
    )


class ManualChatFilesDto(NewFiles):
    """An agent's message with files."""

    text: Text = Field("", max_length=8000, description="The agent's text to go with the files.")
    is_note: bool = Field(
        False, description="Whether the message is an internal note, which the customer never sees."
    )

    @property
    def without_files(self) -> ManualChatMessageDto:
        """The message without its files."""
        return ManualChatMessageDto.model_construct(
            text=self.text.strip(),
            client_message_id=self.client_message_id,
            is_note=self.is_note,
        )


class MessageEdit(Schema):
    """The new text of a message."""

    model_config = example(text="Your parcel left us this morning and arrives on Friday.")

    text: MessageText = Field(description="The text, 1 to 8,000 characters, not blank; files stay.")

    @model_validator(mode="after")
    def _not_blank(self) -> Self:
        if not self.text.strip():
            raise ValueError("text must not be blank")
        return self


class ChatSnoozeDto(Schema):
    """The end of a snooze."""

    model_config = example(until="2026-12-01T08:00:00Z")

    until: Moment = Field(
        description="When the conversation reopens: in the future, at most 366 days ahead. A"
        " message from the customer or an agent reopens it sooner."
    )


class ChatPriorityDto(Schema):
    """The priority of a conversation."""

    model_config = example(priority="urgent")

    priority: ConversationPriority


class ChatStep(Schema):
    """Something other than a message that happened to a conversation."""

    _OF_CHAT: ClassVar = ("assignee", "assign_type", "priority", "snoozed_until", "ended_by")

    id: str = Field(description="The event's id, `evt_…`.")
    type: str = Field(
        description="The event's type: `conversation.assigned`, `conversation.unassigned`,"
        " `conversation.handed_off`, `conversation.prioritized`, `conversation.snoozed`,"
        " `conversation.ended` or `conversation.reopened`."
    )
    created_at: Moment = Field(description="When it happened.")
    by: Identity | None = Field(
        None,
        description="The person who took the step: their id as `external_id`, and `name`;"
        " null for the customer or the platform.",
    )
    assignee: Identity | None = Field(
        None,
        description="The agent who had the conversation after the step: their id as `external_id`,"
        " and `name`; null if none.",
    )
    assign_type: AssignTypeEnum = Field(
        description="Who had to act next after the step: the `bot`, an `agent`, or nobody yet"
        " (`queue`)."
    )
    priority: ConversationPriority = Field(
        description="The conversation's priority after the step: `low`, `normal`, `high` or"
        " `urgent`.",
    )
    reason: str | None = Field(
        None,
        description="Why the conversation was handed over or returned to the queue, one of the"
        " values of `handoff_reason` of a `Conversation`; null for other steps.",
    )
    snoozed_until: Moment | None = Field(
        None,
        description="Until when the conversation was snoozed; null if it was not.",
    )
    ended_by: EndedBy | None = Field(
        None,
        description="Who ended the conversation, as in the `ended_by` of a `Conversation`:"
        " `customer`, `agent`, `bot`, `inactivity`, `api` or `merged`; null if it had not ended.",
    )

    @classmethod
    def from_event(cls, event: Event) -> "ChatStep":
        """The step, with the conversation's state at that time."""
        state = event.data["conversation"]
        return cls(
            id=event_id(event.pk),
            type=event.type,
            created_at=event.created_at,
            by=event.data.get("by"),
            reason=event.data.get("reason"),
            **{name: state[name] for name in cls._OF_CHAT},
        )


class ChatSteps(Schema):
    """The steps of a conversation."""

    items: list[ChatStep] = Field(description="The newest 200 steps, oldest first.")


class AssignNotification(Schema):
    """A notification for one person on your team."""

    id: uuid.UUID = Field(description="The notification's id, a UUIDv7.")
    chat_id: uuid.UUID = Field(description="The conversation that the notification is about.")
    message_id: uuid.UUID | None = Field(
        None, description="The note that mentions you, if `kind` is `mentioned`; else null."
    )
    kind: Literal["assigned", "unassigned", "handoff", "unanswered", "mentioned"] = Field(
        description="`assigned`: the conversation was assigned to you. `unassigned`: you no longer"
        " have it. `handoff`: it waits for an agent. `unanswered`: its customer has waited too"
        " long. `mentioned`: a note mentions you."
    )
    assigned_by: Identity | None = Field(
        None,
        description="The person who caused the notification; null for the platform.",
    )
    is_read: bool = Field(description="Whether the notification has been read.")
    created_at: Moment = Field(description="When it happened.")

    @classmethod
    def from_row(cls, row: models.Notification) -> "AssignNotification":
        by = row.assigned_by
        return cls.copy_from(
            row, chat_id=row.conversation_id, assigned_by=Identity.from_row(by) if by else None
        )


class NotificationsResponse(ListPage[AssignNotification]):
    """A page of notifications, newest first."""


class ReadCount(Schema):
    """How many notifications were marked as read."""

    count: int = Field(description="How many were unread before.")


def _browser_key(text: str) -> str:
    web_push.read_public_key(text)
    return text


def _secret(text: str) -> str:
    if len(web_push.from_base64(text)) != 16:
        raise ValueError("must be 16 bytes in URL-safe Base64")
    return text


class PushKeys(Schema):
    """The keys with which messages to a browser are encrypted."""

    p256dh: Annotated[Text, Field(max_length=100), AfterValidator(_browser_key)] = Field(
        description="The browser's public key: a P-256 point in URL-safe Base64."
    )
    auth: Annotated[Text, Field(max_length=40), AfterValidator(_secret)] = Field(
        description="The shared secret: 16 bytes in URL-safe Base64."
    )


class NewPushSubscription(Schema):
    """A browser's push subscription, as `PushSubscription.toJSON()` returns it."""

    model_config = example(
        endpoint="https://push.example/send/8f2c",
        keys={
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6S"
            "RpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg",
        },
    )

    endpoint: Text = Field(
        description="The URL at the browser's push service, which must be https.",
        max_length=1000,
        pattern=r"^https?://[^\s]+$",
    )
    keys: PushKeys = Field(description="The keys with which messages to the browser are encrypted.")
    expiration_time: float | None = Field(
        None,
        alias="expirationTime",
        allow_inf_nan=False,
        description="When the browser's subscription expires, in milliseconds since 1970. Accepted"
        " and ignored.",
    )


class PushSubscription(Schema):
    """A browser in which you get push notifications about what you have not read yet."""

    id: uuid.UUID = Field(description="The subscription's id, a UUIDv7.")
    device: str = Field(description="Browser and system, such as `Chrome, Android`; may be empty.")
    created_at: Moment = Field(description="When the browser was first subscribed.")

    @classmethod
    def from_row(cls, row: models.PushSubscription) -> "PushSubscription":
        return cls.copy_from(row)


class PushSubscriptionsResponse(ListPage[PushSubscription]):
    """A page of push subscriptions, newest first."""


class PushKey(Schema):
    """The key for `applicationServerKey` of the browser's `PushManager.subscribe()`."""

    public_key: str = Field(description="A P-256 point in URL-safe Base64.")


class NotificationsQuery(Page):
    """Filters of notifications."""

    unread: bool | None = Field(None, description="true: only unread ones; false: only read ones.")
    personal: bool | None = Field(
        None,
        description="true: only what concerns you, such as your assignments and mentions; false:"
        " only notifications for the whole team, such as new conversations in the queue.",
    )


VARIABLES = (
    "customer.name", "customer.email", "customer.phone", "customer.external_id", "agent.name",
    "bot.name", "client.name", "chat.code",
)  # fmt: skip
MAX_SHORTCUT = 40
_ATTRIBUTE = "customer.attributes."
# {customer.name}, or {customer.name|there} with a fallback for an unknown name.
VARIABLE = re.compile(r"\{([a-z]+\.[\w.-]+)(?:\|([^{}]*))?\}")


def _known_variables(text: str) -> str:
    for name, _ in VARIABLE.findall(text):
        if name not in VARIABLES and not name.startswith(_ATTRIBUTE):
            known = ", ".join([*VARIABLES, f"{_ATTRIBUTE}<name>"])
            raise ValueError(f"there is no variable {name}; the variables are: {known}")
    if not text.strip():
        raise ValueError("text must not be blank")
    return text


def _in_lower_case(shortcut: str) -> str:
    shortcut = shortcut.lower()
    if len(shortcut) > MAX_SHORTCUT:  # Some letters become two letters in lower case.
        raise ValueError(f"must have at most {MAX_SHORTCUT} characters in lower case")
    return shortcut


class SavedReplyDto(Schema):
    """A text that agents send often."""

    model_config = example(
        shortcut="late",
        texts={"en": "Dear {customer.name|customer}, your parcel is late. {agent.name}"},
        is_shared=False,
    )

    shortcut: Annotated[
        Text,
        AfterValidator(_in_lower_case),
        InRequest("Required to create a reply.", is_required_to_create=True),
    ] = Field(
        "",
        description="What an agent types after a slash: 1 to 40 letters, digits, `-`, `_`, stored"
        " in lower case. Your own reply takes precedence over a shared one with the same shortcut.",
        json_schema_extra=without_default,
        min_length=1,
        max_length=MAX_SHORTCUT,
        pattern=r"^[^\s!-,./:-@\[-^`{-~]+$",
    )
    texts: Annotated[
        dict[Language, Annotated[Text, Field(max_length=8000), AfterValidator(_known_variables)]],
        InRequest(
            "Required to create a reply. A change replaces the texts in all languages.",
            is_required_to_create=True,
        ),
    ] = Field(
        default_factory=dict,
        min_length=1,
        max_length=50,
        description="The text by language, as a BCP 47 code; at most 8,000 characters each."
        " Variables: `{customer.name}`, `{customer.email}`, `{customer.phone}`,"
        " `{customer.external_id}`, `{customer.attributes.<name>}`, `{agent.name}`, `{bot.name}`,"
        " `{client.name}` (your company), `{chat.code}`. Give a fallback for an unknown value like"
        " this: `{customer.name|there}`. 422 for any other variable, or a blank text.",
    )
    is_shared: Annotated[bool, InRequest("A change that leaves it out keeps it.")] = Field(
        False,
        json_schema_extra=without_default,
        description="true: the whole team can use the saved reply, and only owners and admins can"
        " change it; false: only you see it.",
    )
    id: int = read_only("The saved reply's id.")
    created_at: Moment = read_only("When the saved reply was created.")
    updated_at: Moment = read_only("When the saved reply was last changed.")

    @classmethod
    def from_row(cls, row: models.SavedReply) -> "SavedReplyDto":
        return cls.copy_from(row, is_shared=row.owner_id is None)


class SavedRepliesQuery(Page):
    """Filters of saved replies."""

    is_shared: bool | None = Field(None, description="true: only shared ones; false: only yours.")
    q: Text | None = Field(
        None,
        description="Words or parts of words that all occur in the shortcut or the texts; case is"
        " ignored.",
        min_length=1,
        max_length=40,
    )


class SavedRepliesResponse(ListPage[SavedReplyDto]):
    """A page of saved replies, sorted by shortcut; with `q`, first those whose shortcut begins with
    it."""


class RenderQuery(Schema):
    """The language of a saved reply."""

    language: Language | None = Field(
        None, description="The language to use, BCP 47; by default the conversation's."
    )


class RenderedReply(Schema):
    """A saved reply with its variables filled in; nothing is sent."""

    text: str = Field(description="The text with its variables filled in.")
    language: str = Field(
        description="The text's language: the requested one (or `pt` for `pt-BR`) if the reply has"
        " it, else the bot's default, else the reply's first."
    )
    missing: list[str] = Field(
        description="Variables whose value is unknown; the text has their fallback, or nothing."
    )


class DeskView(Schema):
    """A saved view of the inbox."""

    model_config = example(
        name="Late refunds", query="view=unassigned&tag=refund&min_wait_seconds=900"
    )

    name: Text = Field(
        description="The view's name; saving under the same name replaces the view.", min_length=1,
                       max_length=60)  # fmt: skip
    query: Text = Field(
        description="What the view shows, as a query string: `view`, which is `mine`, `unassigned`,"
        " `all`, `snoozed` or `ended` (see *Get Chat Counts*), and filters of *Get Chats*. For"
        " example `view=unassigned&tag=refund&min_wait_seconds=900`.",
        max_length=2000,
    )
    is_shared: bool = Field(False, description="Whether your colleagues see the view too.")
    id: int = read_only("The view's id.")
    may_delete: bool = read_only("Whether you may delete the view.")

    @classmethod
    def of(cls, row: SavedView, may_delete: bool) -> "DeskView":  # noqa: FBT001
        return cls.copy_from(row, may_delete=may_delete)


class DeskViews(Schema):
    """The saved views of the inbox that a person can choose from."""

    items: list[DeskView] = Field(description="The views, sorted by name; at most 120.")


class FeedQuery(Schema):
    """Where a live feed resumes, and its credential."""

    last_event_id: Text | None = Field(
        None,
        max_length=60,
        description="The last event you have seen, `evt_…`: the stream continues after it. For"
        " callers that cannot set the header Last-Event-ID, which takes precedence. Without"
        " either, the stream starts now.",
    )
    ticket: Text | None = Field(
        None,
        max_length=100,
        description="A one-time ticket from *Create Chat Events Ticket*, instead of the header"
        " Authorization; 401 if it was used or is older than a minute.",
    )


class FeedTicket(Schema):
    """A one-time credential for a live feed."""

    ticket: str = Field(description="The ticket, valid for one request.")
    expires_in: int = Field(description="Seconds until the ticket expires.", examples=[60])


class Typing(Schema):
    """Whether the caller is typing."""

    model_config = example(is_typing=True)

    is_typing: bool = Field(
        True,
        description="true while you type, or the customer if you call with a public or secret key;"
        " false once the typing stops. After 10 seconds it counts as stopped, so repeat true.",
    )


class Viewing(Schema):
    """Whether you are viewing a conversation."""

    model_config = example(is_viewing=True)

    is_viewing: bool = Field(
        True,
        description="true while you have the conversation open: repeat it every 20 seconds, since"
        " it is forgotten after 45 seconds. false when you leave.",
    )
