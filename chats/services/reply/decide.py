"""What the bot will say to a message, or why a person must: found, thought, checked."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings

from bots.engine import embedded, intents, types
from bots.engine.openai_compatible import OpenAICompatible
from bots.knowledge import chunking
from bots.knowledge.search import Found
from bots.models import Approval, FunctionCall, Prompt
from bots.services import engines, function_calls, retrieval
from chatplatform import jobs
from chats.models import Conversation, Message, SenderType
from chats.services.core import canned_replies, messages
from chats.services.reply import billing, confirmations
from chats.services.reply.streams import ReplyStream
from identity.models import ClientConfig

log = logging.getLogger(__name__)
HISTORY_LINES = 6


@dataclass(frozen=True)
class Said:
    """What the bot will say."""

    text: str
    citations: list[dict[str, Any]] = field(default_factory=list)
    receipt: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HandOver:
    """Why a person must answer."""

    reason: str
    receipt: dict[str, Any] = field(default_factory=dict)


Decision = Said | HandOver
NOTHING_LEFT = HandOver("credits_used_up", {"decision": "credits_used_up"})


def decide(chat: Conversation, message: Message, burst: Sequence[Message]) -> Decision:
    """What to say to a message and those just before it, as the client wants its bot to act.

    Reads, computes and holds credits; writes nothing but the calls of functions.
    """
    return _as_wanted(_decide(chat, message, burst), message, chat.client.config)


def _as_wanted(decision: Decision, message: Message, config: ClientConfig) -> Decision:
    """The decision, or what the bot says instead where its client does not want the handover."""
    if isinstance(decision, Said):
        return decision
    if decision.reason == "no_answer" and not config.handoff_on_no_answer:
        return Said(canned_replies.unknown(language=message.language), receipt=decision.receipt)
    if decision.reason == "customer_asked" and not config.handoff_on_request:
        said = canned_replies.no_person(language=message.language)
        return Said(said, receipt={"decision": "handoff_not_wanted"})
    return decision


def _decide(chat: Conversation, message: Message, burst: Sequence[Message]) -> Decision:
    if chat.bot.is_disabled:
        return HandOver("bot_disabled")
    texts = [one.text for one in burst if one.text.strip()]
    if not texts:
        return HandOver("files_only")  # the bot reads no pictures and hears no sounds
    word = confirmations.customers_word(chat, message, texts[-1])
    if word and word.text:
        return Said(word.text, receipt=word.receipt)
    if any(map(intents.asks_for_person, texts)):
        return HandOver("customer_asked")
    kind = intents.small_talk(texts[-1])
    # A question is not lost between a greeting and a thank-you.
    text = "\n".join(one for one in texts if not intents.small_talk(one))
    if kind and not text and not word:
        said = canned_replies.reply(kind, language=message.language, bot=chat.bot)
        return Said(said, receipt={"decision": "small_talk", "kind": kind})
    if not billing.hold(message):
        return NOTHING_LEFT
    if word:
        # Its "yes" is no question that a document answers.
        return ask_model(chat, message, texts[-1], None, {}, confirmations.turn(chat, message))
    return _think(chat, message, burst[0].seq, text)


def _think(chat: Conversation, message: Message, since_seq: int, text: str) -> Decision:
    """Look it up, and let an engine answer from what was found."""
    found = retrieval.search(chat.bot, text, language=message.language)
    threshold = chat.client.config.answer_threshold
    receipt = _receipt(chat, found, threshold)
    turn = confirmations.turn(chat, message)
    if found.gate < threshold or not found.hits:
        if turn is None:
            return HandOver("no_answer", receipt | {"decision": "below_gate"})
        # No document knows where an order is: a function may.
        return ask_model(chat, message, text, None, receipt, turn, since_seq=since_seq)
    if engines.can_write(engines.engine_for(chat.client, chat.bot)):
        return ask_model(chat, message, text, found, receipt, turn, since_seq=since_seq)
    return _quote(message, text, found, threshold, receipt)


def _receipt(chat: Conversation, found: Found, threshold: float) -> dict[str, Any]:
    """What the decision rested on, for whoever asks why the bot said this."""
    return {
        "gate": round(found.gate, 4),
        "threshold": threshold,
        "chunks": [{"id": hit.chunk.id, "score": round(float(hit.score), 4)} for hit in found.hits],
        "knowledge_version": chat.bot.knowledge_version,
        "attempt": jobs.current_attempt(),
    }


def _quote(
    message: Message, text: str, found: Found, threshold: float, receipt: dict[str, Any]
) -> Decision:
    """The extractive answer: words of the documents, and where they stand."""
    extract = embedded.extract(text, language=message.language, found=found, threshold=threshold)
    if extract is None:
        return HandOver("no_answer", receipt | {"decision": "nothing_to_quote"})
    for sentence in chunking.split_sentences(extract.text):
        ReplyStream(message.pk).delta(f"{sentence} ")
    citations = [asdict(citation) for citation in extract.citations]
    return Said(
        extract.text,
        citations,
        receipt | {"decision": "answered", "engine": "embedded", "model": "extractive"},
    )


def ask_model(
    chat: Conversation,
    message: Message,
    text: str,
    found: Found | None,
    receipt: dict[str, Any],
    turn: function_calls.Turn | None = None,
    *,
    since_seq: int | None = None,
) -> Decision:
    """The model's answer; the extractive one, or a person, where it fails.

    `found` None: no document answers, and `turn`, what may be called, is all there is. The past
    is what was said before `since_seq`, or before the message.
    """
    prompt = Prompt.objects.filter(bot=chat.bot, is_current=True).first()
    past = _history(chat, before=since_seq or message.seq)
    question = _question(message, text, past, found, prompt)
    receipt = receipt | {
        "engine": OpenAICompatible.name,
        "prompt_version": prompt.version if prompt else None,
        "calls": turn.call_ids if turn else [],
    }
    stream = ReplyStream(message.pk)
    try:
        made = engines.engine_for(chat.client, chat.bot, prompt=prompt).answer(
            question,
            on_delta=stream.delta,
            deadline_seconds=settings.LLM_DEADLINE_SECONDS,
            toolbox=turn.toolbox(stream.reset) if turn else None,
        )
    except function_calls.ApprovalNeeded as needed:
        return _wait_for(needed.call, message, receipt)
    except types.EngineError as exc:
        return _without_model(chat, message, text, found, receipt, turn, exc)
    return Said(
        made.text,
        [asdict(citation) for citation in made.citations],
        receipt | {"decision": "answered", "model": made.model, "usage": _tokens(made.usage)},
    )


def _tokens(usage: types.Usage | None) -> dict[str, int] | None:
    return asdict(usage) if usage else None


def _question(
    message: Message,
    text: str,
    past: tuple[types.Line, ...],
    found: Found | None,
    prompt: Prompt | None,
) -> types.Question:
    return types.Question(
        text=text,
        language=message.language,
        instructions=prompt.content if prompt else "",
        history=past,
        snippets=retrieval.snippets(found) if found else (),
    )


def _without_model(
    chat: Conversation,
    message: Message,
    text: str,
    found: Found | None,
    receipt: dict[str, Any],
    turn: function_calls.Turn | None,
    error: types.EngineError,
) -> Decision:
    """What follows where the model gave no answer that can be used."""
    log.warning("the model gave no usable answer: %s", error)
    ReplyStream(message.pk).reset()
    receipt |= {"engine_error": str(error)[:300], "usage": _tokens(error.usage)}
    if turn and turn.has_acted:
        # No quotation tells of what was done, and "not found" would hide it.
        return HandOver("engine_failed", receipt | {"decision": "engine_failed"})
    if isinstance(error, types.Refused):
        return HandOver("no_answer", receipt | {"decision": "model_refused"})
    if found is not None:
        return _fall_back(chat, message, text, found, receipt)
    reason = "no_answer" if isinstance(error, types.NotGrounded) else "engine_failed"
    return HandOver(reason, receipt | {"decision": reason})


def _wait_for(call: FunctionCall, message: Message, receipt: dict[str, Any]) -> Decision:
    """A person must agree first: the customer is asked, or an agent gets the conversation."""
    receipt |= confirmations.receipt_of(call)
    if call.requires_approval == Approval.CUSTOMER:
        return Said(confirmations.question_for(call, language=message.language), receipt=receipt)
    return HandOver("approval_needed", receipt)


def _fall_back(
    chat: Conversation, message: Message, text: str, found: Found, receipt: dict[str, Any]
) -> Decision:
    config = chat.client.config
    if not config.fallback_to_extractive:
        return HandOver("engine_failed", receipt | {"decision": "engine_failed"})
    return _quote(message, text, found, config.answer_threshold, receipt)


def _history(chat: Conversation, *, before: int) -> tuple[types.Line, ...]:
    rows = messages.history(chat).filter(seq__gt=chat.read_from_seq, seq__lt=before)
    rows = rows.order_by("-seq")[:HISTORY_LINES]
    return tuple(
        types.Line(
            "customer" if row.sender_type == SenderType.CUSTOMER else "assistant",
            row.text,
        )
        for row in reversed(rows)
    )
