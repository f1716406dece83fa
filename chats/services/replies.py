"""The bot's reply: find, think, say, or hand over to a person."""

import logging
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from bots.engine import embedded, types
from bots.engine.openai_compatible import OpenAICompatible
from bots.knowledge import chunking
from bots.knowledge.search import Found
from bots.models import Approval, FunctionCall, Prompt
from bots.services import function_calls, retrieval
from chatplatform import jobs, live
from chats.models import AssignType, Conversation, Message, SenderType, Status, text_content
from chats.services import actions, conversations, courtesies, messages
from identity.services import credits

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


def answer(message_id: str) -> None:
    """Answer a customer's message, or hand the conversation over; may be called twice."""
    message = load(message_id)
    if message is None:
        return  # deleted meanwhile: nobody waits
    chat = message.conversation
    if _answered(message) or not _is_bots_turn(chat):
        _tell_listeners(message)
        return
    if jobs.current_attempt() > 1:
        live.push(_stream(message), "reset", {})
    decision = _decide(chat, message)
    try:
        _say(chat, message, decision)
    except IntegrityError:
        # message_one_reply: another worker's reply was first; ours is dropped.
        if not _answered(message):
            raise
    _tell_listeners(message)


def give_up(message_id: str) -> None:
    """No attempt is left: a person must answer."""
    message = load(message_id)
    if message is None:
        return
    if not _answered(message):
        _say(message.conversation, message, HandOver("engine_failed"), leased=False)
    _tell_listeners(message)


def load(message_id: str) -> Message | None:
    """A customer's message with all that a reply to it needs; None where it was deleted."""
    rows = Message.objects.select_related(
        "conversation__bot", "conversation__client__config", "conversation__customer"
    )
    return rows.filter(pk=message_id).first()


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


def _decide(chat: Conversation, message: Message) -> Decision:
    """What to say to a message; holds credits, and writes nothing but the calls of functions."""
    if chat.bot.is_disabled:
        return HandOver("bot_disabled")
    text = message.content[0]["text"]
    word = actions.customers_word(chat, message, text)
    if word and word.text:
        return Said(word.text, receipt=word.receipt)
    if embedded.asks_for_person(text):
        return HandOver("customer_asked")
    if word:
        if not _hold_credits(message):
            return HandOver("credits_used_up", {"decision": "credits_used_up"})
        # Its "yes" is no question that a document answers.
        return ask_model(chat, message, text, None, {}, actions.turn(chat, message))
    kind = embedded.small_talk(text)
    if kind:
        said = courtesies.reply(kind, language=message.language, bot=chat.bot)
        return Said(said, receipt={"decision": "small_talk", "kind": kind})
    if not _hold_credits(message):
        return HandOver("credits_used_up", {"decision": "credits_used_up"})
    found = retrieval.search(chat.bot, text, language=message.language)
    threshold = chat.client.config.answer_threshold
    receipt = _receipt(chat, found, threshold)
    turn = actions.turn(chat, message)
    if found.gate < threshold or not found.hits:
        if turn is None:
            return HandOver("no_answer", receipt | {"decision": "below_gate"})
        # No document knows where an order is: a function may.
        return ask_model(chat, message, text, None, receipt, turn)
    if settings.LLM_BASE_URL:
        return ask_model(chat, message, text, found, receipt, turn)
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


def ask_model(
    chat: Conversation,
    message: Message,
    text: str,
    found: Found | None,
    receipt: dict[str, Any],
    turn: function_calls.Turn | None = None,
) -> Decision:
    """The model's answer; the extractive one, or a person, where it fails.

    `found` None: no document answers, and `turn`, what may be called, is all there is.
    """
    prompt = Prompt.objects.filter(bot=chat.bot, is_current=True).first()
    question = _question(chat, message, text, found, prompt)
    engine = OpenAICompatible(
        settings.LLM_BASE_URL,
        settings.LLM_API_KEY,
        (prompt and prompt.model) or settings.LLM_MODEL,
        temperature=prompt.temperature if prompt else None,
    )
    receipt = receipt | {
        "engine": engine.name,
        "prompt_version": prompt.version if prompt else None,
        "calls": turn.call_ids if turn else [],
    }
    stream = _stream(message)
    try:
        made = engine.answer(
            question,
            on_delta=lambda piece: live.push(stream, "delta", {"text": piece}),
            deadline_seconds=settings.LLM_DEADLINE_SECONDS,
            toolbox=turn.toolbox(lambda: live.push(stream, "reset", {})) if turn else None,
        )
    except function_calls.ApprovalNeeded as needed:
        return _wait_for(needed.call, message, receipt)
    except types.EngineError as exc:
        return _without_model(chat, message, text, found, receipt, turn, exc)
    return Said(
        made.text,
        [_citation(question.snippets[n - 1]) for n in made.cited],
        receipt | {"decision": "answered", "model": made.model, "usage": _tokens(made.usage)},
    )


