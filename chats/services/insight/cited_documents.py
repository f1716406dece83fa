"""How often a bot's answers cited each of its documents."""

from datetime import UTC, datetime, timedelta

from django.core.cache import cache
from django.db import connection

from bots.models import Bot
from chatplatform.ids import first_id

_PERIOD = timedelta(days=30)
# The count reads all messages of the client's last 30 days.
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
    """The number of the bot's answers of the last 30 days that cite each document, by id; at most
    ten minutes old."""
    key = f"cited-documents:{bot.pk}"
    found: dict[int, int] | None = cache.get(key)
    if found is None:
        begin = first_id(datetime.now(UTC) - _PERIOD)
        with connection.cursor() as cursor:
            cursor.execute(_COUNTS, [bot.client_id, begin, bot.pk])
            found = dict(cursor.fetchall())
        cache.set(key, found, _CACHE_SECONDS)
    return found
