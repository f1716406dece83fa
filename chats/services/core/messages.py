"""Stores, changes and finds messages. `chats_store_message` stores each new message, and numbers
the messages of a chat consecutively. Imports use `store_in_bulk` instead."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self, Unpack

from django.db import transaction
from django.db.models import Q, QuerySet

from bots.language import detection
from chatplatform.api.errors import ApiError, NotFound
from chatplatform.api.pagination import Page, decode_numbers, encode_cursor, list_key
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.sql import execute
from chats.models import (
    UNANSWERED,
    AssignType,
    Attachment,
    Conversation,
    LockedConversation,
    Message,
    MessageStatus,
    SenderType,
    text_content,
)
from chats.schemas import desk as desk_schemas
from chats.schemas import message as message_schemas
from chats.schemas.content_kinds import text_of
from chats.services.core import (
    attachments,
    automated_messages,
    channel_hooks,
    conversations,
    customers,
    enqueue_translations,
    fast_sql,
    lifecycle,
    message_status,
    row_json,
    team_notifications,
)
from identity.auth import Principal
from identity.models import User

# The number of a chat's latest messages that are searched for the option that a customer tapped.
_MAX_SEARCHED = 20


class DuplicateMessageId(ApiError):
    code, status = "client_message_id_taken", 409
    detail = "Another sender or a note has this client_message_id."


class AgentHasChat(ApiError):
    code, status = "agent_has_chat", 409
    detail = "An agent has this conversation, so no one can answer as the bot."


@dataclass(frozen=True)
class Author:
    """The sender of a new message."""

    type: SenderType
    id: str | None = None
    name: str = ""

    @classmethod
    def from_user(cls, user: User) -> Self:
        return cls(SenderType.AGENT, str(user.pk), user.full_name)

    @classmethod
    def bot_of(cls, chat: Conversation) -> Self:
        return cls(SenderType.BOT, str(chat.bot_id), chat.bot.bot_name)

    @classmethod
    def customer_of(cls, chat: Conversation) -> Self:
        return cls(SenderType.CUSTOMER, str(chat.customer_id), chat.customer.name)


class MessageFields(channel_hooks.ChannelFields, total=False):
    """Columns of a new message in addition to its author and its content."""

    language: str
    client_message_id: str | None
    citations: list[dict[str, Any]]
    receipt: dict[str, Any] | None
    is_note: bool
    is_welcome: bool
    recipient: dict[str, Any] | None
    sent_at: datetime | None


def append(
    chat: LockedConversation,
    *,
    author: Author,
    content: list[dict[str, Any]],
    **fields: Unpack[MessageFields],
) -> Message:
    """Store a message at the end of a conversation and announce it. On a messaging channel, enqueue
    a job that sends it. History (`sent_at`), messages of previews and the welcome are neither
    announced nor sent. 403 `customer_blocked` for a message from a blocked customer, unless it is
    history."""
    if author.type == SenderType.CUSTOMER and not fields.get("sent_at"):
        customers.ensure_may_write(chat.customer, sender_id=author.id)
    message = Message(
        client=chat.client,
        conversation=chat,
        sender_type=author.type,
        sender_id=author.id,
        sender_name=author.name,
        content=content,
        text=text_of(content),
        **fields,
    )
    is_announced = not (message.sent_at or chat.is_preview or message.is_welcome)
    if is_announced:
        _enqueue_channel_send(chat, message)
    fast_sql.store_message(chat, message, is_announced=is_announced, links=_links_to_files(message))
    return message


def append_platform_message(
    chat: LockedConversation,
    reply: automated_messages.ReplyText,
    *,
    author: Author = Author(SenderType.SYSTEM),
    **fields: Unpack[MessageFields],
) -> None:
    """Store one of the platform's sentences as a message, by default from the system. On the
    client's `silent_channels`, a message from the system becomes a note. The citations are also
    stored in the first part of the content."""
    fields["language"] = reply.language
    if author.type == SenderType.SYSTEM and chat.channel in chat.client.config.silent_channels:
        fields["is_note"] = True
    content = list(reply.content)
    if citations := fields.get("citations"):
        content[0] = {**content[0], "citations": citations}
    append(chat, author=author, content=content, **fields)


def store_in_bulk(rows: Collection[Message]) -> None:
    """Store messages of any age as they are, and update the counters of their chats. The chats must
    be locked."""
    Message.objects.bulk_create(rows)
    count_stored({row.conversation_id for row in rows})


def count_stored(chat_ids: Iterable[uuid.UUID]) -> None:
    """Update the chats' counters from their stored messages. Counts never decrease. The chats must
    be locked."""
    execute("SELECT chats_count_messages(%s::uuid[])", [list(chat_ids)])


def append_welcome(chat: LockedConversation) -> None:
    """Store the bot's welcome as the first message of a new chat, if the bot has one and is not
    disabled. The welcome has a number, but does not change the chat's counts or times, and it is
    not searched, announced or sent to a channel."""
    welcome = automated_messages.welcome(language=chat.language, chat=chat)
    if welcome and not chat.bot.is_disabled:
        append_platform_message(chat, welcome, author=Author.bot_of(chat), is_welcome=True)


def append_note(
    chat: LockedConversation,
    text: str,
    receipt: dict[str, Any],
    *,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Store a note by the platform for the agents."""
    append(
        chat,
        author=Author(SenderType.SYSTEM),
        content=text_content(text),
        language="en",
        receipt=receipt,
        is_note=True,
        metadata=metadata or {},
    )


