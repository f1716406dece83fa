"""A bot's welcome message, and the sample questions that its widget suggests."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext_noop

from bots.language.normalization import QUESTION_MARKS, fold
from bots.models import Bot, Chunk, DocumentSource, SampleQuestion
from bots.schemas.widget import SampleQuestionDto, SampleQuestions, WelcomeMessages
from bots.services import bots
from bots.services.stored_passages import PUBLISHED, valid
from chatplatform.api.errors import Invalid
from identity.models import User

# The maximum number of questions taken from documents, and of passages searched for questions.
MAX_EXTRACTED, _MAX_PASSAGES = 6, 300
# An expired document's questions may still be suggested for this long. Training takes effect at
# once, since the cache key contains the knowledge version.
_CACHE_SECONDS = 60
_LEADING = re.compile(r"^(?:[-*•–·▪◦#>|\s]+|(?:Q|q|Question)\s*[:.]\s*|\(?\d{1,3}[.)]\s+)+")
_MIN_WORDS, _MAX_CHARACTERS = 3, 120


def update_messages(bot: Bot, *, body: WelcomeMessages, by: User) -> WelcomeMessages:
    """Replace the bot's welcome messages."""
    bots.check_supported_languages(bot, body.messages, at=("body", "messages"))
    stored = bots.update_columns(bot, by=by, welcome_message=body.messages)
    return WelcomeMessages.model_construct(messages=stored.welcome_message)


def questions(bot: Bot, *, language: str | None) -> list[SampleQuestionDto]:
    """The written sample questions in `language`, or in all languages if it is None.

    If there are none, questions from the bot's documents in `language` or, if it is None, in the
    default language.
    """
    rows = SampleQuestion.objects.for_client(bot.client).filter(bot=bot).order_by("position", "pk")
    chosen = language or bot.default_language
    if language is not None:
        exact = rows.filter(language=chosen)
        rows = exact if exact.exists() else rows.filter(language=chosen.split("-")[0])
    written = list(rows)
    if written:
        return [SampleQuestionDto.from_row(row) for row in written]
    return [
        SampleQuestionDto.model_construct(
            id=None, question=text, language=chosen, position=position
        )
        for position, text in enumerate(_document_questions(bot, chosen))
    ]


def replace_questions(bot: Bot, *, body: SampleQuestions, by: User) -> list[SampleQuestionDto]:
    """Replace the written sample questions."""
    rows = [
        SampleQuestion(
            client_id=bot.client_id,
            bot=bot,
            question=" ".join(item.question.split()),
            language=item.language or bot.default_language,
            position=position,
        )
        for position, item in enumerate(body.questions)
    ]
    for row in rows:
        at = ("body", "questions", row.position, "language")
        bots.check_supported_languages(bot, [row.language], at=at)
    _check_duplicates(rows)
    with transaction.atomic():
        # The lock keeps concurrent requests from mixing their lists.
        bots.lock(bot)
        SampleQuestion.objects.for_client(bot.client).filter(bot=bot).delete()
        created = SampleQuestion.objects.bulk_create(rows)
        bots.record(bot, "sample_questions.replaced", by=by, count=len(created))
    return [SampleQuestionDto.from_row(row) for row in created]


def _check_duplicates(rows: Iterable[SampleQuestion]) -> None:
    seen: set[tuple[str, str]] = set()
    for row in rows:
        question = (row.language, fold(row.question))
        if question in seen:
            raise Invalid.field(
                "body",
                "questions",
                row.position,
                "question",
                msg=gettext_noop("This is already in the list."),
            )
        seen.add(question)


def _document_questions(bot: Bot, language: str) -> list[str]:
    """Questions that occur in the bot's files, crawled pages and texts; cached.

    The questions of written answers are left out: they may be a customer's words and contain
    personal data.
    """
    key = f"sample-questions:{bot.pk}:{bot.knowledge_version}:{language}"
    texts: list[str] | None = cache.get(key)
    if texts is None:
        texts = _extract_questions(bot, language)
        cache.set(key, texts, _CACHE_SECONDS)
    return texts


def _extract_questions(bot: Bot, language: str) -> list[str]:
    has_mark = Q()
    for mark in QUESTION_MARKS:
        has_mark |= Q(heading__endswith=mark) | Q(text__contains=mark)
    now = datetime.now(UTC)
    passages = (
        Chunk.objects.for_client(bot.client)
        .filter(
            valid(now, prefix="document__"),
            PUBLISHED,
            has_mark,
            bot=bot,
            is_draft=False,
            language=language.split("-")[0],
        )
        .exclude(document__source=DocumentSource.QUESTION_ANSWER)
        .order_by(F("document__is_important").desc(), "document_id", "position")
        .values_list("heading", "sentences")[:_MAX_PASSAGES]
    )
    distinct: dict[str, str] = {}
    for heading, sentences in passages:
        for text in _questions_in([heading, *sentences]):
            distinct.setdefault(fold(text), text)
        if len(distinct) >= MAX_EXTRACTED:
            break
    return list(distinct.values())[:MAX_EXTRACTED]


def _questions_in(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        # In "Delivery > How long does it take?" the last part is the question.
        question = _LEADING.sub("", " ".join(text.split()).rpartition(" > ")[2])
        has_no_spaces = not question.isascii() and " " not in question
        long_enough = has_no_spaces or len(question.split()) >= _MIN_WORDS
        if question.endswith(QUESTION_MARKS) and long_enough and len(question) <= _MAX_CHARACTERS:
            yield question
