"""Queries for an export of conversations and messages in the portable form."""

from datetime import timedelta

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from chats.models import Conversation, Feedback, Message, Summary, Tagging
from chats.services.core.conversations import visible_to_key
from chats.shapes.exchange import MigratePage
from identity.models import ApiKey
from identity.services import audit

# A row of an open transaction already has an id but is not visible yet. An export that has passed
# its id would miss it. No request takes longer than this to commit.
SETTLED_AFTER = timedelta(seconds=5)


def conversations(key: ApiKey, query: MigratePage) -> QuerySet[Conversation]:
    """The conversations that a key may export, except those of the last seconds."""
    _record_begin(key, "conversations", query)
    settled = visible_to_key(key).filter(created_at__lt=timezone.now() - SETTLED_AFTER)
    return whole(settled)


def whole(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """The conversations with all related rows that their portable form contains."""
    chat_feedback = Feedback.objects.filter(message__isnull=True)
    return rows.select_related("customer", "assignee", "last_message").prefetch_related(
        Prefetch("taggings", Tagging.objects.order_by("id")),
        Prefetch("summaries", Summary.objects.order_by("id")),
        Prefetch("feedbacks", chat_feedback, to_attr="chat_feedback"),
    )


def messages(key: ApiKey, query: MigratePage) -> QuerySet[Message]:
    """The messages of the conversations that a secret key may export, with internal notes and
    without those of the last seconds."""
    _record_begin(key, "messages", query)
    rows = Message.objects.for_client(key.client).filter(conversation__is_preview=False)
    if key.bot_id:
        rows = rows.filter(conversation__bot_id=key.bot_id)
    settled = rows.filter(created_at__lt=timezone.now() - SETTLED_AFTER)
    return settled.prefetch_related("feedback_set")


def _record_begin(key: ApiKey, noun: str, query: MigratePage) -> None:
    """Record an export in the audit log, at its first list page only."""
    if not query.cursor:
        audit.record_export(key.client_id, noun, by=key, asked=query)