def append_by_agent(
    chat: LockedConversation,
    *,
    by: User,
    content: list[dict[str, Any]],
    is_note: bool = False,
    client_message_id: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Message:
    """Store an agent's message or note; a note notifies the people it mentions."""
    message = append(
        chat,
        author=Author.from_user(by),
        content=content,
        language=enqueue_translations.language_of_agent(chat, text_of(content)),
        client_message_id=client_message_id,
        is_note=is_note,
        metadata=metadata or {},
    )
    if is_note:
        team_notifications.notify_mentioned(message, by=by)
    return message


def append_by_assistant(chat: Conversation, body: message_schemas.ConvMessage) -> Message:
    """Store a message that the client's own assistant sends as the bot. 409 if an agent has the
    chat, or if no message can be sent in it."""
    with transaction.atomic():
        chat = conversations.lock(chat)
        author = Author.bot_of(chat)
        existing = find_existing(chat, body.client_message_id, author)
        if existing:
            return existing
        lifecycle.ensure_can_reply(chat)
        if chat.assign_type == AssignType.AGENT:
            raise AgentHasChat
        return append(
            chat,
            author=author,
            content=build_content(chat, body),
            language=body.language or detection.detect(body.text, default=chat.language),
            client_message_id=body.client_message_id,
            receipt={"engine": "external"},
        )


def find_existing(
    chat: LockedConversation,
    client_message_id: str | None,
    author: Author,
    *,
    is_note: bool = False,
) -> Message | None:
    """The message that the author sent with this id; None if there is none. 409 if somebody else
    used the id, or if only one of the stored and the new message is a note. Agents are compared by
    their ids; customers are not, because a merge changes a customer's id."""
    if client_message_id is None:
        return None
    message = fast_sql.find_message(chat, client_message_id)
    if message is None:
        return None
    is_same = (message.sender_type, message.is_note) == (author.type, is_note)
    if not is_same or (author.type == SenderType.AGENT and message.sender_id != author.id):
        raise DuplicateMessageId
    message.conversation = chat
    return message


def build_content(
    chat: Conversation,
    body: message_schemas.ConvMessage | desk_schemas.ManualChatMessageDto,
    files: Sequence[attachments.StoredFile] = (),
) -> list[dict[str, Any]]:
    """The content to store: the text, attachments given as links, and uploaded files."""
    return [
        *(text_content(body.text) if body.text else []),
        *attachments.resolve_links(chat, body.attachments),
        *(file.content for file in files),
    ]


def replace_text(message: Message, text: str, *, at: datetime) -> None:
    """Write the new text of an edited message. Its files stay; its translations are removed."""
    others = [part for part in message.content if part["type"] != "text"]
    content = [*text_content(text), *others]
    message_status.write(
        message, content=content, text=text_of(content), translations={}, edited_at=at
    )


def clear(message: Message, *, at: datetime) -> None:
    """Mark a message as deleted. Its text and files are removed; the empty row stays."""
    message_status.write(message, content=[], text="", translations={}, metadata={}, deleted_at=at)
    attachments.remove_for_message(message)


def offered_options(chat: Conversation, *, before_seq: int) -> list[list[dict[str, Any]]]:
    """The options in each of our messages among the twenty before `before_seq`, newest first."""
    latest = Message.objects.filter(
        conversation=chat, seq__lt=before_seq, seq__gte=before_seq - _MAX_SEARCHED
    )
    ours = latest.exclude(sender_type=SenderType.CUSTOMER).exclude(is_note=True).order_by("-seq")
    return [
        [option for part in content for option in part.get("options") or []]
        for content in ours.values_list("content", flat=True)
    ]


def find_reply(message: Message | fast_sql.PlainMessage) -> Message | None:
    """The reply by the bot or the system to a customer's message; None if there is none yet."""
    replies = Message.objects.filter(
        # A reply to a burst has the last message in `in_reply_to` and all of them in its receipt.
        Q(in_reply_to=message.pk) | Q(receipt__answers__contains=[str(message.pk)]),
        conversation_id=message.conversation_id,
        seq__gt=message.seq,
        sender_type__in=[SenderType.BOT, SenderType.SYSTEM],
    )
    return replies.order_by("seq").first()


def answered_before(chat: Conversation, *, before_seq: int) -> tuple[str, ...]:
    """The texts of the customer's latest answered messages before `before_seq`: at most three, the
    latest first."""
    replies = Message.objects.filter(
        conversation=chat,
        seq__gt=chat.read_from_seq,
        seq__lt=before_seq,
        receipt__decision="answered",
        in_reply_to__isnull=False,
    )
    return tuple(replies.order_by("-seq").values_list("in_reply_to__text", flat=True)[:3])


def has_knowledge_gap(chat: Conversation, *, before_seq: int) -> bool:
    """Whether the bot has told the chat's customer before `before_seq` that it has no answer."""
    rows = Message.objects.filter(UNANSWERED, conversation=chat, in_reply_to__isnull=False)
    rows = rows.exclude(sender_type=SenderType.CUSTOMER)
    return rows.filter(seq__gt=chat.read_from_seq, seq__lt=before_seq).exists()


def has_greeted(chat: Conversation, *, before_seq: int) -> bool:
    """Whether the chat has the bot's welcome or a greeting before `before_seq`."""
    rows = Message.objects.filter(conversation=chat, seq__lt=before_seq)
    return rows.filter(Q(is_welcome=True) | Q(receipt__kind="greeting")).exists()


def history(chat: Conversation) -> QuerySet[Message]:
    """The messages that the customer may read. They are unordered; the caller orders and pages
    them."""
    rows = Message.objects.for_client(chat.client)
    return rows.filter(conversation=chat, is_note=False)


def history_page(caller: Principal, chat_id: uuid.UUID, query: Page) -> dict[str, Any]:
    """A list page of a chat's `history`, oldest first, for a caller with an API key; 404 if the
    caller may not see the chat. A public key gets the schema `VisitorMessage`."""
    key = list_key(query)
    (after,) = decode_numbers(query.cursor, Message, ["seq"], key=key) if query.cursor else (0,)
    read = fast_sql.read_messages(caller, chat_id, after=after, limit=query.limit)
    if read is None:
        raise NotFound
    shown, last_seq = read
    return {
        "items": row_json.fragment(f"[{shown}]"),
        "next_cursor": encode_cursor(Message, ["seq"], [last_seq], key=key) if last_seq else None,
    }


def _enqueue_channel_send(chat: LockedConversation, message: Message) -> None:
    """Enqueue the jobs that a new message to the customer needs: a translation if an agent wrote
    it, and a job that sends it if the chat is on a messaging channel. A message with a provider's
    id came from the channel, so nothing is enqueued for it."""
    if message.is_note or message.sender_type == SenderType.CUSTOMER or message.provider_message_id:
        return
    sender = channel_hooks.sender() if chat.channel in MESSAGING_CHANNELS else None
    if message.sender_type == SenderType.AGENT:
        key = sender.ordering_key(chat) if sender else None
        enqueue_translations.enqueue_for_customer(chat, message, ordering_key=key)
    if sender:
        message.status = MessageStatus.PENDING
        sender.enqueue_message(message)


def _links_to_files(message: Message) -> dict[str, str]:
    """Signed links to a message's stored files, by their ids."""
    ids = (part.get("attachment_id") for part in message.content)
    return {file_id: Attachment.signed_url(file_id) for file_id in ids if file_id}
