"""The delivery status of a message.

On a messaging channel, the provider reports it. In other chats, it is reported by the customer's
website or app, and by the desk.

A status only moves forward, from pending to sent, delivered and read, even if reports are repeated
or arrive out of order. There are three exceptions:
- A failed message becomes `delivered` or `read` if it turns out to have arrived.
- A message that failed as `STILL_UNCERTAIN` becomes `sent` if the provider did accept it.
- An agent's message becomes `delivered` again if its translation is stored after it was `read`.
"""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chatplatform.api.errors import ApiError, NotFound
from chatplatform.channel_names import MESSAGING_CHANNELS
from chats.models import Conversation, LockedConversation, Message, MessageStatus, SenderType
from chats.schemas import message as message_schemas
from chats.services.core import conversations
from webhooks.services import announce

UNCERTAIN = "We don't know whether this message was sent because the connection failed."
STILL_UNCERTAIN = (
    "We don't know whether this message was sent. Check the conversation in the channel before"
    " you send it again."
)


class ChannelReports(ApiError):
    code, status = "channel_reports", 409
    detail = "This conversation is on a messaging channel, which reports delivery itself."


def report(chat: Conversation, body: message_schemas.ArrivalReport, status: MessageStatus) -> None:
    """Record that the messages to the customer, or those up to a given one, were delivered or read,
    as the customer's website or app reports. 409 for a chat on a messaging channel, 404 if the chat
    has no such message."""
    if chat.channel in MESSAGING_CHANNELS:
        raise ChannelReports
    rows = Message.objects.filter(conversation=chat, is_note=False)
    if body.message_id:
        last = rows.filter(pk=body.message_id).first()
        if last is None:
            raise NotFound("This conversation has no such message.", field="message_id")
        rows = rows.filter(seq__lte=last.seq)
    if body.seq:
        rows = rows.filter(seq__lte=body.seq)
    unread = _unread(rows.exclude(sender_type=SenderType.CUSTOMER))
    record_arrival(chat, unread, status, at=timezone.now())


def record_read_by_agent(chat: Conversation) -> None:
    """Record that an agent has read the customer's messages. Does nothing in previews and on
    messaging channels, where the provider gets a read receipt instead."""
    if chat.channel not in MESSAGING_CHANNELS and not chat.is_preview:
        rows = Message.objects.filter(conversation=chat, sender_type=SenderType.CUSTOMER)
        record_arrival(chat, _unread(rows), MessageStatus.READ, at=timezone.now())


def record_translated(message: Message) -> None:
    """Change the status of an agent's message from read back to delivered, because the customer has
    not read its new translation."""
    if message.sender_type == SenderType.AGENT and message.status == MessageStatus.READ:
        write(message, status=MessageStatus.DELIVERED, read_at=None)


def record_sent(message: Message, *, provider_message_id: str) -> None:
    """Record that the provider accepted the message and gave it this id, even if its status was
    uncertain before."""
    with transaction.atomic():
        chat, row = lock(message)
        changes: dict[str, Any] = {"provider_message_id": provider_message_id}
        is_late = row.status == MessageStatus.FAILED and row.error == STILL_UNCERTAIN
        is_news = is_late or row.status == MessageStatus.PENDING
        if is_news:
            changes |= {"status": MessageStatus.SENT, "error": None}
        write(row, **changes)
        if is_news:
            announce_message(chat, "message.updated", row)


def record_failed(message: Message, *, error: str) -> None:
    """Record why the message will not arrive. Does nothing if it has arrived or already failed."""
    with transaction.atomic():
        chat, row = lock(message)
        if row.status in {MessageStatus.DELIVERED, MessageStatus.READ, MessageStatus.FAILED}:
            return
        write(row, status=MessageStatus.FAILED, error=error[:500])
        announce_message(chat, "message.failed", row)


def record_uncertain(message: Message) -> bool:
    """Record that it is unknown whether the message was sent; it stays pending. Returns False and
    does nothing if it is no longer pending or was uncertain before."""
    with transaction.atomic():
        chat, row = lock(message)
        if row.status != MessageStatus.PENDING or row.error == UNCERTAIN:
            return False
        write(row, error=UNCERTAIN)
        announce_message(chat, "message.updated", row)
        return True


def announce_message(chat: LockedConversation, event_type: str, message: Message) -> None:
    """Write an event about one message of a conversation."""
    announce(
        chat.client_id,
        event_type,
        {"message": message_schemas.Message.from_row(message)},
        conversation_id=chat.pk,
        sequence=conversations.next_event(chat),
    )


def record_arrival(
    chat: Conversation, message_ids: Iterable[uuid.UUID], status: MessageStatus, *, at: datetime
) -> None:
    """Record that messages were delivered or, if `status` is `read`, that they were both delivered
    and read."""
    is_read = status == MessageStatus.READ
    earlier = {MessageStatus.PENDING, MessageStatus.SENT, MessageStatus.FAILED}
    if is_read:
        earlier.add(MessageStatus.DELIVERED)
    with transaction.atomic():
        locked = conversations.lock(chat)
        rows = Message.objects.filter(conversation=locked, pk__in=message_ids, status__in=earlier)
        for row in rows.order_by("seq"):
            changes = {"delivered_at": row.delivered_at or at} | (
                {"read_at": at} if is_read else {}
            )
            write(row, status=status, error=None, **changes)
            announce_message(locked, "message.read" if is_read else "message.delivered", row)


def _unread(rows: QuerySet[Message]) -> QuerySet[Message, uuid.UUID]:
    """The ids of the unread messages, without those added as history."""
    return rows.filter(sent_at=None).exclude(status=MessageStatus.READ).values_list("pk", flat=True)


def lock(message: Message) -> tuple[LockedConversation, Message]:
    """Lock the message's conversation; return it and the message as it is now."""
    chat = conversations.lock(message.conversation)
    return chat, Message.objects.get(pk=message.pk)


def write(message: Message, **changes: Any) -> None:
    """Write these columns of a message."""
    for name, value in changes.items():
        setattr(message, name, value)
    message.save(update_fields=list(changes))
