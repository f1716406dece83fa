"""Stores figures of each conversation's messages, so that reports need not read all messages.

Messages are only appended to a conversation, except by imports, after which `delete` removes the
figures. So stored figures stay right, and reports add those of later messages.
"""

import uuid
from collections.abc import Collection

from django.db import connection

from chatplatform import jobs
from chats.models import Conversation
from reports.models import ChatStats

_BATCH_SIZE = 1000
# The figures of later messages than the stored figures cover, without notes and welcomes. `chat` is
# the conversation, and `kept` its stored figures, if any.
_LATER = """
SELECT count(*) FILTER (WHERE sender_type IN ('customer', 'bot', 'agent')) AS messages,
    bool_or(sender_type = 'agent') AS has_agent,
    sum((receipt ->> 'credits')::numeric) FILTER (
        WHERE jsonb_typeof(receipt -> 'credits') = 'number')::bigint AS credits,
    min(coalesce(message.sent_at, message.created_at)) FILTER (WHERE sender_type = 'bot')
        AS first_bot_message_at,
    min(coalesce(message.sent_at, message.created_at)) FILTER (WHERE sender_type = 'agent')
        AS first_agent_message_at
FROM chats_message message
WHERE chat.last_seq > coalesce(kept.last_seq, 0)
    AND message.conversation_id = chat.id AND message.seq > coalesce(kept.last_seq, 0)
    AND NOT message.is_note AND NOT message.is_welcome
"""
# Joins `stats`, the current figures of `chat`. The condition on the client is redundant, but keeps
# PostgreSQL from reading the figures of all clients.
STATS = f"""
LEFT JOIN reports_chatstats kept
    ON kept.conversation_id = chat.id AND kept.client_id = chat.client_id
CROSS JOIN LATERAL ({_LATER}) later
CROSS JOIN LATERAL (SELECT
    coalesce(kept.messages, 0) + later.messages AS messages,
    coalesce(kept.has_agent, false) OR coalesce(later.has_agent, false) AS has_agent,
    coalesce(kept.credits, 0) + coalesce(later.credits, 0) AS credits,
    least(kept.first_bot_message_at, later.first_bot_message_at) AS first_bot_message_at,
    least(kept.first_agent_message_at, later.first_agent_message_at) AS first_agent_message_at
) stats
"""
# Updates the figures of the next batch of conversations, except those being deleted.
_STORE = f"""
WITH chat AS MATERIALIZED (
    SELECT chat.id, chat.client_id, chat.last_seq
    FROM chats_conversation chat
    LEFT JOIN reports_chatstats kept ON kept.conversation_id = chat.id
    WHERE chat.id > %s AND chat.last_seq > coalesce(kept.last_seq, 0) AND NOT chat.is_preview
    ORDER BY chat.id LIMIT {_BATCH_SIZE} FOR KEY SHARE OF chat SKIP LOCKED
), written AS (
    INSERT INTO reports_chatstats AS old
        (conversation_id, client_id, last_seq, messages, has_agent, credits,
            first_bot_message_at, first_agent_message_at)
    SELECT chat.id, chat.client_id, chat.last_seq, stats.* FROM chat {STATS}
    ON CONFLICT (conversation_id) DO UPDATE SET
        last_seq = EXCLUDED.last_seq, messages = EXCLUDED.messages,
        has_agent = EXCLUDED.has_agent, credits = EXCLUDED.credits,
        first_bot_message_at = EXCLUDED.first_bot_message_at,
        first_agent_message_at = EXCLUDED.first_agent_message_at
    WHERE old.last_seq < EXCLUDED.last_seq
)
SELECT id FROM chat ORDER BY id DESC LIMIT 1
"""


def update() -> None:
    """Add the messages since the last run to the stored figures of all clients' conversations,
    except previews."""
    last: uuid.UUID | None = uuid.UUID(int=0)
    while last:
        with jobs.commit(), connection.cursor() as cursor:
            cursor.execute(_STORE, [last])
            row = cursor.fetchone()
        last = row[0] if row else None


def delete(chat_ids: Collection[uuid.UUID]) -> None:
    """Delete these conversations' stored figures in the caller's transaction, so that they are
    counted again."""
    # Waits for an `update` that is counting them, and makes later ones skip these conversations.
    list(Conversation.objects.filter(pk__in=chat_ids).order_by("pk").select_for_update())
    ChatStats.objects.filter(pk__in=chat_ids).delete()
