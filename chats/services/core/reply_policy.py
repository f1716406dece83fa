"""Decides whether the bot may reply, by the database function `chats_bot_may_reply` and the
credits."""

import time
import uuid

from bots.engine import Capability, Engine
from bots.services.engines import engine_for
from chatplatform.jobs import current_attempt
from chatplatform.sql import fetch_row
from chats.models import AssignType, Conversation, ReplyScope
from chats.services.core import conversations
from identity.auth import Principal
from identity.services import credits

_RULE = "SELECT chats_bot_may_reply(chat, %s) FROM chats_conversation chat WHERE chat.id = %s"
_CACHE_SECONDS = 1.0
# By the id of a public key that lacked credits: the monotonic time of the next check.
_lacking_until: dict[int, float] = {}


def bot_may_reply(chat: Conversation, *, is_approved: bool = False) -> ReplyScope | None:
    """What the bot may say in the chat as it is stored now; None if nothing.

    `is_approved`: whether the reply reports the result of a call that an agent approved.
    """
    row = fetch_row(_RULE, [is_approved, chat.pk])
    return ReplyScope(row[0]) if row and row[0] else None


def may_begin(chat: Conversation, scope: ReplyScope | None) -> bool:
    """Whether to enqueue a reply of this scope: not if the bot may say nothing, or if the chat
    waits for an agent and still lacks the credits for a reply."""
    return scope is not None and not (scope == ReplyScope.ANSWERS and lacks_credits(chat))


def lacks_credits(chat: Conversation) -> bool:
    """Whether the chat waits for an agent because credits did not cover a reply, and they still do
    not."""
    if chat.assign_type != AssignType.QUEUE or chat.handoff_reason != "credits_used_up":
        return False
    if current_attempt() > 1:
        return False  # the previous attempt may have reserved the last credits
    cost = highest_cost(engine_for(chat.client, chat.bot))
    return not credits.has_enough(chat.client_id, cost=cost, key_id=chat.capped_key_id)


def lacks_credits_for(caller: Principal, chat_id: uuid.UUID) -> bool:
    """`lacks_credits` for a chat that the caller may see; 404 for any other.

    For a public key, a lack of credits is cached for a second, because every message of every
    visitor is checked.
    """
    public_key = caller.key.pk if caller.key and caller.is_public_key else None
    if public_key and _lacking_until.get(public_key, 0) > time.monotonic():
        return True
    is_lacking = lacks_credits(conversations.get(caller, pk=chat_id))
    if public_key and is_lacking:
        _lacking_until[public_key] = time.monotonic() + _CACHE_SECONDS
    return is_lacking


def highest_cost(engine: Engine) -> int:
    """The maximum number of credits that a reply by the engine costs."""
    is_model = Capability.WRITE in engine.capabilities
    return credits.MODEL_REPLY * engine.price if is_model else credits.EXTRACTIVE_TASK
