"""Customers' ratings of a chat, or of one answer in it."""

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from chatplatform.api.errors import ApiError, Invalid
from chats.models import Conversation, Feedback, Message, SenderType
from chats.services.core import conversations
from chats.shapes.insight import ChatFeedBackDto, FeedbacksQuery
from identity.models import Client


class FeedbackGiven(ApiError):
    code, status = "feedback_given", 409
    detail = "This was rated before; a rating is given once."


def create(chat: Conversation, body: ChatFeedBackDto) -> Feedback:
    """Store a rating of a chat, or of one message in it, and announce it."""
    message = _rated_message(chat, body)
    try:
        with transaction.atomic():
            locked = conversations.lock(chat)
            row = Feedback.objects.create(
                client_id=chat.client_id,
                conversation=locked,
                message=message,
                rating=body.rating,
                resolved=body.resolved,
                comment=body.comment or "",
            )
            conversations.announce_change(
                locked,
                "feedback.created",
                feedback=ChatFeedBackDto.from_row(row).model_dump(mode="json"),
            )
    except IntegrityError as exc:
        if "feedback_once" not in str(exc):
            raise
        raise FeedbackGiven from exc
    return row


def list_for_client(client: Client, query: FeedbacksQuery) -> QuerySet[Feedback]:
    """The client's feedback that matches the filters; order and page are the caller's."""
    rows = Feedback.objects.for_client(client).filter(conversation__is_preview=False)
    filters = {
        "conversation__bot_id": query.bot_id,
        "rating": query.rating,
        "created_at__gte": query.created_from,
        "created_at__lt": query.created_to,
    }
    return rows.filter(**{name: value for name, value in filters.items() if value is not None})


def _rated_message(chat: Conversation, body: ChatFeedBackDto) -> Message | None:
    if body.message_id is None:
        return None
    message: Message | None = (
        Message.objects.for_client(chat.client)
        .filter(
            pk=body.message_id,
            conversation=chat,
            sender_type__in=[SenderType.BOT, SenderType.AGENT],
            is_note=False,
        )
        .first()
    )
    if message is None:
        raise Invalid.field(
            "body", "message_id", msg="Not an answer by the bot or an agent in this chat."
        )
    return message