def _tokens(usage: types.Usage | None) -> dict[str, int] | None:
    return asdict(usage) if usage else None


def _question(
    chat: Conversation, message: Message, text: str, found: Found | None, prompt: Prompt | None
) -> types.Question:
    return types.Question(
        text=text,
        language=message.language,
        instructions=prompt.content if prompt else "",
        history=_history(chat, message),
        snippets=tuple(
            types.Snippet(
                n,
                hit.chunk.id,
                hit.chunk.document_id,
                hit.chunk.title,
                hit.chunk.url,
                hit.chunk.text,
                is_important=hit.chunk.is_important,
                dated=hit.chunk.dated,
            )
            for n, hit in enumerate(found.hits if found else (), 1)
        ),
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
    live.push(_stream(message), "reset", {})
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
    receipt |= actions.receipt_of(call)
    if call.requires_approval == Approval.CUSTOMER:
        return Said(actions.question_for(call, language=message.language), receipt=receipt)
    return HandOver("approval_needed", receipt)


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


def _history(chat: Conversation, message: Message) -> tuple[types.Line, ...]:
    rows = messages.history(chat).filter(seq__lt=message.seq).order_by("-seq")[:HISTORY_LINES]
    return tuple(
        types.Line(
            "customer" if row.sender_type == SenderType.CUSTOMER else "assistant",
            row.content[0].get("text") or "",
        )
        for row in reversed(rows)
    )


def _say(chat: Conversation, message: Message, decision: Decision, *, leased: bool = True) -> None:
    """Store the decision, unless the conversation changed hands while it was being made."""
    with transaction.atomic():
        if leased:
            jobs.hold_lease()
        locked = conversations.lock(chat)
        if locked.version != chat.version or not _is_bots_turn(locked):
            log.info("reply to %s dropped: the conversation changed hands", message.pk)
            credits.release(chat.client_id, reference=_reference(message))
            return
        decision = _charged(message, decision)
        if isinstance(decision, HandOver):
            _tell_and_hand_over(locked, message, decision)
            return
        messages.append(
            locked,
            author=messages.Author(SenderType.BOT, str(chat.bot_id), chat.bot.bot_name),
            content=text_content(decision.text),
            language=message.language,
            in_reply_to=message,
            citations=decision.citations,
            receipt=decision.receipt,
        )


def _tell_and_hand_over(chat: Conversation, message: Message, decision: HandOver) -> None:
    told = courtesies.handover(
        reason=decision.reason, language=message.language, config=chat.client.config
    )
    messages.append(
        chat,
        author=messages.Author(SenderType.SYSTEM),
        content=text_content(told),
        language=message.language,
        in_reply_to=message,
        receipt=decision.receipt | {"handoff_reason": decision.reason},
    )
    if decision.reason == "approval_needed":
        actions.note_for_agents(chat, decision.receipt)
    conversations.hand_over(chat, reason=decision.reason)


def _reference(message: Message) -> str:
    return f"reply:{message.pk}"


def _hold_credits(message: Message) -> bool:
    """Whether the client can pay for a reply; holds the most that it may cost."""
    cost = credits.MODEL_REPLY if settings.LLM_BASE_URL else credits.EMBEDDED_TASK
    try:
        credits.reserve(message.client_id, cost=cost, reference=_reference(message))
    except credits.InsufficientCredits:
        return False
    return True


def _charged(message: Message, decision: Decision) -> Decision:
    """Pay for the decision in the transaction that stores it; its receipt says what was paid."""
    price = _price(decision.receipt)
    if price:
        paid = credits.settle(message.client_id, used=price, reference=_reference(message))
        return replace(decision, receipt=decision.receipt | {"credits": paid})
    credits.release(message.client_id, reference=_reference(message))
    return replace(decision, receipt=decision.receipt | {"credits": 0})


def _price(receipt: dict[str, Any]) -> int:
    """Tokens cost also where the model refused; what the platform's own reading did not find
    costs nothing."""
    usage = receipt.get("usage")
    if usage:
        return credits.of_tokens(usage["prompt_tokens"] + usage["completion_tokens"])
    return credits.EMBEDDED_TASK if receipt.get("decision") == "answered" else 0
