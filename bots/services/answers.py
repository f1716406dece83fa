"""Answers a customer's message from a bot's documents and functions.

If no search result reaches the confidence threshold and there is no function to call, there is no
answer. If a model fails, the documents are quoted instead. No conversation is read or changed.
"""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol
from zoneinfo import ZoneInfo

from django.utils import timezone

from bots.engine import Capability, Engine, text_tasks
from bots.engine.extractive import ExtractiveEngine
from bots.engine.types import (
    EngineError,
    EngineUnavailable,
    Line,
    NotGrounded,
    Question,
    Refused,
    SentenceName,
    Snippet,
    Usage,
    no_sentence,
)
from bots.ingest.image_reencoding import Picture
from bots.language import intents
from bots.models import Approval, Bot, Prompt
from bots.search import question_splitting
from bots.search.answer_extraction import Citation
from bots.search.hybrid_index import MIN_FOREIGN_CONFIDENCE, Hit, SearchResult
from bots.search.question_splitting import Part
from bots.services import function_runner, prompt_versions, retrieval
from bots.services.function_call_approvals import ProposedCall
from bots.services.function_runner import ApprovalNeeded, FunctionRunner, ProcedureChosen
from bots.services.procedures import ParsedProcedure

log = logging.getLogger(__name__)
MAX_ERROR_CHARS = 300
# The minimum confidence for asking a model, unless the client's threshold is lower. If the passages
# are not in the question's language, it is `MIN_FOREIGN_CONFIDENCE`. See docs/models.md.
MODEL_THRESHOLD = 0.15
# The maximum numbers of passages per question: for a model, which chooses among them, and for
# quoting.
MODEL_PASSAGES, QUOTED_PASSAGES = 10, 5
# The share of an answer's time limit that a model may take to rewrite a message.
REWRITING_SHARE = 0.25

# Why there is no answer; stored as the receipt's `decision`.
NoAnswer = Literal["below_gate", "nothing_to_quote", "model_refused", "no_answer", "engine_failed"]


@dataclass(frozen=True)
class AnswerRequest:
    """A customer's message and the settings with which the bot answers it."""

    text: str
    language: str
    history: tuple[Line, ...]
    engine: Engine
    # The customer that functions are called for; None: no functions are called.
    subject: function_runner.Subject | None
    threshold: float
    fallback_to_extractive: bool
    deadline_seconds: float
    # Number of the job's attempt, for the trace.
    attempt: int = 0
    # Who approved the function call that the answer reports on; NONE: it reports on none.
    approved_by: Approval = Approval.NONE
    # Earlier answered questions, latest first, which a short question may refer to.
    topics: tuple[str, ...] = ()
    sentence: Callable[[SentenceName], str] = no_sentence
    # Names of the customer-info fields that the platform itself will ask for.
    wanted: tuple[str, ...] = ()
    # A change under test, used instead of the bot's index and current prompt.
    index: retrieval.AnyIndex | None = None
    prompt: Prompt | None = None
    # The delimiter around untrusted text in requests to the model, constant per chat; empty: each
    # request gets a new one.
    fence: str = ""
    # Pictures sent with the message, whose text may then be empty.
    pictures: tuple[Picture, ...] = ()
    # Whether the judge checks every answer of a model, not only doubtful ones.
    verify_answer: bool = False


class Listener(Protocol):
    """Receives the text of an answer while it is written."""

    def delta(self, text: str) -> None:
        """Add a piece of text."""

    def reset(self) -> None:
        """Discard the pieces received so far."""


@dataclass(frozen=True)
class ScoredPassage:
    id: int
    score: float


@dataclass(frozen=True)
class Evidence:
    """What the search found, as stored in the trace."""

    confidence: float
    threshold: float
    chunks: tuple[ScoredPassage, ...]
    knowledge_version: int
    attempt: int


@dataclass(frozen=True)
class Trace:
    """How the bot arrived at an answer, or at none."""

    evidence: Evidence | None = None
    engine: str | None = None
    model: str | None = None
    usage: Usage | None = None
    # Credits per 1,000 tokens of `usage`; not stored.
    price: int = 1
    # The error if a model failed.
    engine_error: str | None = None
    # The model was unreachable or gave no usable output; not stored.
    is_down: bool = False
    # The ids of the function calls made, and the prompt's version, if a model was asked.
    calls: tuple[str, ...] | None = None
    prompt_version: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields that have a value, as they are stored."""
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
    """The answer waits until a person approves a function call."""

    call: ProposedCall
    trace: Trace


class ProcedureBegins(Exception):
    """The model chose one of the bot's procedures, which runs instead of an answer."""

    def __init__(self, procedure: ParsedProcedure, trace: Trace) -> None:
        super().__init__(procedure.name)
        self.procedure, self.trace = procedure, trace


@dataclass(frozen=True)
class Unanswered:
    reason: NoAnswer
    trace: Trace


Outcome = Answered | NeedsApproval | Unanswered


