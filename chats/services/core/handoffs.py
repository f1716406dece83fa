"""Hands chats over from the bot to a person, and tells customers that the company is closed.
Handovers that are part of a bot's reply are in `reply.publishing`."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from bots.services import business_hours
from chatplatform import jobs
from chats.models import AssignType, LockedConversation, Message, SenderType, Status
from chats.services.core import automated_messages, conversations, lifecycle, messages
from identity.models import User

# How long the bot waits for the details that it asks for before it hands over.
WAIT_FOR_DETAILS = timedelta(minutes=2)


def hand_over(
    chat: LockedConversation,
    *,
    reason: str,
    language: str = "",
    by: User | None = None,
) -> None:
    """Tell the customer that a person will answer, and move the chat from the bot to the queue. To
    tell the customer only once, does nothing if the bot does not have the chat."""
    if chat.assign_type != AssignType.BOT:
        return
    reply = automated_messages.handover(
        reason=reason, language=language or chat.language, chat=chat
    )
    messages.append_platform_message(chat, reply, receipt={"handoff_reason": reason})
    lifecycle.to_queue(chat, reason=reason, by=by)


def enqueue_after_details(chat: LockedConversation, message: Message, *, reason: str) -> None:
    """Have the chat handed over if the customer does not answer what the bot asks for before it
    hands over, in reply to `message`."""
    jobs.enqueue(
        "chats.hand_over_without_details",
        client_id=chat.client_id,
        wait=WAIT_FOR_DETAILS,
        message_id=str(message.pk),
        reason=reason,
    )


def hand_over_without_details(message_id: str, *, reason: str) -> None:
    """Hand over the chat of a customer who has not written since `message_id`."""
    message = Message.objects.select_related("conversation").filter(pk=message_id).first()
    if message is None:
        return
    with transaction.atomic():
        chat = conversations.lock(message.conversation)
        newer = Message.objects.filter(
            conversation=chat, seq__gt=message.seq, sender_type=SenderType.CUSTOMER
        )
        if chat.status == Status.OPEN and not newer.exists():
            hand_over(chat, reason=reason, language=message.language)


def notify_if_closed(chat: LockedConversation, *, language: str) -> None:
    """Outside business hours, tell the customer that the company is closed, unless the bot has the
    chat, or the customer has been told or an agent has written since the company closed."""
    if chat.assign_type == AssignType.BOT:
        return
    reply = automated_messages.out_of_hours(language=language, chat=chat)
    since = business_hours.closed_since(chat.client.config, chat.bot, timezone.now())
    if reply is None or since is None:
        return
    repeated = Q(sender_type=SenderType.SYSTEM, text=reply.text)
    answered = Q(sender_type=SenderType.AGENT, is_note=False)
    rows = Message.objects.filter(repeated | answered, conversation=chat, created_at__gte=since)
    if not rows.exists():
        messages.append_platform_message(chat, reply)
