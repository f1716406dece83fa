"""Whether the bot answers while a chat waits in the queue for an agent."""

from chats.models import AssignType, Conversation, Message, SenderType, Status
from chats.services.core import conversations


def may_answer(chat: Conversation) -> bool:
    """Whether the bot answers what its documents hold, though the chat waits for an agent.

    An agent's first message behind the handover ends it.
    """
    if chat.status != Status.OPEN or chat.assign_type != AssignType.QUEUE:
        return False
    if not chat.client.config.answer_while_waiting or conversations.bot_off_reason(chat.bot):
        return False
    rows = Message.objects.filter(conversation=chat, seq__gt=chat.read_from_seq)
    told = rows.filter(receipt__has_key="handoff_reason").order_by("-seq").values("seq")[:1]
    handed_over_at = told.values_list("seq", flat=True).first() or 0
    by_agents = rows.filter(sender_type=SenderType.AGENT, is_note=False)
    return not by_agents.filter(seq__gt=handed_over_at).exists()
