"""Messages: every one is stored here, numbered without gaps, and announced."""

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from bots.knowledge import language as languages
from chatplatform.jobs import enqueue
from chats import serializers as s
from chats.models import (
    AssignType,
    Conversation,
    Message,
    SenderType,
    Status,
    Turn,
    text_content,
)
from chats.services import conversations, language, tags
from identity.models import ApiKey
from webhooks.services import announce


@dataclass(frozen=True)
class Author:
    """Who a new message is from."""

    type: SenderType
    id: str | None = None
    name: str = ""


def open_with(key: ApiKey, given: s.ChatCreation) -> Conversation:
    """Open a conversation together with its first message, where one is given."""
    with transaction.atomic():
        chat = conversations.open_(key, given)
        tags.begin(chat)
        if given.message:
            _receive(chat, s.ConvMessage(text=given.message, language=given.language))
    return chat


def receive(chat: Conversation, given: s.ConvMessage) -> Message:
    """Store a customer's message and, where the bot is to answer, the job that will.

    The same `client_message_id` again gives the message of the first time.
    """
    try:
        with transaction.atomic():
            return _receive(conversations.lock(chat), given)
    except IntegrityError:
        known = _known(chat, given.client_message_id)
        if known is None:
            raise
        return known


def _receive(chat: Conversation, given: s.ConvMessage) -> Message:
    known = _known(chat, given.client_message_id)
    if known:
        return known
    if chat.status == Status.ENDED:
        raise conversations.ChatEnded
    spoken = given.language or languages.detect(given.text, default=chat.language)
    message = append(
        chat,
        author=Author(SenderType.CUSTOMER, str(chat.customer_id), chat.customer.name),
        content=text_content(given.text),
        language=spoken,
        client_message_id=given.client_message_id,
    )
    language.enqueue_translation(message)
    if given.reply != "none" and chat.assign_type == AssignType.BOT:
        # One lane a conversation: replies come in the order of the messages.
        enqueue(
            "chats.generate_reply",
            client_id=chat.client_id,
            lane=f"chat:{chat.pk}",
            message_id=str(message.pk),
        )
    return message


def _known(chat: Conversation, client_message_id: str | None) -> Message | None:
    if client_message_id is None:
        return None
    return (
        Message.objects.of(chat.client)
        .filter(conversation=chat, client_message_id=client_message_id)
        .first()
    )


def append(
    chat: Conversation,
    *,
    author: Author,
    content: list[dict[str, Any]],
    language: str = "",
    in_reply_to: Message | None = None,
    client_message_id: str | None = None,
    citations: list[dict[str, Any]] | None = None,
    receipt: dict[str, Any] | None = None,
) -> Message:
    """Store a message at the end of a conversation that is locked, and announce it."""
    now = timezone.now()
    from_customer = author.type == SenderType.CUSTOMER
    chat.last_seq += 1
    chat.message_count += 1
    chat.last_event_seq += 1
    chat.unread_count += from_customer
    chat.last_message_at = now
    if author.type in {SenderType.BOT, SenderType.AGENT} and chat.first_response_at is None:
        chat.first_response_at = now
    chat.save(
        update_fields=[
            "last_seq", "message_count", "last_event_seq", "unread_count", "last_message_at",
            "first_response_at",
        ]
    )  # fmt: skip
    message: Message = Message.objects.create(
        client_id=chat.client_id,
        conversation=chat,
        seq=chat.last_seq,
        sender_type=author.type,
        sender_id=author.id,
        sender_name=author.name,
        content=content,
        text="\n".join(piece["text"] for piece in content if piece.get("text")),
        citations=citations or [],
        in_reply_to=in_reply_to,
        client_message_id=client_message_id,
        language=language,
        receipt=receipt,
        created_at=now,
    )
    announce(
        chat.client_id,
        "message.created",
        {"message": s.Message.of(message)},
        conversation_id=chat.pk,
        sequence=chat.last_event_seq,
    )
    return message


def history(chat: Conversation) -> QuerySet[Message]:
    """What the customer may read of a conversation; order and page are the caller's."""
    rows: QuerySet[Message] = Message.objects.of(chat.client)
    return rows.filter(conversation=chat, is_note=False)


def turn_of(message: Message, *, asked: bool) -> dict[str, Any]:
    """A `ChatTurn`: a customer's message and what became of it; `asked`: a reply was wanted."""
    reply = (
        Message.objects.filter(
            in_reply_to=message, sender_type__in=[SenderType.BOT, SenderType.SYSTEM]
        )
        .order_by("seq")
        .first()
    )
    status, reason = _status(message, reply, asked)
    return {
        "message": s.Message.of(message),
        "reply": s.Message.of(reply) if reply else None,
        "status": status,
        "handoff_reason": reason,
    }


def _status(message: Message, reply: Message | None, asked: bool) -> tuple[Turn, str | None]:  # noqa: FBT001
    if reply and reply.sender_type == SenderType.BOT:
        return Turn.ANSWERED, None
    chat = Conversation.objects.only("assign_type", "handoff_reason", "status").get(
        pk=message.conversation_id
    )
    if reply:
        return Turn.HANDED_OFF, chat.handoff_reason
    if not asked or chat.status == Status.ENDED or chat.assign_type == AssignType.AGENT:
        return Turn.NOT_EXPECTED, None
    if chat.assign_type == AssignType.QUEUE:
        return Turn.HANDED_OFF, chat.handoff_reason
    return Turn.PENDING, None
