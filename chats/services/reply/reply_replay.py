"""Regenerates a reply with the bot's current content and instructions, without sending it."""

import uuid
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_noop

from bots.services import answer_preview
from bots.services.answers import Unanswered
from chatplatform.api.errors import ApiError, first_or_404
from chats.models import NO_ANSWER, Conversation, Message
from chats.schemas.replay import with_choices
from chats.services.core import fast_sql, messages
from chats.services.reply import decide, gather, pipeline, publishing
from chats.services.reply.decide import Answer, AskEngine, InfoFacts, KnowledgeGap, NoReply

# The decisions of replies that needed an engine.
ENGINE_DECISIONS = ("answered", *NO_ANSWER, "engine_failed", "credits_used_up")


class NothingToReplay(ApiError):
    code, status = "nothing_to_replay", 409
    detail = gettext_noop("Only the bot's reply to a customer's question can be replayed.")


@dataclass(frozen=True)
class RegeneratedReply:
    """What the bot would say today instead of an earlier reply."""

    text: str
    # The decision as in receipts, such as `answered`; if there is none, the handover's reason.
    decision: str
    is_answered: bool
    sources: tuple[str, ...] = ()
    handoff_reason: str | None = None
    engine: str | None = None
    confidence: float | None = None


def get(chat: Conversation, message_id: uuid.UUID) -> Message:
    """A reply in the chat that can be regenerated. 404 if neither the bot nor the platform wrote
    it, 409 `nothing_to_replay` if it does not reply to a message with text."""
    rows = Message.objects.for_client(chat.client).select_related("in_reply_to")
    reply = first_or_404(rows.filter(conversation=chat, pk=message_id, receipt__isnull=False))
    if reply.in_reply_to is None or not reply.in_reply_to.text.strip():
        raise NothingToReplay
    return reply


def was_answered(reply: Message) -> bool:
    """Whether the stored reply answered its question."""
    return bool(reply.receipt and reply.receipt.get("decision") == "answered")


def regenerate(reply: Message, *, reference: str) -> RegeneratedReply:
    """What the bot would reply today to the customer's message, given the messages before it.

    No functions are called, and no customer-info fields are asked for. A model's tokens are
    charged; raises `InsufficientCredits` if the credits do not cover them.
    """
    loaded = fast_sql.load_message(str(reply.in_reply_to_id)) if reply.receipt else None
    if loaded is None or not reply.receipt:
        raise NothingToReplay
    message = loaded.message
    earlier = [item for item in reply.receipt.get("answers") or () if item != str(message.pk)]
    facts = replace(gather.facts_for(message, earlier), info=InfoFacts(), is_waiting=False)
    if message.conversation.read_from_seq >= facts.first_seq:
        # The chat was reopened after the reply, so the bot could still read the earlier messages
        # when it replied.
        message.conversation.read_from_seq = 0
    decision = decide.from_facts(facts)
    if isinstance(decision, AskEngine):
        before = facts.first_seq
        request = pipeline.request_for(message, decision, facts, before_seq=before)
        outcome = answer_preview.ask(message.conversation.bot, request, reference=reference)
        gap = KnowledgeGap()
        if isinstance(outcome, Unanswered):
            gap = KnowledgeGap(
                is_first=not messages.has_knowledge_gap(message.conversation, before_seq=before)
            )
        decision = decide.from_outcome(outcome, facts, gap=gap)
    return _described(message, decision)


def _described(message: Message, decision: decide.Decision) -> RegeneratedReply:
    receipt: dict[str, Any] = decision.receipt.to_json()
    citations = decision.citations if isinstance(decision, Answer) else ()
    reason = decision.reason if isinstance(decision, decide.HandOver) else None
    reply = None if isinstance(decision, NoReply) else publishing.render(message, decision)
    return RegeneratedReply(
        text=with_choices(reply.text, reply.choices) if reply else "",
        decision=receipt.get("decision") or reason or "",
        is_answered=isinstance(decision, Answer),
        sources=tuple(dict.fromkeys(citation.title for citation in citations)),
        handoff_reason=reason,
        engine=receipt.get("engine"),
        confidence=receipt.get("confidence"),
    )
