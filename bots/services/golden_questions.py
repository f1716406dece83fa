"""The questions that a bot must answer correctly: written, or copied from existing questions."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy, gettext_noop

from bots.models import (
    Bot,
    Document,
    DocumentSource,
    DocumentStatus,
    GoldenOrigin,
    GoldenQuestion,
    SampleQuestion,
)
from bots.schemas.golden import GoldenQuestionDto
from bots.services import bots
from chatplatform.api.errors import ApiError, first_or_404, require_fields
from identity.models import User

MAX_QUESTIONS = 100


class GoldenLimit(ApiError):
    code, status = "golden_limit", 409
    detail = format_lazy(
        gettext_lazy("A bot can have up to {count} test questions. Delete one first."),
        count=MAX_QUESTIONS,
    )


class GoldenExists(ApiError):
    code, status = "golden_question_exists", 409
    detail = gettext_noop("The bot already has this question.")


def list_for_bot(bot: Bot) -> QuerySet[GoldenQuestion]:
    """The bot's golden questions, unordered."""
    return GoldenQuestion.objects.for_client(bot.client).filter(bot=bot)


def get(bot: Bot, question_id: int) -> GoldenQuestion:
    """One of the bot's golden questions; 404 if there is none."""
    return first_or_404(list_for_bot(bot).filter(pk=question_id))


def create(bot: Bot, *, body: GoldenQuestionDto, by: User) -> GoldenQuestion:
    """Add a question; 409 if the bot has reached the limit or already has the question."""
    require_fields(body, "question")
    return _write(bot, GoldenQuestion(client=bot.client, bot=bot), body, by)


def update(bot: Bot, question_id: int, *, body: GoldenQuestionDto, by: User) -> GoldenQuestion:
    """Change a question or what is expected of its answer; fields left out are kept."""
    return _write(bot, get(bot, question_id), body, by)


def delete(bot: Bot, question_id: int, *, by: User) -> None:
    """Delete a question; existing runs keep their copy of it."""
    with transaction.atomic():
        row = get(bot, question_id)
        bots.record(bot, "golden_question.deleted", by=by, question=row.question)
        row.delete()


def from_samples(bot: Bot) -> list[dict[str, Any]]:
    """The widget's sample questions, without an expected source."""
    rows = SampleQuestion.objects.filter(bot=bot).order_by("position", "id")
    return [{"question": row.question} for row in rows]


def from_answers(bot: Bot) -> list[dict[str, Any]]:
    """The latest questions with a written answer, which is their expected source."""
    rows = Document.objects.filter(
        bot=bot, source=DocumentSource.QUESTION_ANSWER, status=DocumentStatus.TRAINED
    )
    latest = rows.order_by("-id")[:MAX_QUESTIONS]
    return [{"question": row.title, "expected_source": row.title} for row in latest]


def add_many(
    bot: Bot, found: Iterable[Mapping[str, Any]], *, origin: GoldenOrigin, by: User
) -> list[GoldenQuestion]:
    """Add the questions that the bot does not have yet, up to the limit; returns the new ones."""
    with transaction.atomic():
        bots.lock(bot)
        known = {row.question.casefold() for row in list_for_bot(bot)}
        left = MAX_QUESTIONS - len(known)
        new: list[GoldenQuestion] = []
        for item in found:
            if len(new) >= left or item["question"].casefold() in known:
                continue
            known.add(item["question"].casefold())
            new.append(GoldenQuestion(client=bot.client, bot=bot, origin=origin, **item))
        rows = GoldenQuestion.objects.bulk_create(new)
        if rows:
            bots.record(bot, "golden_questions.added", by=by, origin=str(origin), count=len(rows))
    return list(list_for_bot(bot).filter(pk__in=[row.pk for row in rows]).order_by("id"))


def _write(bot: Bot, row: GoldenQuestion, body: GoldenQuestionDto, by: User) -> GoldenQuestion:
    if "question" in body.model_fields_set:
        row.question = " ".join(body.question.split())
    if "expected_source" in body.model_fields_set:
        row.expected_source = body.expected_source or ""
    if "expected_words" in body.model_fields_set:
        row.expected_words = body.expected_words
    if "expected_answer" in body.model_fields_set:
        row.expected_answer = body.expected_answer or ""
    if "turns" in body.model_fields_set:
        row.turns = [turn.model_dump() for turn in body.turns]
    is_new = row._state.adding
    try:
        with transaction.atomic():
            bots.lock(bot)
            if is_new and list_for_bot(bot).count() >= MAX_QUESTIONS:
                raise GoldenLimit
            row.save()
            action = "golden_question.created" if is_new else "golden_question.updated"
            bots.record(bot, action, by=by, question=row.question)
    except IntegrityError as exc:
        raise GoldenExists from exc
    # Read the row again for the time that the database sets.
    return get(bot, row.pk)
