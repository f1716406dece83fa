"""The delivery status of a message.

Channels report it for their messages. For all others the customer's website or app and the desk do.

A status only moves forward, from pending to sent, delivered and read, in whatever order and however
often the reports arrive. `failed` stays, unless the message turns out to have arrived, or it was
uncertain and turns out to have been sent. An agent's message that was `read` is `delivered` again
if a translation comes later.
"""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chatplatform.api.errors import ApiError, Invalid
from chatplatform.customer_channels import MESSAGING_CHANNELS
from chats.models import Conversation, LockedConversation, Message, MessageStatus, SenderType
from chats.services.core import conversations
from chats.shapes import message as message_shapes
from webhooks.services import announce

UNCERTAIN = "It is not known whether this message went out: the connection broke while it was sent."
STILL_UNCERTAIN = (
    "It is not known whether this message went out, and the channel has not told it since. Look"
    " at the chat there before you send it again."
)
_ARRIVED = {MessageStatus.DELIVERED, MessageStatus.READ}


class ChannelReports(ApiError):
    code, status = "channel_reports", 409
    detail = "This chat is on a channel, which itself says how far messages came."


def report_delivered(chat: Conversation, report: message_shapes.ArrivalReport) -> None:
    """Record that the customer's website or app has received messages to the customer."""
    record_delivered(chat, _reported(chat, report), at=timezone.now())


def report_read(chat: Conversation, report: message_shapes.ArrivalReport) -> None:
    """Record that the customer has read messages to them."""
    record_read(chat, _reported(chat, report), at=timezone.now())


def record_read_by_agent(chat: Conversation) -> None:
    """Record that an agent has read the customer's messages.

    Nothing is recorded in previews, nor on messaging channels, which tell their customers
    themselves.
    """
    if chat.channel not in MESSAGING_CHANNELS and not chat.is_preview:
        rows = Message.objects.filter(conversation=chat, sender_type=SenderType.CUSTOMER)
        record_read(chat, _on_the_way(rows), at=timezone.now())


def record_translated(message: Message) -> None:
    """Set an agent's message from read back to delivered: its translation has not been read."""
    if message.sender_type == SenderType.AGENT and message.status == MessageStatus.READ:
        _write(message, {"status": MessageStatus.DELIVERED, "read_at": None})


def record_sent(message: Message, *, provider_message_id: str) -> None:
    """Record that the provider accepted the message and gave it this id."""
    with transaction.atomic():
        chat, row = _lock(message)
        changes: dict[str, Any] = {"provider_message_id": provider_message_id}
        is_late = row.status == MessageStatus.FAILED and row.error == STILL_UNCERTAIN
        if is_late or row.status == MessageStatus.PENDING:
            changes |= {"status": MessageStatus.SENT, "error": None}
        _write(row, changes)
        if is_late:
            announce_message(chat, "message.updated", row)


def record_failed(message: Message, *, error: str) -> None:
    """Record that the message will not arrive; `error` says why.

    Ignored if the message has arrived or has failed before.
    """
    with transaction.atomic():
        chat, row = _lock(message)
        if row.status in {*_ARRIVED, MessageStatus.FAILED}:
            return
        _write(row, {"status": MessageStatus.FAILED, "error": error[:500]})
        announce_message(chat, "message.failed", row)


def record_uncertain(message: Message) -> bool:
    """Record that it is unknown whether the message went out; it stays pending.

    False if the message is no longer pending or was recorded as uncertain before.
    """
    with transaction.atomic():
        chat, row = _lock(message)
        if row.status != MessageStatus.PENDING or row.error == UNCERTAIN:
            return False
        _write(row, {"error": UNCERTAIN})
        announce_message(chat, "message.updated", row)
        return True


def record_delivered(chat: Conversation, message_ids: Iterable[uuid.UUID], *, at: datetime) -> None:
    """Record that messages reached the customer's device."""
    _record_arrival(chat, message_ids, MessageStatus.DELIVERED, at)


def record_read(chat: Conversation, message_ids: Iterable[uuid.UUID], *, at: datetime) -> None:
    """Record that the customer read messages, which were therefore delivered too."""
    _record_arrival(chat, message_ids, MessageStatus.READ, at)


def announce_message(chat: LockedConversation, event_type: str, message: Message) -> None:
    """Write an event about one message of a conversation."""
    announce(
        chat.client_id,
        event_type,
        {"message": message_shapes.Message.from_row(message)},
        conversation_id=chat.pk,
        sequence=conversations.next_event(chat),
    )


def _record_arrival(
    chat: Conversation, message_ids: Iterable[uuid.UUID], status: MessageStatus, at: datetime
) -> None:
    behind = {MessageStatus.PENDING, MessageStatus.SENT, MessageStatus.FAILED}
    if status == MessageStatus.READ:
        behind.add(MessageStatus.DELIVERED)
    with transaction.atomic():
        locked = conversations.lock(chat)
        rows = Message.objects.filter(conversation=locked, pk__in=message_ids, status__in=behind)
        for row in rows.order_by("seq"):
            changes: dict[str, Any] = {"status": status, "error": None}
            changes["delivered_at"] = row.delivered_at or at
            if status == MessageStatus.READ:
                changes["read_at"] = at
            _write(row, changes)
            is_read = status == MessageStatus.READ
            announce_message(locked, "message.read" if is_read else "message.delivered", row)


def _reported(
    chat: Conversation, report: message_shapes.ArrivalReport
) -> QuerySet[Message, uuid.UUID]:
    """Ids of the unread messages to the customer, up to the one that the report names, if any.

    409 for a chat on a messaging channel, 422 if the chat has no such message.
    """
    if chat.channel in MESSAGING_CHANNELS:
        raise ChannelReports
    rows = Message.objects.filter(conversation=chat, is_note=False)
    if report.message_id:
        named = rows.filter(pk=report.message_id).first()
        if named is None:
            raise Invalid.field("body", "message_id", msg="No such message in this conversation.")
        rows = rows.filter(seq__lte=named.seq)
    if report.seq:
        rows = rows.filter(seq__lte=report.seq)
    return _on_the_way(rows.exclude(sender_type=SenderType.CUSTOMER))


def _on_the_way(rows: QuerySet[Message]) -> QuerySet[Message, uuid.UUID]:
    """Ids of the messages that are not read yet; imported history is left out."""
    on_the_way = rows.filter(sent_at=None).exclude(status=MessageStatus.READ)
    return on_the_way.values_list("pk", flat=True)


def _lock(message: Message) -> tuple[LockedConversation, Message]:
    """Lock the conversation; return it and the message as it is now."""
    chat = conversations.lock(message.conversation)
    return chat, Message.objects.get(pk=message.pk)


def _write(message: Message, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(message, name, value)
    message.save(update_fields=list(changes))
