"""Recognizes small talk, requests for a person, satisfaction, yes and no in twenty languages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bots.language import phrasebook
from bots.language.phrasebook import NormalizedText, Phrasebook, SmallTalk

_ASKS = re.compile("[?？؟]")
_THUMBS = frozenset("👍👌🙏😊🙂❤✅")


@dataclass(frozen=True)
class Intent:
    """What a customer wants with messages that are answered together."""

    # All texts that are more than small talk: a question may come before a greeting or thanks.
    questions: tuple[str, ...]
    # The kind of small talk, if the last text is nothing else.
    small_talk: SmallTalk | None
    asks_for_person: bool
    # What `anything_else_answer()` and `is_satisfied()` return for the last text, if it is the only
    # question; otherwise None and False. `is_satisfied` is False whenever the other is None.
    anything_else_answer: SmallTalk | None
    is_satisfied: bool


def intent_of(texts: Sequence[str], *, language: str) -> Intent:
    """The intent of a customer's texts; `language` is that of the last text."""
    questions = tuple(text for text in texts if not small_talk(text))
    kind = small_talk(texts[-1], language=language) if texts else None
    is_last_alone = len(questions) == 1 and kind is None
    meant = anything_else_answer(texts[-1], language=language) if is_last_alone else None
    return Intent(
        questions,
        kind,
        asks_for_person=any(map(asks_for_person, texts)),
        anything_else_answer=meant,
        is_satisfied=meant is not None and is_satisfied(texts[-1], language=language),
    )


def small_talk(text: str, *, language: str = "") -> SmallTalk | None:
    """The kind of small talk that a message is; None if it says anything else.

    `language` is tried first, since a phrase may mean different things in two languages.
    """
    normalized = NormalizedText.of(text)
    return next((kind for book in _books(language) if (kind := book.small_talk(normalized))), None)


def asks_for_person(text: str) -> bool:
    """Whether the message asks for a human being."""
    normalized = NormalizedText.of(text)
    return any(book.asks_for_person(normalized) for book in phrasebook.all_books().values())


def yes_or_no(text: str, *, language: str) -> bool | None:
    """Whether a whole message says yes or no; None if it says anything else.

    The message is read in `language` and in English. Words of other languages count only if they
    are spelled with all accents: "co" is a question in Polish, "có" is a yes in Vietnamese.
    """
    normalized, books = NormalizedText.of(text), phrasebook.all_books()
    for code in (phrasebook.base_of(language), "en"):
        answer = books[code].yes_or_no(normalized) if code in books else None
        if answer is not None:
            return answer
    spelt = {book.exact_yes_or_no(text) for book in books.values()} - {None}
    return spelt.pop() if len(spelt) == 1 else None


def anything_else_answer(text: str, *, language: str) -> SmallTalk | None:
    """The meaning of a reply to "Is there anything else?".

    A mere yes counts as a greeting, so that the bot asks what it can do; a no or an "ok" counts as
    a goodbye. None if the reply says anything else.
    """
    if _ASKS.search(text):
        return None
    normalized, books = NormalizedText.of(text), _own_and_english(language)
    if is_satisfied(text, language=language) or any(
        b.wants_nothing_more(normalized) for b in books
    ):
        return "goodbye"
    says_yes = yes_or_no(text, language=language)
    return None if says_yes is None else "greeting" if says_yes else "goodbye"


def is_satisfied(text: str, *, language: str) -> bool:
    """Whether a message only says that all is well, as customers do after an answer."""
    normalized = NormalizedText.of(text)
    is_thumb = not normalized.message and not _THUMBS.isdisjoint(text)
    is_said = any(book.is_satisfied(normalized) for book in _own_and_english(language))
    return (is_thumb or is_said) and not _ASKS.search(text)


def _own_and_english(language: str) -> list[Phrasebook]:
    books = phrasebook.all_books()
    return [books[code] for code in (phrasebook.base_of(language), "en") if code in books]


def _books(language: str) -> list[Phrasebook]:
    books = phrasebook.all_books()
    own = books.get(phrasebook.base_of(language))
    return [own, *books.values()] if own else [*books.values()]
