"""The sentences that the platform itself says to customers, in their language.

The words are in `bots.knowledge.phrasebook`; a client's own words go first. If a language has
neither, the bot's default language is used.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.utils import timezone

from bots.knowledge import phrasebook
from bots.knowledge.phrasebook import base_of
from bots.services import business_hours
from chats.models import Conversation

# Nothing else is left if not even the client's default language has a word.
_LAST_RESORT = "en"


class Said(NamedTuple):
    """A sentence, and the language that it is in."""

    text: str
    language: str


def sentence(name: str, *, language: str, chat: Conversation) -> Said:
    """The sentence with this name of the phrasebook's section `says`."""
    return _in(language, chat, _own(name, chat), _ours(name))


def greeting(*, language: str, chat: Conversation) -> Said:
    """The bot's welcome message, or the usual greeting."""
    own = _own("greeting", chat)
    return _in(language, chat, chat.bot.welcome_message, own, _ours("greeting"))


def welcome(*, language: str, chat: Conversation) -> Said | None:
    """The bot's own welcome message; None if it has none in the language or its default one."""
    own = chat.bot.welcome_message
    for wanted in (language, chat.bot.default_language):
        for code in _codes(wanted, own):
            if own.get(code):
                return Said(own[code], code)
    return None


def confirm(action: str, *, language: str, chat: Conversation) -> Said:
    """The question before a call of a function that the customer must confirm."""
    question = sentence("confirm", language=language, chat=chat)
    # Not by format(): the action holds what customers wrote.
    return question._replace(text=question.text.replace("{action}", action))


def handover(*, reason: str, language: str, chat: Conversation) -> Said:
    """What the customer is told when a person will answer; outside business hours another text."""
    if reason == "approval_needed":
        # The client's own text is about a question that the bot could not answer.
        return sentence(reason, language=language, chat=chat)
    closed = out_of_hours(language=language, chat=chat)
    if closed:
        return closed
    own = chat.client.config.handoff_message
    if reason != "no_answer":
        return _in(language, chat, own, _ours("handover"))
    name = "handover_no_answer"
    return _in(language, chat, _own(name, chat), own, _ours(name))


def out_of_hours(*, language: str, chat: Conversation) -> Said | None:
    """What the customer is told while it is closed; None if it is open, or no text is set."""
    config = chat.client.config
    if not config.out_of_hours_message or business_hours.is_open(config, chat.bot, timezone.now()):
        return None
    return _in(language, chat, config.out_of_hours_message, _ours("closed"))


def _own(name: str, chat: Conversation) -> Mapping[str, str]:
    texts: Mapping[str, str] = chat.client.config.words.get(name, {})
    return texts


def _ours(name: str) -> Mapping[str, str]:
    return {code: book.says[name] for code, book in phrasebook.all_books().items()}


def _in(language: str, chat: Conversation, *sources: Mapping[str, str]) -> Said:
    """The first source's text in the first language that one of them has."""
    for wanted in (language, chat.bot.default_language, chat.client.default_language):
        for source in sources:
            code = next((code for code in _codes(wanted, source) if source.get(code)), None)
            if code:
                return Said(source[code], code)
    return Said(sources[-1][_LAST_RESORT], _LAST_RESORT)


def _codes(language: str, source: Mapping[str, str]) -> Iterator[str]:
    """The language itself, without its region, and with any other region."""
    yield language
    yield base_of(language)
    yield from (code for code in source if base_of(code) == base_of(language))
