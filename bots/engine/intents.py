"""What a message wants besides an answer: small talk, a person, a yes or a no, in any language.

The words are in `bots.knowledge.phrasebook`.
"""

from bots.knowledge import phrasebook
from bots.knowledge.phrasebook import Heard, Phrasebook, SmallTalk


def small_talk(text: str, *, language: str = "") -> SmallTalk | None:
    """What the message is if it is nothing more; `language` decides where languages differ."""
    heard = Heard.of(text)
    return next((kind for book in _books(language) if (kind := book.small_talk(heard))), None)


def asks_for_person(text: str) -> bool:
    """Whether the message asks to be handed to a human being."""
    heard = Heard.of(text)
    return any(book.asks_for_person(heard) for book in phrasebook.all_books().values())


def yes_or_no(text: str, *, language: str) -> bool | None:
    """Whether a whole message says yes or no; None if it says anything else.

    It is read in its language and in English. In another language it must be spelt with letters of
    that language: "co" asks a question in Polish, while "có" is a yes in Vietnamese.
    """
    heard, books = Heard.of(text), phrasebook.all_books()
    for code in (phrasebook.base_of(language), "en"):
        answer = books[code].yes_or_no(heard) if code in books else None
        if answer is not None:
            return answer
    spelt = {book.spells(text) for book in books.values()} - {None}
    return spelt.pop() if len(spelt) == 1 else None


def _books(language: str) -> list[Phrasebook]:
    books = phrasebook.all_books()
    own = books.get(phrasebook.base_of(language))
    return [own, *books.values()] if own else [*books.values()]