def answer(bot: Bot, request: AnswerRequest, listener: Listener) -> Outcome:
    """Answer from the bot's documents and functions. Stores only function calls.

    Raises `ProcedureBegins` if a model starts one of the bot's procedures.
    """
    engine, is_after_call = request.engine, request.approved_by != Approval.NONE
    is_model = _has_model(request)
    if is_after_call and not is_model:
        # The model was removed after it requested the call; a quotation cannot report the result.
        return Unanswered("engine_failed", Trace())
    found: tuple[Part, ...] = ()
    trace, started = Trace(), time.monotonic()
    # A customer's approval, such as "yes", is not a question to search for.
    if request.approved_by != Approval.CUSTOMER:
        found, usage = _find(bot, request)
        seconds_left = request.deadline_seconds - (time.monotonic() - started)
        request = replace(request, deadline_seconds=seconds_left)
        evidence = _evidence(bot, request, found) if found and not is_after_call else None
        trace = Trace(evidence, usage=usage, price=engine.price)
        if not any(_passes(part, request) for part in found):
            found = ()
    functions = None
    if request.subject is not None:
        functions = function_runner.for_answer(
            request.engine, bot, request.subject, seconds=request.deadline_seconds
        )
    # Even if no document helps, a function may, such as one that looks up an order.
    if not found and functions is None and not is_after_call:
        return Unanswered("below_gate", trace)
    prompt = (request.prompt or prompt_versions.find_current(bot.pk)) if is_model else None
    question = Question(
        request.text,
        request.language,
        instructions=_instructions(prompt, request.wanted),
        history=request.history,
        snippets=_snippets(found, request) if is_model else (),
        found=found,
        threshold=request.threshold,
        sentence=request.sentence,
        model=prompt.model if prompt else "",
        temperature=prompt.temperature if prompt else None,
        setting=_role(bot) if is_model else "",
        now=_now(bot) if is_model else "",
        fence=request.fence,
        verify_answer=request.verify_answer,
        pictures=request.pictures,
    )
    if not is_model:
        return _quote(question, trace, listener)
    version = prompt.version if prompt else None
    trace = replace(trace, engine=engine.name, price=engine.price, prompt_version=version)
    return _compose(request, question, functions, trace, listener)


def _find(bot: Bot, request: AnswerRequest) -> tuple[tuple[Part, ...], Usage | None]:
    """The search results for each question of a message, and the tokens used to rewrite it.

    If nothing good enough is found for the rewritten message, the original message is searched for,
    together with the topics.
    """
    search = partial(
        retrieval.find,
        bot,
        language=request.language,
        threshold=request.threshold,
        index=request.index,
        limit=MODEL_PASSAGES if _has_model(request) else QUOTED_PASSAGES,
    )
    rewritten, usage = _rewrite(request)
    if rewritten:
        found = search(rewritten, topics=())
        if any(_passes(part, request) for part in found):
            return found, usage
    return search(request.text, topics=request.topics) if request.text else (), usage


def _rewrite(request: AnswerRequest) -> tuple[str, Usage | None]:
    """Let the model rewrite a message as a question that stands alone; return the question and the
    tokens used.

    Only follow-ups and messages with pictures are rewritten. The question is empty for other
    messages, for messages that already stand alone, and if there is no model or it fails. The
    tokens are None if no model was asked or it reported none.
    """
    is_follow_up = request.topics and question_splitting.refers_back(request.text)
    if not (is_follow_up or request.pictures) or not _has_model(request):
        return "", None
    task = text_tasks.stand_alone(request.history, request.text, request.pictures)
    seconds = request.deadline_seconds * REWRITING_SHARE
    try:
        written = request.engine.complete(task, deadline_seconds=seconds)
    except EngineError as error:
        log.warning("the model did not rewrite a message: %s", error)
        return "", error.usage
    question = written.draft.question
    is_same = question.casefold() == request.text.strip().casefold()
    return "" if is_same else question, written.usage


def _role(bot: Bot) -> str:
    """The sentence that tells a model which role it plays."""
    name, company = (" ".join(text.split()) for text in (bot.bot_name, bot.client.name))
    return f"You are {name}, the assistant of {company}."


def _now(bot: Bot) -> str:
    """The local time, which a model needs for "are you open now?"."""
    now = timezone.now().astimezone(ZoneInfo(bot.client.timezone))
    return f"It is {now:%A, %Y-%m-%d, %H:%M} ({bot.client.timezone})."


def _instructions(prompt: Prompt | None, wanted: tuple[str, ...]) -> str:
    instructions = prompt_versions.instructions_of(prompt)
    if not wanted:
        return instructions
    return (
        f"{instructions}\nStill missing from the customer: {', '.join(wanted)}. The platform asks"
        " for it after your reply and reads the answers: do not ask for it yourself."
    )


