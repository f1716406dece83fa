"""Messages: every one is stored here, numbered without gaps, and announced."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from bots.knowledge import language as languages
from chatplatform.api import idempotency
from chatplatform.api.errors import ApiError, NotFound
from chatplatform.api.pagination import Page, as_page, numbers_of
from chatplatform.jobs import enqueue
from chats.models import (
    AssignType,
    Channel,
    Conversation,
    LockedConversation,
    Message,
    MessageStatus,
    SenderType,
    text_content,
)
from chats.services.core import attachments, conversations, fast_sql, lifecycle
from chats.shapes import desk as desk_shapes
from chats.shapes import message as message_shapes
from identity.models import ApiKey, User
from webhooks.services import announce

# Where a message is only read once the channel's own server has it.
MESSAGING_CHANNELS = {Channel.SOCIALNET, Channel.PHOTOAPP, Channel.CHATAPP, Channel.LOCALAPP}


class IdTaken(ApiError):
    code, status = "client_message_id_taken", 409
    detail = "This client_message_id is another sender's in this chat, or a note's."


class AgentHasChat(ApiError):
    code, status = "agent_has_chat", 409
    detail = "An agent has this chat: nothing answers in the bot's name."


@dataclass(frozen=True)
class Author:
    """Who a new message is from."""

    type: SenderType
    id: str | None = None
    name: str = ""


class Details(TypedDict, total=False):
    """What a message may have beside its author and its words: columns of the row."""

    language: str
    in_reply_to: Message | None
    client_message_id: str | None
    citations: list[dict[str, Any]]
    receipt: dict[str, Any] | None
    is_note: bool
    recipient: dict[str, Any] | None
    metadata: dict[str, Any]
    sent_at: datetime | None


def content_of(
    chat: Conversation,
    given: message_shapes.ConvMessage | desk_shapes.ManualChatMessageDto,
    files: Sequence[attachments.Kept] = (),
) -> list[dict[str, Any]]:
    """What is stored of a text, of pieces given by link, and of files that were sent along."""
    return [
        *(text_content(given.text) if given.text else []),
        *attachments.linked(chat, given.attachments),
        *(file.content for file in files),
    ]


def client_message_id_of(given: message_shapes.ConvMessage) -> str | None:
    """What names a message again: its sender's id, or the Idempotency-Key of the request."""
    return given.client_message_id or idempotency.current_id()


def find_known(
    chat: LockedConversation, client_message_id: str | None, by: Author, *, is_note: bool = False
) -> Message | None:
    """The message that the author gave this id; 409 where it is another's, or no such message.

    Agents are several in a chat; the customer is one, also after two were found to be the same.
    """
    if client_message_id is None:
        return None
    found = fast_sql.find_message(chat, client_message_id)
    if found is None:
        return None
    is_same = (found.sender_type, found.is_note) == (by.type, is_note)
    if not is_same or (by.type == SenderType.AGENT and found.sender_id != by.id):
        raise IdTaken
    found.conversation = chat
    return found


def append_of_assistant(chat: Conversation, given: message_shapes.ConvMessage) -> Message:
    """Store what the client's own system answers in the bot's place; 409 where an agent has it."""
    client_message_id = client_message_id_of(given)
    with transaction.atomic():
        chat = conversations.lock(chat)
        known = find_known(chat, client_message_id, Author(SenderType.BOT))
        if known:
            return known
        lifecycle.refuse_ended(chat)
        if chat.assign_type == AssignType.AGENT:
            raise AgentHasChat
        return append(
            chat,
            author=Author(SenderType.BOT, str(chat.bot_id), chat.bot.bot_name),
            content=content_of(chat, given),
            language=given.language or languages.detect(given.text, default=chat.language),
            client_message_id=client_message_id,
            receipt={"engine": "external"},
        )


def append_of_agent(
    chat: LockedConversation,
    *,
    by: User,
    content: list[dict[str, Any]],
    is_note: bool = False,
    client_message_id: str | None = None,
) -> Message:
    """Store an agent's message or note."""
    return append(
        chat,
        author=of_person(by),
        content=content,
        language=languages.detect(text_of(content), default=chat.language),
        client_message_id=client_message_id,
        is_note=is_note,
    )


def of_person(user: User) -> Author:
    """One of the client's people, as the author of a message."""
    return Author(SenderType.AGENT, str(user.pk), user.full_name)


