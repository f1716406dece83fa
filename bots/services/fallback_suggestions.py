"""Headings of a bot's documents that are offered to a customer whose question has no answer."""

import re
from collections.abc import Iterable

from bots.models import Bot, Chunk, DocumentSource
from bots.services import retrieval
from bots.services.answers import AnswerRequest, Trace

MAX_HEADINGS = 3
# The length that fits a button, and the length of a heading that is read.
_MAX_CHARACTERS, _MAX_READ = 80, 200
# Matches the number of a heading, such as "3.", "(2)", "4.1" or "§ 5".
_NUMBERING = re.compile(
    r"(?:§\s*\d{1,3}|\(?(?:\d{1,3}(?:\.\d{1,3})*|[IVX]{1,5}|[A-Za-z])[.):]|\d{1,3}(?:\.\d{1,3})+)\s+"
)
_EXTENSION = re.compile(r"\.(?:pdf|docx?|xlsx?|pptx?|od[tsp]|csv|txt|md|html?)$", re.IGNORECASE)
# Matches the words at the end of a title that name a file's version or period, such as "2026 Q3".
_VERSION = re.compile(
    r"(?:[\s,–-]+\(?(?:(?:19|20)\d\d(?:-\d\d){0,2}|Q[1-4]|v\d[\d.]*|final|draft|copy|\d)\)?)+$",
    re.IGNORECASE,
)


def nearest(bot: Bot, request: AnswerRequest, trace: Trace) -> tuple[str, ...]:
    """Up to three headings or titles of the passages that were found for a question. If a customer
    sends one of them, the bot can answer.

    They are in the request's language or, if there are none, in other languages. The questions of
    written answers are left out, since they may be another customer's words.
    """
    if trace.evidence is None:
        return ()
    ranked = sorted(trace.evidence.chunks, key=lambda found: -found.score)
    rows = Chunk.objects.select_related("document").defer("document__content")
    rows = rows.exclude(document__source=DocumentSource.QUESTION_ANSWER).filter(bot=bot)
    by_id = rows.in_bulk([found.id for found in ranked])
    passages = [by_id[found.id] for found in ranked if found.id in by_id]
    language = request.language.split("-")[0]
    same_language = [row for row in passages if row.language == language]
    others = [row for row in passages if row.language != language]
    return _offered(bot, request, same_language) or _offered(bot, request, others)


def _offered(bot: Bot, request: AnswerRequest, passages: Iterable[Chunk]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for row in passages:
        heading = _topic((row.heading.rpartition(" > ")[2] or row.document.title)[:_MAX_READ])
        is_new = heading.casefold() not in found and heading.casefold() != request.text.casefold()
        fits = 0 < len(heading) <= _MAX_CHARACTERS
        if fits and is_new and _is_answered(bot, request, heading):
            found[heading.casefold()] = heading
        if len(found) == MAX_HEADINGS:
            break
    return tuple(found.values())


def _topic(heading: str) -> str:
    """What a heading or title is about, without its number and a file's version; empty if it only
    names a file, such as "IMG_2041"."""
    text = " ".join(_EXTENSION.sub("", heading).replace("_", " ").split())
    text = _NUMBERING.sub("", text, count=1) if _NUMBERING.match(text) else text
    shorter = _VERSION.sub("", text)
    # A figure in the rest belongs to the end: "Prices from 1 May 2026".
    text = text if any(map(str.isdigit, shorter)) else shorter
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    is_name = len(words) == 1 == len(heading.split()) and any(map(str.isdigit, heading))
    return "" if is_name or not words else text


def _is_answered(bot: Bot, request: AnswerRequest, heading: str) -> bool:
    """Whether the heading, asked as a question, reaches the threshold and thus gets an answer."""
    parts = retrieval.find(
        bot, heading, language=request.language, topics=(), threshold=request.threshold,
        index=request.index,
    )  # fmt: skip
    return any(part.passes(request.threshold) for part in parts)
