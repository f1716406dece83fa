"""Whether the bot may reply: the rule of `chats_bot_may_reply`, and the credits."""

import time
import uuid

from django.db import connection

from bots.engine import Capability, Engine
from bots.services.engines import engine_for
from chatplatform.jobs import current_attempt
from chats.models import AssignType, Conversation, ReplyScope
from chats.services.core import conversations
from identity.auth import Principal
from identity.services import credits

_RULE = "SELECT chats_bot_may_reply(chat, %s) FROM chats_conversation chat WHERE chat.id = %s"
# Public keys that lacked credits, each with the monotonic time until which it is not checked again.
_REMEMBERED_SECONDS = 1.0
_short_until: dict[int, float] = {}


def bot_may_reply(chat: Conversation, *, is_approved: bool = False) -> ReplyScope | None:
    """What the bot may say in the chat as stored now; None if nothing.

    `is_approved`: an agent has approved a call, and the bot wants to tell its result.
    """
    with connection.cursor() as cursor:
        cursor.execute(_RULE, [is_approved, chat.pk])
        row = cursor.fetchone()
    return ReplyScope(row[0]) if row and row[0] else None


def may_begin(chat: Conversation, scope: ReplyScope | None) -> bool:
    """Whether a reply of this scope is worth a job; without credits it is not."""
    return scope is not None and not (scope == ReplyScope.ANSWERS and lacks_credits(chat))


def lacks_credits(chat: Conversation) -> bool:
    """Whether the chat waits for an agent for lack of credits, which still don't cover a reply."""
    if chat.assign_type != AssignType.QUEUE or chat.handoff_reason != "credits_used_up":
        return False
    if current_attempt() > 1:
        return False  # the previous attempt may have reserved the last credits
    cost = highest_cost(engine_for(chat.client, chat.bot))
    return not credits.has_enough(chat.client_id, cost=cost, key_id=chat.capped_key_id)


def lacks_credits_for(caller: Principal, chat_id: uuid.UUID) -> bool:
    """`lacks_credits` for a chat that the caller may see.

    The answer for a public key without credits is cached for a second, since each message of each
    of its visitors asks.
    """
    public_key = caller.key.pk if caller.key and caller.is_public_key else None
    if public_key and _short_until.get(public_key, 0) > time.monotonic():
        return True
    is_short = lacks_credits(conversations.get(caller, pk=chat_id))
    if public_key and is_short:
        _short_until[public_key] = time.monotonic() + _REMEMBERED_SECONDS
    return is_short


def highest_cost(engine: Engine) -> int:
    """Maximum credits that a reply of the engine may cost."""
    is_model = Capability.WRITE in engine.capabilities
    return credits.MODEL_REPLY * engine.price if is_model else credits.EXTRACTIVE_TASK
