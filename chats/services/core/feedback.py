"""Customers' ratings of a chat, or of one answer in it."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chatplatform.api.errors import ApiError, NotFound
from chatplatform.channel_names import MESSAGING_CHANNELS
from chats.models import Conversation, Feedback, LockedConversation, Message, SenderType, Status
from chats.schemas.feedback import ChatFeedBackDto, FeedbacksQuery
from chats.services.core import automated_messages, conversations, customers, messages
from identity.models import Client

_FIELDS = ("rating", "thumb", "reason", "resolved", "comment")
_ASKED = "feedback_asked"


class FeedbackGiven(ApiError):
    code, status = "feedback_given", 409
    detail = "It's too late to change this rating."


def submit(chat: Conversation, body: ChatFeedBackDto) -> Feedback:
    """Store a rating of a chat or of one message and announce it. Within the client's
    `feedback_edit_minutes`, a second rating corrects the first; after that, it is a 409. 403 if the
    customer is blocked, 404 if the chat has no such message by the bot or an agent."""
    message = _rated_message(chat, body)
    values = body.model_dump(include=set(_FIELDS)) | {"comment": body.comment or ""}
    with transaction.atomic():
        locked = conversations.lock(chat)
        customers.ensure_not_blocked(locked.customer)
        row = Feedback.objects.filter(conversation=locked, message=message).first()
        if row is None:
            row = Feedback(client_id=chat.client_id, conversation=locked, message=message, **values)
            row.save()
            row.refresh_from_db(fields=["created_at"])
            _announce(locked, "feedback.created", row)
        else:
            _correct(locked, row, values)
    return row


def request_rating(chat: LockedConversation) -> None:
    """Ask the customer of an ended chat for a rating: once, and only if they got an answer and are
    not blocked. On messaging channels, a separate survey asks for it."""
    if chat.status != Status.ENDED or chat.first_response_at is None or chat.is_preview:
        return
    if chat.customer.is_blocked:
        return
    requests = Message.objects.filter(conversation=chat, receipt__decision=_ASKED)
    ratings = Feedback.objects.filter(conversation=chat, message=None)
    if chat.channel in MESSAGING_CHANNELS or requests.exists() or ratings.exists():
        return
    question = automated_messages.sentence("survey_question", language=chat.language, chat=chat)
    stars = [{"label": "★" * count, "value": str(count)} for count in range(5, 0, -1)]
    messages.append(
        chat,
        author=messages.Author(SenderType.SYSTEM),
        content=[{"type": "feedback", "text": question.text, "options": stars}],
        language=question.language,
        receipt={"decision": _ASKED},
    )


def is_given(chat: Conversation) -> bool:
    """Whether the chat has ended and has a rating."""
    ratings = Feedback.objects.filter(conversation=chat, message=None)
    return chat.status == Status.ENDED and ratings.exists()


def list_for_client(client: Client, query: FeedbacksQuery) -> QuerySet[Feedback]:
    """The client's feedback that matches the filters, unordered; the caller orders and pages it."""
    rows = Feedback.objects.for_client(client).filter(conversation__is_preview=False)
    filters = {
        "conversation__bot_id": query.bot_id,
        "conversation_id": query.chat_id,
        "conversation__customer_id": query.customer_id,
        "rating": query.rating,
        "thumb": query.thumb,
        "reason": query.reason,
        "created_at__gte": query.created_from,
        "created_at__lt": query.created_to,
    }
    return rows.filter(**{name: value for name, value in filters.items() if value is not None})


def _correct(chat: LockedConversation, row: Feedback, values: dict[str, Any]) -> None:
    minutes = chat.client.config.feedback_edit_minutes
    if timezone.now() >= row.created_at + timedelta(minutes=minutes):
        raise FeedbackGiven
    changed = {name: value for name, value in values.items() if value != getattr(row, name)}
    if not changed:
        return
    for name, value in (changed | {"updated_at": timezone.now()}).items():
        setattr(row, name, value)
    row.save(update_fields=[*changed, "updated_at"])
    _announce(chat, "feedback.updated", row)


def _announce(chat: LockedConversation, event_type: str, row: Feedback) -> None:
    data = ChatFeedBackDto.from_row(row).model_dump(mode="json")
    conversations.announce_change(chat, event_type, feedback=data)


def _rated_message(chat: Conversation, body: ChatFeedBackDto) -> Message | None:
    if body.message_id is None:
        return None
    answers = messages.history(chat).filter(sender_type__in=[SenderType.BOT, SenderType.AGENT])
    message = answers.filter(pk=body.message_id).first()
    if message is None:
        detail = "This conversation has no such message of the bot or an agent."
        raise NotFound(detail, field="message_id")
    return message
