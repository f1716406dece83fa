"""Golden runs: ask a bot's golden questions, compare results, publish or hold back changes."""

import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils.translation import gettext_noop

from bots.engine import Capability, Engine, text_tasks
from bots.engine.types import EngineError, Line
from bots.models import (
    Bot,
    Document,
    DocumentSource,
    GoldenOutcome,
    GoldenRun,
    GoldenStatus,
    Prompt,
)
from bots.schemas.golden import GoldenRunRequest
from bots.search import question_splitting
from bots.services import (
    answer_preview,
    answers,
    bots,
    document_changes,
    documents,
    engines,
    prompt_versions,
    publish_gate,
    retrieval,
)
from bots.services.answers import Answered, AnswerRequest, Outcome
from chatplatform import jobs
from chatplatform.api.errors import ApiError, first_or_404
from identity.models import User
from identity.services import audit, credits

# About how many messages one job sends to the bot. It is small because a worker that shuts down
# waits for its job to end.
MESSAGES_PER_JOB = 10
# The numbers of earlier lines and answered questions that the bot gets with a follow-up message.
_HISTORY_LINES, _TOPICS = 6, 3
# The maximum number of characters in a stored answer.
MAX_ANSWER = 500
_UNFINISHED = (GoldenStatus.QUEUED, GoldenStatus.RUNNING)
# In a stored error, the model server's own reason follows.
_MODEL_DOWN = gettext_noop("The model didn't answer")
_OVERTAKEN = gettext_noop(
    "Nothing is waiting for this run anymore. Its documents or instructions have since been"
    " published, deleted, or changed."
)


class GoldenRunning(ApiError):
    code, status = "golden_running", 409
    more: ClassVar = {"run_id": (uuid.UUID, "The id of the unfinished run.")}
    detail = gettext_noop("A test run is still in progress. Wait for it to finish.")


class _ModelDown(Exception):
    """The model did not answer; quoting the documents instead would not test the change."""


@dataclass(frozen=True)
class _Setup:
    """What the questions are asked with: the bot as it is, or with the change under test."""

    threshold: float
    index: retrieval.AnyIndex | None = None
    prompt: Prompt | None = None


def list_for_bot(bot: Bot) -> QuerySet[GoldenRun]:
    """The bot's runs with their `shown_outcome`, unordered."""
    return with_outcome(GoldenRun.objects.for_client(bot.client).filter(bot=bot))


def with_outcome(rows: QuerySet[GoldenRun]) -> QuerySet[GoldenRun]:
    """Annotate runs with `shown_outcome`: `overtaken` instead of `held` if nothing waits for them.

    Nothing waits for a run if none of its documents is still held back for it and, if the run tests
    a prompt, the bot already uses this prompt or a later one.
    """
    waiting = publish_gate.held().filter(bot=OuterRef("bot"), run_id=OuterRef("pk"))
    in_use = Prompt.objects.filter(
        bot=OuterRef("bot"), is_current=True, version__gte=OuterRef("prompt__version")
    )
    is_overtaken = (
        Q(outcome=GoldenOutcome.HELD) & ~Exists(waiting) & (Q(prompt=None) | Exists(in_use))
    )
    return rows.annotate(
        shown_outcome=Case(When(is_overtaken, then=Value("overtaken")), default="outcome")
    )


def get(bot: Bot, run_id: uuid.UUID) -> GoldenRun:
    """One of the bot's runs; 404 if there is none."""
    return first_or_404(list_for_bot(bot).select_related("prompt").filter(pk=run_id))


def start(bot: Bot, *, body: GoldenRunRequest, by: User) -> GoldenRun:
    """Start a run of all questions, optionally with a change to test.

    409 `golden_running` while another run that a person started is unfinished.
    """
    with transaction.atomic():
        locked = bots.lock(bot)
        running = list_for_bot(bot).filter(status__in=_UNFINISHED, is_publish_gate=False).first()
        if running:
            raise GoldenRunning(run_id=str(running.pk))
        version = body.prompt_version
        prompt = prompt_versions.get_version(bot, version=version) if version else None
        run = GoldenRun(bot=locked, prompt=prompt, threshold=body.threshold, created_by=by)
        publish_gate.start(run)
        _record(run, "golden_run.started", by)
    return get(bot, run.pk)


