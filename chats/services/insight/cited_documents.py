"""Counts how a bot's documents are used: how many answers cite them, for which questions, and how
many questions go unanswered."""

from datetime import UTC, datetime, timedelta

from django.core.cache import cache
from django.db.models import Count

from bots.models import Bot, Document
from chatplatform.ids import first_id
from chatplatform.sql import fetch_rows
from chats.models import GroupedQuestion, GroupStatus, Message, SenderType

_PERIOD = timedelta(days=30)
_WEEK = timedelta(days=7)
# How many of the latest answers that cite a document are read to list their questions.
_MAX_ANSWERS = 50
# Results are cached because counting reads all messages of the client's last 30 days.
_CACHE_SECONDS = 600
_COUNTS = """
    SELECT (citation->>'document_id')::bigint, count(DISTINCT message.id)
    FROM chats_message AS message
    JOIN chats_conversation AS chat ON chat.id = message.conversation_id
    CROSS JOIN LATERAL jsonb_array_elements(message.citations) AS citation
    WHERE message.client_id = %s AND message.id >= %s AND message.sender_type = 'bot'
        AND chat.bot_id = %s AND NOT chat.is_preview
    GROUP BY 1
"""


def answers(bot: Bot) -> dict[int, int]:
    """The number of the bot's answers in the last 30 days that cite a document, by the document's
    id. The counts are at most ten minutes old."""
    return _counted(bot)[0]


def counted_at(bot: Bot) -> datetime:
    """When the numbers of `answers` were counted."""
    return _counted(bot)[1]


def _counted(bot: Bot) -> tuple[dict[int, int], datetime]:
    key = f"cited-documents-at:{bot.pk}"
    found: tuple[dict[int, int], datetime] | None = cache.get(key)
    if found is None:
        now = datetime.now(UTC)
        counts = dict(fetch_rows(_COUNTS, [bot.client_id, first_id(now - _PERIOD), bot.pk]))
        found = counts, now
        cache.set(key, found, _CACHE_SECONDS)
    return found


def questions(document: Document) -> list[str]:
    """The latest questions of the last 30 days whose answers cite a document, newest first. The
    list is at most ten minutes old."""
    key = f"cited-document-questions:{document.pk}"
    latest: list[str] | None = cache.get(key)
    if latest is None:
        replies = Message.objects.filter(
            client_id=document.client_id,
            pk__gte=first_id(datetime.now(UTC) - _PERIOD),
            sender_type=SenderType.BOT,
            conversation__bot=document.bot_id,
            conversation__is_preview=False,
            citations__contains=[{"document_id": document.pk}],
            in_reply_to__isnull=False,
        )
        texts = replies.order_by("-pk").values_list("in_reply_to__text", flat=True)
        latest = list({" ".join(text.split()): None for text in texts[:_MAX_ANSWERS]})
        cache.set(key, latest, _CACHE_SECONDS)
    return latest


def unanswered_by_language(bot: Bot) -> dict[str, int]:
    """The number of questions to the bot in the last seven days that are still unanswered, by
    language (`pt` for `pt-BR`)."""
    open_questions = GroupedQuestion.objects.filter(
        group__bot=bot,
        group__status=GroupStatus.OPEN,
        asked_at__gte=datetime.now(UTC) - _WEEK,
    )
    rows = open_questions.values_list("message__language").annotate(Count("pk")).order_by()
    counts: dict[str, int] = {}
    for language, count in rows:
        code = language.partition("-")[0]
        if code:
            counts[code] = counts.get(code, 0) + count
    return counts
