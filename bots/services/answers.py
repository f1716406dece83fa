"""How a bot answers: search, gate, engine, and what follows if the engine fails.

Knows a bot and a customer's turn, and nothing of conversations and messages.
"""

import logging
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol

from bots.engine import Capability, Engine
from bots.engine.embedded import EmbeddedEngine
from bots.engine.types import Citation, EngineError, Line, NotGrounded, Question, Refused, Usage
from bots.knowledge.search import SearchResult
from bots.models import Bot, FunctionCall
from bots.services import function_runner, prompt_versions, retrieval
from bots.services.function_runner import ApprovalNeeded, FunctionRunner

log = logging.getLogger(__name__)
MAX_ERROR_CHARS = 300

# Why there is no answer, in the words of the receipt.
NoAnswer = Literal["below_gate", "nothing_to_quote", "model_refused", "no_answer", "engine_failed"]


@dataclass(frozen=True)
class Turn:
    """What a customer said, and the terms on which the bot answers it."""

    text: str
    language: str
    history: tuple[Line, ...]
    engine: Engine
    subject: function_runner.Subject
    threshold: float
    fallback_to_extractive: bool
    deadline_seconds: float
    # Which attempt of the job this is, for the receipt.
    attempt: int = 0
    # No document answers a mere "yes".
    search: bool = True
    # A person has agreed to a call: the answer tells its result.
    follows_call: bool = False


class Listener(Protocol):
    """Follows an answer while it is made."""

    def delta(self, text: str) -> None:
        """A further piece of the text."""

    def reset(self) -> None:
        """The pieces so far do not count."""


@dataclass(frozen=True)
class ScoredChunk:
    id: int
    score: float


@dataclass(frozen=True)
class Evidence:
    """What the search found for a turn."""

    gate: float
    threshold: float
    chunks: tuple[ScoredChunk, ...]
    knowledge_version: int
    attempt: int


@dataclass(frozen=True)
class Trace:
    """How an answer came about, or why there is none."""

    evidence: Evidence | None = None
    engine: str | None = None
    model: str | None = None
    usage: Usage | None = None
    # The model failed: its error.
    engine_error: str | None = None
    # A model was asked: with which prompt, and which functions were called.
    calls: tuple[str, ...] | None = None
    prompt_version: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields that apply, as they are stored."""
        fields: dict[str, Any] = asdict(self.evidence) if self.evidence else {}
        if self.calls is not None:
            fields |= {"calls": list(self.calls), "prompt_version": self.prompt_version}
        if self.engine_error is not None:
            fields |= {"engine_error": self.engine_error, "usage": None}
        if self.usage is not None:
            fields["usage"] = asdict(self.usage)
        if self.engine is not None:
            fields["engine"] = self.engine
        if self.model is not None:
            fields["model"] = self.model
        return fields


@dataclass(frozen=True)
class Answered:
    text: str
    citations: tuple[Citation, ...]
    trace: Trace


@dataclass(frozen=True)
class NeedsApproval:
    """A person must agree to a call before the answer can go on."""

    call: FunctionCall
    trace: Trace


@dataclass(frozen=True)
class Unanswered:
    reason: NoAnswer
    trace: Trace


Outcome = Answered | NeedsApproval | Unanswered


def answer(bot: Bot, turn: Turn, on: Listener) -> Outcome:
    """Answer a turn from the bot's documents and functions. Writes nothing but calls."""
    result = retrieval.search(bot, turn.text, language=turn.language) if turn.search else None
    trace = Trace(None if turn.follows_call or not result else _evidence(bot, turn, result))
    if result and (result.gate < turn.threshold or not result.hits):
        result = None
    if Capability.WRITE in turn.engine.capabilities:
        return _compose(bot, turn, result, trace, on)
    if result is None and not turn.follows_call:
        return Unanswered("below_gate", trace)
    return _quote(_question(turn, result), trace, on)


def _question(turn: Turn, result: SearchResult | None) -> Question:
    return Question(
        turn.text,
        turn.language,
        instructions="",
        history=turn.history,
        snippets=(),
        search_result=result,
    )


def _evidence(bot: Bot, turn: Turn, result: SearchResult) -> Evidence:
    chunks = (ScoredChunk(hit.chunk.id, round(float(hit.score), 4)) for hit in result.hits)
    return Evidence(
        gate=round(result.gate, 4),
        threshold=turn.threshold,
        chunks=tuple(chunks),
        knowledge_version=bot.knowledge_version,
        attempt=turn.attempt,
    )


def _quote(question: Question, trace: Trace, on: Listener) -> Outcome:
    """The extractive answer: sentences of the documents."""
    engine = EmbeddedEngine()
    try:
        quoted = engine.answer(question, on_delta=on.delta)
    except Refused:
        return Unanswered("nothing_to_quote", trace)
    return Answered(
        quoted.text, quoted.citations, replace(trace, engine=engine.name, model=quoted.model)
    )


def _compose(
    bot: Bot, turn: Turn, result: SearchResult | None, trace: Trace, on: Listener
) -> Outcome:
    """The model's answer; the extractive one, or none, if it fails."""
    seconds = turn.deadline_seconds
    functions = function_runner.for_turn(turn.engine, bot, turn.subject, seconds=seconds)
    # No document knows where an order is: a function may.
    if result is None and functions is None and not turn.follows_call:
        return Unanswered("below_gate", trace)
    prompt = prompt_versions.find_current(bot.pk)
    question = replace(
        _question(turn, result),
        snippets=retrieval.snippets(result) if result else (),
        instructions=prompt.content if prompt else "",
        model=prompt.model if prompt else "",
        temperature=prompt.temperature if prompt else None,
    )

    def traced(**fields: Any) -> Trace:
        return replace(
            trace,
            engine=turn.engine.name,
            prompt_version=prompt.version if prompt else None,
            calls=tuple(functions.call_ids) if functions else (),
            **fields,
        )

    try:
        composed = turn.engine.answer(
            question,
            on_delta=on.delta,
            deadline_seconds=seconds,
            toolbox=functions.toolbox(before_call=on.reset) if functions else None,
        )
    except ApprovalNeeded as needed:
        return NeedsApproval(needed.call, traced())
    except EngineError as error:
        log.warning("the model gave no usable answer: %s", error)
        on.reset()
        failed = traced(engine_error=str(error)[:MAX_ERROR_CHARS], usage=error.usage)
        reason = _final_reason(error, question, functions, turn)
        return Unanswered(reason, failed) if reason else _quote(question, failed, on)
    return Answered(
        composed.text, composed.citations, traced(model=composed.model, usage=composed.usage)
    )


def _final_reason(
    error: EngineError, question: Question, functions: FunctionRunner | None, turn: Turn
) -> NoAnswer | None:
    """Why a failed model ends the turn; None if the documents may be quoted instead."""
    if functions and functions.has_acted:
        # No quotation tells what was done, and "not found" would hide it.
        return "engine_failed"
    if isinstance(error, Refused):
        return "model_refused"
    if question.search_result is None:
        return "no_answer" if isinstance(error, NotGrounded) else "engine_failed"
    return None if turn.fallback_to_extractive else "engine_failed"