def publish(bot: Bot, run_id: uuid.UUID, *, by: User) -> GoldenRun:
    """Publish the changes that a run holds back; 409 `not_held` if nothing waits for the run."""
    with transaction.atomic():
        bots.lock(bot)
        run = get(bot, run_id)
        if run.outcome != GoldenOutcome.HELD:
            raise publish_gate.NotHeld
        if not (_is_prompt_waiting(run) or _held_documents(run).exists()):
            raise publish_gate.NotHeld(_OVERTAKEN)
        _publish_tested(run)
        _record(run, "golden_run.published", by)
    return get(bot, run_id)


def discard(bot: Bot, run_id: uuid.UUID, *, by: User) -> GoldenRun:
    """Discard the document changes that wait for a run: new documents are deleted, others keep
    their live version. 409 `not_held` if no document waits for the run."""
    with transaction.atomic():
        bots.lock(bot)
        run = get(bot, run_id)
        rows = list(_held_documents(run).select_related("bot"))
        if not rows:
            raise publish_gate.NotHeld
        for document in rows:
            documents.discard_change(document, by=by)
        _record(run, "golden_run.discarded", by)
    return get(bot, run_id)


def ask_next(run_id: str) -> None:
    """Ask the next questions of a run; then end the run, or enqueue a job for the rest."""
    run = _mark_running(run_id)
    if run is None:
        return
    current, tested = _setups(run)
    engine = engines.engine_for(run.bot.client, run.bot)
    for question in _next_questions(run):
        try:
            result = _compared_result(run, engine, question, current, tested)
        except _ModelDown as exc:
            with jobs.commit():
                _give_up(run, f"{_MODEL_DOWN}: {exc}")
            return
        with jobs.commit():
            run.results.append(result)
            run.passed += result["is_passed"]
            run.save(update_fields=["results", "passed", "engine"])
    with jobs.commit():
        if len(run.results) < len(run.questions):
            jobs.enqueue("bots.ask_golden", client_id=run.client_id, run_id=run_id)
        else:
            _end(run)


def _next_questions(run: GoldenRun) -> list[dict[str, Any]]:
    """The next questions, at least one, with about `MESSAGES_PER_JOB` messages in all."""
    found: list[dict[str, Any]] = []
    count = 0
    for question in run.questions[len(run.results) :]:
        count += len(_turns(question))
        if found and count > MESSAGES_PER_JOB:
            break
        found.append(question)
    return found


def fail(run_id: str) -> None:
    """Mark a run as failed after its job's last attempt; the changes it tests stay held back."""
    run = GoldenRun.objects.filter(pk=run_id, status__in=_UNFINISHED).first()
    if run:
        message = gettext_noop("The run couldn't finish. Check whether you have credits left.")
        _give_up(run, message)


def _give_up(run: GoldenRun, error: str) -> None:
    run.status, run.finished_at = GoldenStatus.FAILED, datetime.now(UTC)
    run.error = error[: answers.MAX_ERROR_CHARS]
    run.outcome = GoldenOutcome.HELD if run.is_publish_gate else ""
    run.save(update_fields=["status", "finished_at", "error", "outcome"])


def _mark_running(run_id: str) -> GoldenRun | None:
    """Mark a run as running, so that it accepts no more documents; None if it has ended."""
    rows = GoldenRun.objects.select_related("bot__client__config", "prompt")
    with jobs.commit():
        run = rows.filter(pk=run_id, status__in=_UNFINISHED).first()
        if run is None:
            return None
        bots.lock(run.bot)
        run.refresh_from_db(fields=["document_ids"])
        run.status, run.knowledge_version = GoldenStatus.RUNNING, run.bot.knowledge_version
        run.save(update_fields=["status", "knowledge_version"])
    return run


