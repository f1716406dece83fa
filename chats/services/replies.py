"""The bot's reply: find, think, say, or hand over to a person."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from bots.engine import embedded, types
from bots.engine.openai_compatible import OpenAICompatible
from bots.knowledge import chunking
from bots.knowledge.search import Found
from bots.models import Prompt
from bots.services import retrieval
from chatplatform import jobs, live
from chats.models import AssignType, Conversation, Message, SenderType, Status, text_content
from chats.services import conversations, courtesies, handoffs, messages
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


def answer(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """Answer a customer's message, or hand the conversation over; may be called twice.

    `earlier`: messages that came so shortly before it that one reply is for all of them.
    """
    message = _load(message_id)
    if message is None:
        return  # deleted meanwhile: nobody waits
    chat = message.conversation
    if _answered(message) or not _is_bots_turn(chat):
        _tell_listeners(message)
        return
    if jobs.current_attempt() > 1:
        live.push(_stream(message), "reset", {})
    burst = _burst(message, earlier)
    decision = _kept(_decide(chat, message, burst), message, chat.client.config)
    try:
        _say(chat, message, decision, earlier=earlier)
    except IntegrityError:
        # message_one_reply: another worker's reply was first; ours is dropped.
        if not _answered(message):
            raise
    _tell_listeners(message)


def give_up(message_id: str, *, earlier: Sequence[str] = ()) -> None:
    """No attempt is left: a person must answer."""
    message = _load(message_id)
    if message is None:
        return
    if not _answered(message):
        _say(
            message.conversation, message, HandOver("engine_failed"), earlier=earlier, leased=False
        )
    _tell_listeners(message)


def _load(message_id: str) -> Message | None:
    rows = Message.objects.select_related(
        "conversation__bot", "conversation__client__config", "conversation__customer"
    )
    return rows.filter(pk=message_id).first()


def _burst(message: Message, earlier: Sequence[str]) -> list[Message]:
    """The messages that one reply is for, in their order."""
    if not earlier:
        return [message]
    rows = Message.objects.filter(pk__in=earlier, conversation_id=message.conversation_id)
    return [*rows.order_by("seq"), message]


def _answered(message: Message) -> bool:
    return Message.objects.filter(
        in_reply_to=message, sender_type__in=[SenderType.BOT, SenderType.SYSTEM]
    ).exists()


def _is_bots_turn(chat: Conversation) -> bool:
    return chat.status == Status.OPEN and chat.assign_type == AssignType.BOT


def _stream(message: Message) -> str:
    return f"reply:{message.pk}"


def _tell_listeners(message: Message) -> None:
    live.push(_stream(message), "done", {})


def _kept(decision: Decision, message: Message, config: ClientConfig) -> Decision:
    """The decision, or what the bot says instead where its client does not want the handover."""
    if isinstance(decision, Said):
        return decision
    if decision.reason == "no_answer" and not config.handoff_on_no_answer:
        return Said(courtesies.unknown(language=message.language), receipt=decision.receipt)
    if decision.reason == "customer_asked" and not config.handoff_on_request:
        said = courtesies.no_person(language=message.language)
        return Said(said, receipt={"decision": "handoff_not_wanted"})
    return decision


def _decide(chat: Conversation, message: Message, burst: Sequence[Message]) -> Decision:
    """What to say to a message and those just before it; reads and computes, writes nothing."""
    if chat.bot.is_disabled:
        return HandOver("bot_disabled")
    texts = [one.text for one in burst]
    if not any(text.strip() for text in texts):
        return HandOver("files_only")  # the bot reads no pictures and hears no sounds
    if any(map(embedded.asks_for_person, texts)):
        return HandOver("customer_asked")
    kind = embedded.small_talk(texts[-1])
    # A question is not lost between a greeting and a thank-you.
    text = "\n".join(one for one in texts if not embedded.small_talk(one))
    if kind and not text:
        said = courtesies.reply(kind, language=message.language, bot=chat.bot)
        return Said(said, receipt={"decision": "small_talk", "kind": kind})
    found = retrieval.search(chat.bot, text, language=message.language)
    threshold = chat.client.config.answer_threshold
    receipt = _receipt(chat, found, threshold)
    if found.gate < threshold or not found.hits:
        return HandOver("no_answer", receipt | {"decision": "below_gate"})
    if settings.LLM_BASE_URL:
        return _ask_model(chat, message, burst[0].seq, text, found, receipt)
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
    extract = embedded.answer(text, language=message.language, found=found, threshold=threshold)
    if extract is None:
        return HandOver("no_answer", receipt | {"decision": "nothing_to_quote"})
    for sentence in chunking.split_sentences(extract.text):
        live.push(_stream(message), "delta", {"text": f"{sentence} "})
    citations = [
        {
            "document_id": cited.document_id,
            "title": cited.title,
            "url": cited.url,
            "page": cited.page,
            "quote": cited.quote,
        }
        for cited in extract.citations
    ]
    return Said(
        extract.text,
        citations,
        receipt | {"decision": "answered", "engine": "embedded", "model": "extractive"},
    )


def _ask_model(
    chat: Conversation,
    message: Message,
    since_seq: int,
    text: str,
    found: Found,
    receipt: dict[str, Any],
) -> Decision:
    """The model's answer to what was said since `since_seq`; the extractive one, or a person,
    where it fails.
    """
    prompt = Prompt.objects.filter(bot=chat.bot, is_current=True).first()
    snippets = tuple(
        types.Snippet(
            n, hit.chunk.id, hit.chunk.document_id, hit.chunk.title, hit.chunk.url, hit.chunk.text
        )
        for n, hit in enumerate(found.hits, 1)
    )
    question = types.Question(
        text=text,
        language=message.language,
        instructions=prompt.content if prompt else "",
        history=_history(chat, before=since_seq),
        snippets=snippets,
    )
    engine = OpenAICompatible(settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_MODEL)
    receipt = receipt | {
        "engine": engine.name,
        "prompt_version": prompt.version if prompt else None,
    }
    try:
        made = engine.answer(
            question,
            on_delta=lambda piece: live.push(_stream(message), "delta", {"text": piece}),
            deadline_seconds=settings.LLM_DEADLINE_SECONDS,
        )
    except types.Refused:
        return HandOver("no_answer", receipt | {"decision": "model_refused"})
    except types.EngineError as exc:
        log.warning("the model gave no usable answer: %s", exc)
        live.push(_stream(message), "reset", {})
        return _fall_back(chat, message, text, found, receipt | {"engine_error": str(exc)[:300]})
    tokens = {
        "prompt_tokens": made.usage.prompt_tokens,
        "completion_tokens": made.usage.completion_tokens,
    }
    return Said(
        made.text,
        [_citation(snippets[n - 1]) for n in made.cited],
        receipt | {"decision": "answered", "model": made.model, "usage": tokens},
    )


def _fall_back(
    chat: Conversation, message: Message, text: str, found: Found, receipt: dict[str, Any]
) -> Decision:
    config = chat.client.config
    if not config.fallback_to_extractive:
        return HandOver("engine_failed", receipt | {"decision": "engine_failed"})
    return _quote(message, text, found, config.answer_threshold, receipt)


def _citation(snippet: types.Snippet) -> dict[str, Any]:
    return {
        "document_id": snippet.document_id,
        "title": snippet.title,
        "url": snippet.url,
        "page": None,
        "quote": snippet.text[:500],
    }


def _history(chat: Conversation, *, before: int) -> tuple[types.Line, ...]:
    rows = messages.history(chat).filter(seq__gt=chat.read_from_seq, seq__lt=before)
    rows = rows.order_by("-seq")[:HISTORY_LINES]
    return tuple(
        types.Line(
            "customer" if row.sender_type == SenderType.CUSTOMER else "assistant",
            row.content[0].get("text") or "",
        )
        for row in reversed(rows)
    )


def _say(
    chat: Conversation,
    message: Message,
    decision: Decision,
    *,
    earlier: Sequence[str] = (),
    leased: bool = True,
) -> None:
    """Store the decision, unless the conversation changed hands while it was being made."""
    receipt = decision.receipt | ({"answers": [*earlier, str(message.pk)]} if earlier else {})
    with transaction.atomic():
        if leased:
            jobs.hold_lease()
        locked = conversations.lock(chat)
        if locked.version != chat.version or not _is_bots_turn(locked):
            log.info("reply to %s dropped: the conversation changed hands", message.pk)
            return
        if isinstance(decision, HandOver):
            handoffs.hand_over(
                locked,
                reason=decision.reason,
                language=message.language,
                in_reply_to=message,
                receipt=receipt,
            )
            return
        messages.append(
            locked,
            author=messages.Author(SenderType.BOT, str(chat.bot_id), chat.bot.bot_name),
            content=text_content(decision.text),
            language=message.language,
            in_reply_to=message,
            citations=decision.citations,
            receipt=receipt,
        )
