"""Hands chats over from the bot to a person, and tells customers that the company is closed.
Handovers that are part of a bot's reply are in `reply.publishing`."""

from django.db.models import Q
from django.utils import timezone

from bots.services import business_hours
from chats.models import AssignType, LockedConversation, Message, SenderType
from chats.services.core import automated_messages, lifecycle, messages
from identity.models import User


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