def _setups(run: GoldenRun) -> tuple[_Setup, _Setup | None]:
    """The bot as it is, and with the run's change, or None if the run tests no change."""
    current = _Setup(run.bot.client.config.answer_threshold)
    if not run.document_ids and run.prompt is None and run.threshold is None:
        return current, None
    index = retrieval.index_with(run.bot, run.document_ids) if run.document_ids else None
    threshold = current.threshold if run.threshold is None else run.threshold
    return current, _Setup(threshold, index, run.prompt)


def _compared_result(
    run: GoldenRun, engine: Engine, question: dict[str, Any], current: _Setup, tested: _Setup | None
) -> dict[str, Any]:
    """The result of one question; if a change is tested, also whether the question passes without
    the change."""
    result = _result(run, engine, question, tested or current, "tried")
    if tested is None:
        return result
    before = _result(run, engine, question, current, "now")
    return result | {"was_passed": before["is_passed"]}


def _result(
    run: GoldenRun, engine: Engine, question: dict[str, Any], setup: _Setup, label: str
) -> dict[str, Any]:
    """The result of a question; its messages are sent one after another until an answer fails."""
    history: list[Line] = []
    topics: list[str] = []
    results: list[dict[str, Any]] = []
    try:
        for position, turn in enumerate(_turns(question)):
            reference = f"golden:{run.pk}:{question['id']}:{label}:{position}"
            request = _request(run, engine, turn["question"], setup)
            if question_splitting.may_follow_up(request.text):
                request = replace(request, topics=tuple(topics[:_TOPICS]))
            request = replace(request, history=tuple(history[-_HISTORY_LINES:]))
            outcome = _answer(run, request, reference)
            history.append(Line("customer", turn["question"]))
            results.append(_turn_result(run, engine, turn, outcome, history, reference))
            if results[-1]["fault"]:
                break
            if isinstance(outcome, Answered):
                # The answer in full, as in a conversation; the stored result is shortened.
                history.append(Line("assistant", outcome.text))
            topics.insert(0, turn["question"])
    except credits.InsufficientCredits as exc:
        raise jobs.GiveUp("You're out of credits.") from exc
    fault = results[-1]["fault"]
    return results[-1] | {
        "question": question["question"],
        "is_passed": not fault,
        "was_passed": question["was_passed"],
        "turns": results if len(_turns(question)) > 1 else [],
    }