def append(
    chat: LockedConversation,
    *,
    author: Author,
    content: list[dict[str, Any]],
    **details: Unpack[Details],
) -> Message:
    """Store a message at the end of a conversation, and announce it.

    What the customer is to read in a messaging channel is handed to that channel. From a message
    with `sent_at`, which is history, nothing follows.
    """
    message = Message(
        client=chat.client,
        conversation=chat,
        seq=chat.last_seq + 1,
        sender_type=author.type,
        sender_id=author.id,
        sender_name=author.name,
        content=content,
        text=text_of(content),
        created_at=timezone.now(),
        **details,
    )
    if message.recipient is None and not message.is_note:
        message.recipient = _recipient(chat, author)
    is_past = message.sent_at is not None
    _update_counters(chat, message, is_past=is_past)
    if not is_past:
        _publish(chat, message)
    fast_sql.store_message(chat, message)
    return message


def _publish(chat: LockedConversation, message: Message) -> None:
    """Tell the world of a new message, and hand its channel what the customer is to read there."""
    to_customer = not message.is_note and message.sender_type != SenderType.CUSTOMER
    if to_customer and chat.channel in MESSAGING_CHANNELS:
        message.status = MessageStatus.PENDING
        enqueue(
            "channels_app.deliver_message",
            client_id=chat.client_id,
            ordering_key=f"deliver:{chat.pk}",
            message_id=str(message.pk),
        )
    announce(
        chat.client_id,
        "message.created",
        {"message": message_shapes.Message.from_row(message)},
        conversation_id=chat.pk,
        sequence=chat.last_event_seq,
    )


def text_of(content: Sequence[dict[str, Any]]) -> str:
    """All words of a message's pieces, for the bot and the search."""
    return "\n".join(piece["text"] for piece in content if piece.get("text"))


def _recipient(chat: Conversation, author: Author) -> dict[str, Any] | None:
    """Whom a message is for: the customer, or whoever has the chat."""
    if author.type != SenderType.CUSTOMER:
        return {"type": "customer", "id": str(chat.customer_id), "name": chat.customer.name}
    if chat.assign_type == AssignType.BOT:
        return {"type": "bot", "id": str(chat.bot_id), "name": chat.bot.bot_name}
    agent = chat.assignee
    return {"type": "agent", "id": str(agent.pk), "name": agent.full_name} if agent else None


def _update_counters(chat: LockedConversation, message: Message, *, is_past: bool) -> None:
    """What a new message changes in its conversation: `statements.COUNTED`, and nothing else.

    A note takes numbers only. Of history nobody is waiting for an answer, or late with one: it
    moves no times.
    """
    chat.last_seq = message.seq
    chat.last_event_seq += not is_past
    if not message.is_note:
        chat.message_count += 1
        chat.last_message = message
    if not (message.is_note or is_past):
        chat.last_message_at = message.created_at
        if message.sender_type in {SenderType.BOT, SenderType.AGENT}:
            chat.first_response_at = chat.first_response_at or message.created_at
        if message.sender_type == SenderType.CUSTOMER:
            chat.unread_count += 1
            if chat.assign_type != AssignType.BOT:
                chat.waiting_since = chat.waiting_since or message.created_at
        if message.sender_type == SenderType.AGENT:
            chat.unread_count, chat.waiting_since, chat.return_at = 0, None, None


def history(chat: Conversation) -> QuerySet[Message]:
    """What the customer may read of a conversation; order and page are the caller's."""
    rows: QuerySet[Message] = Message.objects.for_client(chat.client)
    return rows.filter(conversation=chat, is_note=False)


def history_of(key: ApiKey, chat_id: uuid.UUID, asked: Page) -> dict[str, Any]:
    """A page of `history`, oldest first, of a chat that the key may see; 404 for any other."""
    (after,) = numbers_of(asked.cursor, Message, ["seq"]) if asked.cursor else (0,)
    found = fast_sql.read_messages(key, chat_id, after=after, limit=asked.limit + 1)
    if found is None:
        raise NotFound
    return as_page(found, asked, by=["seq"], shape=message_shapes.Message.from_row)


def reply_to(message: Message) -> Message | None:
    """The machine's one reply to a customer's message, where there is one yet."""
    replies: QuerySet[Message] = Message.objects.filter(
        # The reply to a burst names its last message, and in its receipt the others.
        Q(in_reply_to=message) | Q(receipt__answers__contains=[str(message.pk)]),
        conversation_id=message.conversation_id,
        seq__gt=message.seq,
        sender_type__in=[SenderType.BOT, SenderType.SYSTEM],
    )
    return replies.order_by("seq").first()
