"""What a message wants besides an answer: small talk, a person, a yes or a no, in any language.

The words are in `bots.knowledge.phrasebook`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bots.knowledge import phrasebook
from bots.knowledge.phrasebook import NormalizedText, Phrasebook, SmallTalk

_ASKS = re.compile("[?？؟]")
_THUMBS = frozenset("👍👌🙏😊🙂❤✅")


@dataclass(frozen=True)
class Intent:
    """What messages that are answered together want."""

    # What is no small talk: a question is not lost between a greeting and a thank-you.
    questions: tuple[str, ...]
    # The kind of the last text, if it is nothing more.
    small_talk: SmallTalk | None
    asks_for_person: bool
    # Of a single text that is no small talk: `answer_to_more`, and with it `is_content`.
    answer_to_more: SmallTalk | None
    is_content: bool


def intent_of(texts: Sequence[str], *, language: str) -> Intent:
    """What a customer's texts want; `language` is the last one's."""
    questions = tuple(text for text in texts if not small_talk(text))
    kind = small_talk(texts[-1], language=language) if texts else None
    is_last_alone = len(questions) == 1 and kind is None
    meant = answer_to_more(texts[-1], language=language) if is_last_alone else None
    return Intent(
        questions,
        kind,
        asks_for_person=any(map(asks_for_person, texts)),
        answer_to_more=meant,
        is_content=meant is not None and is_content(texts[-1], language=language),
    )


def small_talk(text: str, *, language: str = "") -> SmallTalk | None:
    """What the message is if it is nothing more; `language` decides where languages differ."""
    heard = NormalizedText.of(text)
    return next((kind for book in _books(language) if (kind := book.small_talk(heard))), None)


def asks_for_person(text: str) -> bool:
    """Whether the message asks to be handed to a human being."""
    heard = NormalizedText.of(text)
    return any(book.asks_for_person(heard) for book in phrasebook.all_books().values())


def yes_or_no(text: str, *, language: str) -> bool | None:
    """Whether a whole message says yes or no; None if it says anything else.

    It is read in its language and in English. In another language it must be spelt with letters of
    that language: "co" asks a question in Polish, while "có" is a yes in Vietnamese.
    """
    heard, books = NormalizedText.of(text), phrasebook.all_books()
    for code in (phrasebook.base_of(language), "en"):
        answer = books[code].yes_or_no(heard) if code in books else None
        if answer is not None:
            return answer
    spelt = {book.spells(text) for book in books.values()} - {None}
    return spelt.pop() if len(spelt) == 1 else None


def answer_to_more(text: str, *, language: str) -> SmallTalk | None:
    """What a message is behind the question whether there is anything else.

    A mere yes is asked what it is; a no or an "ok" ends the chat.
    """
    if _ASKS.search(text):
        return None
    heard, books = NormalizedText.of(text), _own_and_english(language)
    if is_content(text, language=language) or any(b.wants_nothing_more(heard) for b in books):
        return "goodbye"
    says_yes = yes_or_no(text, language=language)
    return None if says_yes is None else "greeting" if says_yes else "goodbye"


def is_content(text: str, *, language: str) -> bool:
    """Whether a message says no more than that all is well, as customers do behind an answer."""
    heard = NormalizedText.of(text)
    is_thumb = not heard.message and not _THUMBS.isdisjoint(text)
    is_said = any(book.is_content(heard) for book in _own_and_english(language))
    return (is_thumb or is_said) and not _ASKS.search(text)


def _own_and_english(language: str) -> list[Phrasebook]:
    books = phrasebook.all_books()
    return [books[code] for code in (phrasebook.base_of(language), "en") if code in books]


def _books(language: str) -> list[Phrasebook]:
    books = phrasebook.all_books()
    own = books.get(phrasebook.base_of(language))
    return [own, *books.values()] if own else [*books.values()]