def _turns(question: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a question, the first of which is the question itself."""
    return [question, *question.get("turns", ())]


def _request(run: GoldenRun, engine: Engine, text: str, setup: _Setup) -> AnswerRequest:
    return replace(
        answer_preview.standalone(run.bot, text),
        engine=engine,
        threshold=setup.threshold,
        index=setup.index,
        prompt=setup.prompt,
    )


def _answer(run: GoldenRun, request: AnswerRequest, reference: str) -> Outcome:
    """The bot's answer. A model's tokens are charged; no function is called.

    Adds the engine that answered to `run.engine`. Raises `_ModelDown`.
    """
    outcome = answer_preview.ask(run.bot, request, reference=reference)
    if outcome.trace.is_down:
        raise _ModelDown(outcome.trace.engine_error)
    if isinstance(outcome, Answered) and outcome.trace.engine:
        names = {*filter(None, run.engine.split(", ")), outcome.trace.engine}
        run.engine = ", ".join(sorted(names))
    return outcome


def _turn_result(
    run: GoldenRun,
    engine: Engine,
    turn: dict[str, Any],
    outcome: Outcome,
    history: list[Line],
    reference: str,
) -> dict[str, Any]:
    """The result of one message: its answer, and the reason if the answer fails."""
    text = outcome.text if isinstance(outcome, Answered) else ""
    citations = outcome.citations if isinstance(outcome, Answered) else ()
    fault = _find_fault(turn, text, {citation.document_id for citation in citations})
    if not isinstance(outcome, Answered):
        fault = "engine_failed" if outcome.trace.engine_error else "no_answer"
    expected = turn.get("expected_answer")
    if not fault and expected and Capability.WRITE in engine.capabilities:
        task = text_tasks.expect(history, text, expected=expected)
        try:
            draft = answer_preview.complete(run.bot, engine, task, reference=f"{reference}:judged")
        except EngineError as exc:
            raise _ModelDown(str(exc)) from exc
        fault = "" if draft.is_met else "other_answer"
    return {
        "question": turn["question"],
        "fault": fault or None,
        "answer": text[:MAX_ANSWER],
        "sources": list(dict.fromkeys(citation.title for citation in citations)),
    }


def _find_fault(question: dict[str, Any], text: str, document_ids: set[int]) -> str:
    """Why an answer fails: `words_missing` or `other_source`; empty if it passes."""
    words = " ".join(text.casefold().split())
    if not all(" ".join(word.casefold().split()) in words for word in question["expected_words"]):
        return "words_missing"
    expected_source = (question["expected_source"] or "").casefold()
    if not expected_source:
        return ""
    rows = Document.objects.filter(pk__in=document_ids).values_list("title", "file_name", "url")
    names = {name.casefold() for row in rows for name in row}
    return "" if expected_source in names else "other_source"


def _end(run: GoldenRun) -> None:
    """End a run, and store which questions broke or improved.

    If the run decides whether a change is published, the change is published if no question broke,
    and held back otherwise.
    """
    bots.lock(run.bot)
    run.broke = _changed(run, before=True)
    run.better = _changed(run, before=False)
    run.status, run.finished_at = GoldenStatus.DONE, datetime.now(UTC)
    run.save(update_fields=["broke", "better", "status", "finished_at"])
    if run.is_publish_gate and not run.broke:
        _publish_tested(run)
    elif run.is_publish_gate:
        GoldenRun.objects.filter(pk=run.pk).update(outcome=GoldenOutcome.HELD)


def _changed(run: GoldenRun, *, before: bool) -> list[str]:
    return [
        result["question"]
        for result in run.results
        if result["was_passed"] is before and result["is_passed"] is not before
    ]


def _held_documents(run: GoldenRun) -> QuerySet[Document]:
    """The documents that wait for this run; one that was changed since waits for a later run."""
    return publish_gate.held().filter(bot=run.bot, run_id=run.pk)


def _is_prompt_waiting(run: GoldenRun) -> bool:
    """Whether the run tests a prompt and the bot uses neither that prompt nor a later one."""
    current = prompt_versions.find_current(run.bot_id)
    return run.prompt is not None and (current is None or current.version < run.prompt.version)


def _publish_tested(run: GoldenRun) -> None:
    """Publish the prompt and the documents of a run that still wait for it. The caller holds the
    bot's lock."""
    has_prompt = _is_prompt_waiting(run)
    if run.prompt and has_prompt:
        prompt_versions.make_current(run.prompt)
    held = list(_held_documents(run).order_by("pk"))
    for document in held:
        document_changes.publish_draft(document)
        is_answer = document.source == DocumentSource.QUESTION_ANSWER
        if is_answer and document.draft != document_changes.DELETION:
            jobs.enqueue("chats.ask_learned", client_id=run.client_id, document_id=document.pk)
    # Nothing is published if the change was deleted or replaced during the run.
    run.outcome = GoldenOutcome.PUBLISHED if has_prompt or held else GoldenOutcome.HELD
    run.save(update_fields=["outcome"])


def _record(run: GoldenRun, action: str, by: User) -> None:
    tested = {
        "prompt_version": run.prompt.version if run.prompt else None,
        "threshold": run.threshold,
        "document_ids": run.document_ids,
    }
    audit.record(
        run.client_id, action, by=by, subject=f"golden_run:{run.pk}",
        changes={name: value for name, value in tested.items() if value},
    )  # fmt: skip
