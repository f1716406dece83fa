"""How far a message came at its channel: sent, delivered, read, failed, or not known.

A status only moves forward, in whatever order and how often reports come in: pending, sent,
delivered, read. `failed` stays, unless the message is known to have arrived after all.
"""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from chats.models import Conversation, LockedConversation, Message, MessageStatus
from chats.services.core import conversations
from chats.shapes import message as message_shapes
from webhooks.services import announce

UNCERTAIN = "It is not known whether this message went out: the connection broke while it was sent."
_ARRIVED = {MessageStatus.DELIVERED, MessageStatus.READ}


def record_sent(message: Message, *, provider_message_id: str) -> None:
    """The provider has taken the message under this id."""
    with transaction.atomic():
        _, row = _lock(message)
        changes: dict[str, Any] = {"provider_message_id": provider_message_id}
        if row.status == MessageStatus.PENDING:
            changes |= {"status": MessageStatus.SENT, "error": None}
        _write(row, changes)


def record_failed(message: Message, *, error: str) -> None:
    """The message will not arrive; `error` says why. Ignored if it is known to have arrived."""
    with transaction.atomic():
        chat, row = _lock(message)
        if row.status in {*_ARRIVED, MessageStatus.FAILED}:
            return
        _write(row, {"status": MessageStatus.FAILED, "error": error[:500]})
        announce_message(chat, "message.failed", row)


def record_uncertain(message: Message) -> None:
    """Nobody knows whether the message went out; it stays pending until its channel tells."""
    with transaction.atomic():
        chat, row = _lock(message)
        if row.status == MessageStatus.PENDING and row.error != UNCERTAIN:
            _write(row, {"error": UNCERTAIN})
            announce_message(chat, "message.updated", row)


def record_delivered(chat: Conversation, message_ids: Iterable[uuid.UUID], *, at: datetime) -> None:
    """Messages reached the customer's device."""
    _record_arrival(chat, message_ids, MessageStatus.DELIVERED, at)


def record_read(chat: Conversation, message_ids: Iterable[uuid.UUID], *, at: datetime) -> None:
    """The customer read messages, which therefore were delivered too."""
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


def _lock(message: Message) -> tuple[LockedConversation, Message]:
    """The conversation, locked, and the message as it is now."""
    chat = conversations.lock(message.conversation)
    return chat, Message.objects.get(pk=message.pk)


def _write(message: Message, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(message, name, value)
    message.save(update_fields=list(changes))
