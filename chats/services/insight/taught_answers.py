"""Answers that people write to unanswered questions. Once the bot has learned an answer, it is
asked the question again."""

from datetime import UTC, datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop
from pydantic import ValidationError

from bots.models import Bot, Document
from bots.schemas.written import MAX_QUESTION, QuestionAnswerDto
from bots.services import answer_preview, written_sources
from bots.services.answers import Answered, Unanswered
from chatplatform import jobs
from chatplatform.api.errors import Invalid, first_or_404
from chats.models import GroupedQuestion, GroupStatus, Message, QuestionGroup
from chats.services.insight import question_groups
from identity.models import User
from identity.services import credits

_ALL = tuple(GroupStatus)
_NO_WORDS = gettext_noop("Write the question yourself. The customer's message doesn't contain one.")


def get(bot: Bot, group_id: int) -> QuestionGroup:
    """One of the bot's groups, with its question; 404 if there is none."""
    rows = question_groups.list_for_bot(bot, statuses=_ALL)
    return first_or_404(rows.filter(pk=group_id))


def add_answer(
    group: QuestionGroup, *, answer: str, question: str | None = None, by: User
) -> QuestionGroup:
    """Store the answer as content of the bot; once the bot is trained on it, the question is asked
    again. 409 `source_exists` if the bot has a written answer to the question, 422 if the question
    has no words ("???")."""
    question_text = " ".join((question or _question(group)).split())[:MAX_QUESTION]
    try:
        body = QuestionAnswerDto(question=question_text, answer=answer)
    except ValidationError as exc:
        # The request's schema has checked the answer, but the customer's message may be "???".
        raise Invalid.field("body", "question", msg=_NO_WORDS) from exc
    with transaction.atomic():
        document = written_sources.create(group.bot, body=body, by=by)
        _learn(QuestionGroup.objects.filter(pk=group.pk), document)
    return get(group.bot, group.pk)


def mark_learning(message: Message, document: Document) -> None:
    """Mark the group of a customer's message, if any, as learning from a new written answer."""
    groups = GroupedQuestion.objects.filter(message=message).values("group")
    _learn(QuestionGroup.objects.filter(pk__in=groups), document)


def request_again(group: QuestionGroup) -> None:
    """Enqueue a job that asks the bot a group's question again, because it may have learned the
    answer from other content."""
    with transaction.atomic():
        _enqueue(group)


def request_after_training(document_id: int) -> None:
    """Enqueue jobs that ask the bot again, now that it is trained on a document, the questions for
    which the document was written."""
    with transaction.atomic():
        for group in QuestionGroup.objects.filter(document=document_id):
            _enqueue(group)


def ask_again(group_id: int) -> None:
    """Ask the bot a group's question and store the answer or why there was none. Nothing is sent or
    announced."""
    rows = question_groups.with_question(QuestionGroup.objects.filter(pk=group_id))
    group = rows.select_related("bot__client__config", "document").first()
    if group is None:
        return
    request = answer_preview.standalone(group.bot, _question(group))
    reference = f"question:{group.pk}:{jobs.current_job()}"
    try:
        outcome = answer_preview.ask(group.bot, request, reference=reference)
    except credits.InsufficientCredits as exc:
        raise jobs.GiveUp("You're out of credits.") from exc
    if isinstance(outcome, Answered):
        status, text, fault = GroupStatus.ANSWERED, outcome.text, ""
        sources = list(dict.fromkeys(citation.title[:300] for citation in outcome.citations))
    else:
        # A preview calls no functions, so the outcome cannot be a call that needs an approval.
        reason = outcome.reason if isinstance(outcome, Unanswered) else "no_answer"
        # While golden questions hold the document back, the bot cannot use it: it is still
        # learning.
        pending_review = group.document is not None and group.document.pending_review
        status = GroupStatus.LEARNING if pending_review else GroupStatus.OPEN
        text, fault, sources = "", str(reason), []
    with jobs.commit():
        QuestionGroup.objects.filter(pk=group.pk).update(
            status=status, answer=text, fault=fault, sources=sources,
            asked_again_at=datetime.now(UTC),
        )  # fmt: skip


def fail(group_id: int) -> None:
    """Mark the group as open, with the fault `engine_failed`, after its job's last attempt."""
    QuestionGroup.objects.filter(pk=group_id).update(
        status=GroupStatus.OPEN, fault="engine_failed", asked_again_at=datetime.now(UTC)
    )


def _learn(rows: QuerySet[QuestionGroup], document: Document) -> None:
    rows.update(status=GroupStatus.LEARNING, document=document)


def _question(group: QuestionGroup) -> str:
    """The text of the group's first question, an annotation of `with_question`."""
    return str(group.question)  # type: ignore[attr-defined]


def _enqueue(group: QuestionGroup) -> None:
    jobs.enqueue(
        "chats.ask_question_again",
        client_id=group.client_id,
        dedupe_key=f"ask-again:{group.pk}",
        group_id=group.pk,
    )
