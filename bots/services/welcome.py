"""What a bot says first, and the questions that it offers."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Q, QuerySet

from bots.knowledge.search import fold
from bots.models import Bot, Chunk, SampleQuestion
from bots.services import bots
from bots.services.retrieval import valid
from bots.shapes.widget import SampleQuestionDto, SampleQuestions, WelcomeMessages
from chatplatform.api.errors import Invalid
from identity.models import User
from identity.services import audit

# Questions that are offered from the documents, and how many passages are looked at for them.
MAX_FOUND, _PASSAGES = 6, 300
# Whoever trains a bot sees its new questions at once (the key holds the version of the knowledge);
# what expires is offered this long at most (seconds).
_KEPT_SECONDS = 60
_MARKS = ("?", "？", "؟")
_LEADING = re.compile(r"^(?:[-*•–·▪◦#>|\s]+|(?:Q|q|Question)\s*[:.]\s*|\(?\d{1,3}[.)]\s+)+")
_FEWEST_WORDS, _MOST_CHARACTERS = 3, 120


def update_messages(bot: Bot, *, given: WelcomeMessages) -> WelcomeMessages:
    """Replace the bot's first words."""
    bots.check_languages_of(bot, given.messages, at=("body", "messages"))
    stored = bots.store(bot, welcome_message=given.messages)
    return WelcomeMessages.model_construct(messages=stored.welcome_message)


def questions(bot: Bot, *, language: str | None) -> list[SampleQuestionDto]:
    """What the widget offers: written questions, else some from what the bot is trained on.

    Without a language: every written one, whatever its language.
    """
    rows = SampleQuestion.objects.for_client(bot.client).filter(bot=bot).order_by("position", "pk")
    asked = language or bot.default_language
    written = list(rows if language is None else _in_language(rows, asked))
    if written:
        return [SampleQuestionDto.from_row(row) for row in written]
    return [
        SampleQuestionDto.model_construct(id=None, question=text, language=asked, position=position)
        for position, text in enumerate(_known(bot, asked))
    ]


def _in_language(rows: QuerySet[SampleQuestion], language: str) -> QuerySet[SampleQuestion]:
    own = rows.filter(language=language)
    return own if own.exists() else rows.filter(language=language.split("-")[0])


def replace_questions(bot: Bot, *, given: SampleQuestions, by: User) -> list[SampleQuestionDto]:
    """Write the questions that the widget offers, in place of those before."""
    rows = [
        SampleQuestion(
            client_id=bot.client_id,
            bot=bot,
            question=" ".join(one.question.split()),
            language=one.language or bot.default_language,
            position=position,
        )
        for position, one in enumerate(given.questions)
    ]
    for row in rows:
        at = ("body", "questions", row.position, "language")
        bots.check_languages_of(bot, [row.language], at=at)
    _check_doubles(rows)
    with transaction.atomic():
        # Two lists written at once must not be mixed.
        bots.lock(bot)
        SampleQuestion.objects.for_client(bot.client).filter(bot=bot).delete()
        made = SampleQuestion.objects.bulk_create(rows)
        audit.record(
            bot.client_id,
            "sample_questions.replaced",
            by=by,
            subject=f"bot:{bot.pk}",
            changes={"count": len(made)},
        )
    return [SampleQuestionDto.from_row(row) for row in made]


def _check_doubles(rows: Iterable[SampleQuestion]) -> None:
    seen: set[tuple[str, str]] = set()
    for row in rows:
        same = (row.language, fold(row.question))
        if same in seen:
            raise Invalid.field(
                "body", "questions", row.position, "question", msg="The list holds it already."
            )
        seen.add(same)


def _known(bot: Bot, language: str) -> list[str]:
    """Questions that the bot's documents themselves ask, the same ones every time."""
    key = f"sample-questions:{bot.pk}:{bot.knowledge_version}:{language}"
    found: list[str] | None = cache.get(key)
    if found is None:
        found = _found(bot, language)
        cache.set(key, found, _KEPT_SECONDS)
    return found


def _found(bot: Bot, language: str) -> list[str]:
    asking = Q()
    for mark in _MARKS:
        asking |= Q(heading__endswith=mark) | Q(text__contains=mark)
    now = datetime.now(UTC)
    passages = (
        Chunk.objects.for_client(bot.client)
        .filter(valid(now, prefix="document__"), asking, bot=bot, language=language.split("-")[0])
        .order_by(F("document__is_important").desc(), "document_id", "position")
        .values_list("heading", "sentences")[:_PASSAGES]
    )
    distinct: dict[str, str] = {}
    for heading, sentences in passages:
        for text in _questions_of([heading, *sentences]):
            distinct.setdefault(fold(text), text)
        if len(distinct) >= MAX_FOUND:
            break
    return list(distinct.values())[:MAX_FOUND]


def _questions_of(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        # Of "Delivery > How long does it take?" the last part is the question.
        own = _LEADING.sub("", " ".join(text.split()).rpartition(" > ")[2])
        is_dense = not own.isascii() and " " not in own
        long_enough = is_dense or len(own.split()) >= _FEWEST_WORDS
        if own.endswith(_MARKS) and long_enough and len(own) <= _MOST_CHARACTERS:
            yield own
