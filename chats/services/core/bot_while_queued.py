"""Whether the bot answers while a chat waits in the queue for an agent."""

from django.db import connection

from chats.models import AssignType, Conversation, Status
from chats.services.core import conversations


def may_answer(chat: Conversation) -> bool:
    """Whether the bot answers what its documents hold, though the chat waits for an agent.

    An agent's first message behind the handover ends it. `chats_receive_message` of the database
    has the same rule.
    """
    if chat.status != Status.OPEN or chat.assign_type != AssignType.QUEUE:
        return False
    if not chat.client.config.answer_while_waiting or conversations.bot_off_reason(chat.bot):
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT chats_waits_for_first_word(%s, %s)", [chat.pk, chat.read_from_seq])
        (waits,) = cursor.fetchone()
    return bool(waits)
