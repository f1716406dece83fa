"""The handover from the bot to a person, except as the reply to a message (`reply.publishing`).

A handover puts the chat into the queue; `desk.routing.choose_agent` chooses the agent, in a job.
"""

from django.db.models import Q
from django.utils import timezone

from bots.services import business_hours
from chats.models import AssignType, LockedConversation, Message, SenderType, text_content
from chats.services.core import lifecycle, messages, standard_replies
from identity.models import User


def hand_over(
    chat: LockedConversation,
    *,
    reason: str,
    language: str = "",
    by: User | None = None,
) -> None:
    """Move the chat from the bot to the queue, and tell the customer.

    Nothing happens if the bot does not have the chat, so the customer is told once.
    """
    if chat.assign_type != AssignType.BOT:
        return
    said = standard_replies.handover(reason=reason, language=language or chat.language, chat=chat)
    messages.append(
        chat,
        author=messages.Author(SenderType.SYSTEM),
        content=text_content(said.text),
        language=said.language,
        receipt={"handoff_reason": reason},
    )
    lifecycle.to_queue(chat, reason=reason, by=by)


def tell_if_closed(chat: LockedConversation, *, language: str) -> None:
    """Tell a customer who writes to people that it is closed: once until it opens again, and not
    if an agent has answered since.
    """
    if chat.assign_type == AssignType.BOT:
        return
    said = standard_replies.out_of_hours(language=language, chat=chat)
    since = business_hours.closed_since(chat.client.config, chat.bot, timezone.now())
    if said is None or since is None:
        return
    told = Q(sender_type=SenderType.SYSTEM, text=said.text)
    answered = Q(sender_type=SenderType.AGENT, is_note=False)
    if Message.objects.filter(told | answered, conversation=chat, created_at__gte=since).exists():
        return
    messages.append(
        chat,
        author=messages.Author(SenderType.SYSTEM),
        content=text_content(said.text),
        language=said.language,
    )