def _passes(part: Part, request: AnswerRequest) -> bool:
    """Whether the search result is good enough to ask the engine.

    A model is asked even far below the client's threshold: it notices if no passage contains the
    answer, it knows more synonyms than the search, and the search is rarely confident about
    passages in another language.
    """
    if not _has_model(request):
        return part.passes(request.threshold)
    for result in filter(None, (part.result, part.alone)):
        enough = MIN_FOREIGN_CONFIDENCE if result.features.is_cross_language else MODEL_THRESHOLD
        if result.reaches(min(request.threshold, enough)):
            return True
    return False


def _has_model(request: AnswerRequest) -> bool:
    return Capability.WRITE in request.engine.capabilities


def _read(part: Part, request: AnswerRequest) -> Iterator[SearchResult]:
    """The search results that the engine reads for a question. A model also reads what was found
    for the question together with its topic."""
    if not _has_model(request) or part.alone is None or part.with_topic is None:
        yield part.result
    else:
        yield part.result if part.result.hits else part.alone
        yield part.with_topic


def _snippets(found: tuple[Part, ...], request: AnswerRequest) -> tuple[Snippet, ...]:
    passing = (part for part in found if _passes(part, request))
    return retrieval.snippets(result for part in passing for result in _read(part, request))


def _evidence(bot: Bot, request: AnswerRequest, found: tuple[Part, ...]) -> Evidence:
    hits: dict[int, Hit] = {}
    for hit in (hit for part in found for result in _read(part, request) for hit in result.hits):
        hits.setdefault(hit.passage.id, hit)
    passages = (ScoredPassage(number, round(float(hit.score), 4)) for number, hit in hits.items())
    return Evidence(
        confidence=round(max(part.result.confidence for part in found), 4),
        threshold=request.threshold,
        chunks=tuple(passages),
        knowledge_version=bot.knowledge_version,
        attempt=request.attempt,
    )


def _compose(
    request: AnswerRequest,
    question: Question,
    functions: FunctionRunner | None,
    trace: Trace,
    listener: Listener,
) -> Outcome:
    """The model's answer, or the call that needs approval first; if the model fails, a quotation or
    no answer. Raises `ProcedureBegins`."""

    def traced(*, usage: Usage | None = None, **fields: Any) -> Trace:
        total = usage.plus(trace.usage) if usage else trace.usage
        calls = tuple(functions.call_ids) if functions else ()
        return replace(trace, calls=calls, usage=total, **fields)

    try:
        composed = request.engine.answer(
            question,
            on_delta=listener.delta,
            deadline_seconds=request.deadline_seconds,
            toolbox=functions.toolbox(before_call=listener.reset) if functions else None,
        )
    except ProcedureChosen as chosen:
        raise ProcedureBegins(chosen.procedure, traced(usage=chosen.usage)) from None
    except ApprovalNeeded as needed:
        return NeedsApproval(ProposedCall.from_row(needed.call), traced(usage=needed.usage))
    except EngineError as error:
        log.warning("the model gave no usable answer: %s", error)
        listener.reset()
        failed = traced(
            engine_error=str(error)[:MAX_ERROR_CHARS],
            is_down=isinstance(error, EngineUnavailable),
            usage=error.usage,
        )
        has_acted = functions is not None and functions.has_acted
        reason = _final_reason(error, question, request, has_acted=has_acted)
        if reason:
            return Unanswered(reason, failed)
        is_doubted = isinstance(error, Refused)
        quoted = _quote(replace(question, is_doubted=is_doubted), failed, listener)
        is_quoted = isinstance(quoted, Answered)
        return Unanswered("model_refused", failed) if is_doubted and not is_quoted else quoted
    return Answered(
        composed.text, composed.citations, traced(model=composed.model, usage=composed.usage)
    )


def _quote(question: Question, trace: Trace, listener: Listener) -> Outcome:
    """An extractive answer: sentences quoted from the documents."""
    if intents.anything_else_answer(question.text, language=question.language):
        # A mere "yes", "no" or "ok" asks nothing, but any sentence with that word would be quoted.
        return Unanswered("nothing_to_quote", trace)
    engine = ExtractiveEngine()
    try:
        quoted = engine.answer(question, on_delta=listener.delta)
    except Refused:
        return Unanswered("nothing_to_quote", trace)
    return Answered(
        quoted.text, quoted.citations, replace(trace, engine=engine.name, model=quoted.model)
    )


def _final_reason(
    error: EngineError, question: Question, request: AnswerRequest, *, has_acted: bool
) -> NoAnswer | None:
    """Why there is no answer after a model failed; None if the documents may be quoted instead."""
    if has_acted:
        # A quotation could not report what the function did, and "not found" would hide it.
        return "engine_failed"
    is_refusal = isinstance(error, Refused)
    if not question.found and not is_refusal:
        return "no_answer" if isinstance(error, NotGrounded) else "engine_failed"
    if request.fallback_to_extractive and question.found:
        return None
    return "model_refused" if is_refusal else "engine_failed"
