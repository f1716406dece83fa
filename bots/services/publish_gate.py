"""Holds back new prompts, new documents and document changes until a golden run tests them."""

from datetime import timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext_noop

from bots.engine import Capability
from bots.models import (
    Bot,
    Chunk,
    Document,
    DocumentStatus,
    GoldenQuestion,
    GoldenRun,
    GoldenStatus,
    Prompt,
)
from bots.services import engines
from chatplatform.api.errors import ApiError
from chatplatform.jobs import enqueue

# A run for documents starts after this time, so that documents trained in the meantime can join.
_GATHER = timedelta(seconds=10)


class NotHeld(ApiError):
    code, status = "not_held", 409
    detail = gettext_noop("Nothing is on hold here.")


def holds_prompt(bot: Bot) -> bool:
    """Whether to hold back a new prompt; never with the extractive engine, which uses no prompt."""
    return _holds(bot) and Capability.WRITE in engines.engine_for(bot.client, bot).capabilities


def holds_document(document: Document) -> bool:
    """Whether to hold back a document that has just been read for the first time."""
    return _holds(document.bot) and not Chunk.objects.filter(document=document).exists()


def holds_change(document: Document) -> bool:
    """Whether to hold back a change to a document: only if the bot checks changes, and uses the
    document or will use it once it is valid."""
    is_live = not document.pending_review or document.draft is not None
    passages = Chunk.objects.filter(document=document, is_draft=False)
    return is_live and _holds(document.bot) and passages.exists()


def hold_prompt(prompt: Prompt) -> None:
    """Start the run that decides whether a prompt is published; the caller holds the bot's lock."""
    start(
        GoldenRun(bot=prompt.bot, prompt=prompt, is_publish_gate=True, created_by=prompt.created_by)
    )


def hold_document(document: Document) -> None:
    """Start or join the run that decides whether a document or its draft is published.

    The caller holds the bot's lock.
    """
    waiting = GoldenRun.objects.filter(
        bot_id=document.bot_id, status=GoldenStatus.QUEUED, is_publish_gate=True, prompt=None
    ).first()
    if waiting:
        if document.pk not in waiting.document_ids:
            waiting.document_ids.append(document.pk)
            waiting.save(update_fields=["document_ids"])
        return
    run = GoldenRun(bot=document.bot, document_ids=[document.pk], is_publish_gate=True)
    start(run, wait=_GATHER)


def held() -> QuerySet[Any]:
    """Held-back documents, with the `run_id` and `run_outcome` of the latest run that tests them.

    `run_outcome` is empty until the run has ended. A document that is being trained again is left
    out, since its next run starts after the training.
    """
    runs = GoldenRun.objects.filter(
        bot=OuterRef("bot"), is_publish_gate=True, document_ids__contains=[OuterRef("pk")]
    )
    rows = Document.objects.filter(pending_review=True, status=DocumentStatus.TRAINED)
    latest = runs.order_by("-id")
    return rows.annotate(
        run_id=Subquery(latest.values("pk")[:1]), run_outcome=Subquery(latest.values("outcome")[:1])
    ).filter(run_id__isnull=False)


def with_run(rows: QuerySet[Any], *, document: str) -> QuerySet[Any]:
    """Annotate rows with `run_id` and `run_outcome` as in `held`; null if nothing is held back.

    `document` is the column of the rows that contains the document's id.
    """
    waiting = held().filter(pk=OuterRef(document))
    found: QuerySet[Any] = rows.annotate(
        run_id=Subquery(waiting.values("run_id")[:1]),
        run_outcome=Subquery(waiting.values("run_outcome")[:1]),
    )
    return found


def start(run: GoldenRun, *, wait: timedelta = timedelta(0)) -> GoldenRun:
    """Store a run with the current questions and enqueue its job, after `wait`."""
    passed_before = _passed_in_latest(run.bot)
    rows = GoldenQuestion.objects.filter(bot=run.bot).order_by("id")
    run.client_id = run.bot.client_id
    run.questions = [
        {
            "id": row.pk,
            "question": row.question,
            "expected_source": row.expected_source,
            "expected_words": row.expected_words,
            "expected_answer": row.expected_answer,
            "turns": row.turns,
            "was_passed": passed_before.get(row.question),
        }
        for row in rows
    ]
    run.save()
    enqueue("bots.ask_golden", client_id=run.client_id, wait=wait, run_id=str(run.pk))
    return run


def _holds(bot: Bot) -> bool:
    return bot.hold_back_worse and GoldenQuestion.objects.filter(bot=bot).exists()


def _passed_in_latest(bot: Bot) -> dict[str, bool]:
    """For each question of the latest finished run without a change, whether it passed."""
    latest = GoldenRun.objects.filter(
        bot=bot, status=GoldenStatus.DONE, prompt=None, threshold=None, document_ids=[]
    )
    run = latest.order_by("-id").first()
    return {result["question"]: result["is_passed"] for result in run.results} if run else {}
