"""The sentences that the platform itself says to customers, in their language.

The words are in `bots.knowledge.phrasebook`; a client's own words go first. If a language has
neither, or the bot is not offered in it, the bot's default language is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils import timezone

from bots.knowledge import phrasebook
from bots.knowledge.phrasebook import base_of
from bots.services import bots, business_hours
from chats.models import Conversation, text_content

# Nothing else is left if not even the client's default language has a word.
_LAST_RESORT = "en"


class Said(NamedTuple):
    """A sentence, and the language that it is in."""

    text: str
    language: str
    # What the customer may choose below it: each is said as it stands.
    choices: tuple[str, ...] = ()

    @property
    def content(self) -> list[dict[str, Any]]:
        """It as the content of a message."""
        content = text_content(self.text)
        if self.choices:
            content[0]["options"] = [{"label": choice, "value": choice} for choice in self.choices]
        return content


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


def ask_info(field: Mapping[str, Any], *, language: str, chat: Conversation) -> Said:
    """The question for a customer-info field: the client's own, or ours with the field's label."""
    own: Mapping[str, str] = field.get("question") or {}
    labels: Mapping[str, str] = field["label"]
    language, default = _offered(language, chat), chat.bot.default_language
    for wanted in (language, default):
        code = next((code for code in _codes(wanted, own) if own.get(code)), None)
        if code:
            return Said(own[code], code)
        if any(labels.get(code) for code in _codes(wanted, labels)):
            break
    label = bots.in_language(labels, language, default=default) or field["name"]
    choices = [option["label"] for option in field.get("options") or []]
    asked = label.rstrip("?？؟: ") + (f" ({', '.join(choices)})" if choices else "")
    said = sentence("ask_info", language=language, chat=chat)
    return said._replace(text=said.text.replace("{label}", asked))


def about_bot(*, language: str, chat: Conversation) -> Said:
    """Whose assistant the bot is; and that a person can be asked for, if the client wishes that."""
    said = sentence("about_bot", language=language, chat=chat)
    words = said.text.replace("{company}", chat.client.name)
    if chat.client.config.handoff_on_request:
        person = sentence("person_possible", language=said.language, chat=chat)
        words = f"{words} {person.text}"
    return said._replace(text=words)


def ask_again(headings: Sequence[str], *, person: bool, language: str, chat: Conversation) -> Said:
    """The request for other words, with headings to choose from and, if wished, a person."""

    def say(name: str) -> str:
        return sentence(name, language=said.language, chat=chat).text

    said = sentence("unknown", language=language, chat=chat)
    parts = [said.text, *([say("nearest")] if headings else [])]
    choices = tuple(headings)
    if person:
        parts.insert(1, say("person_possible"))
        choices += (say("person_button"),)
    return Said(" ".join(parts), said.language, choices)


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
    language = _offered(language, chat)
    for wanted in (language, chat.bot.default_language, chat.client.default_language):
        for source in sources:
            code = next((code for code in _codes(wanted, source) if source.get(code)), None)
            if code:
                return Said(source[code], code)
    return Said(sources[-1][_LAST_RESORT], _LAST_RESORT)


def _offered(language: str, chat: Conversation) -> str:
    """The language, or the bot's default one if the bot is not offered in it."""
    offered = {base_of(code) for code in chat.bot.languages}
    return language if not offered or base_of(language) in offered else chat.bot.default_language


def _codes(language: str, source: Mapping[str, str]) -> Iterator[str]:
    """The language itself, without its region, and with any other region."""
    yield language
    yield base_of(language)
    yield from (code for code in source if base_of(code) == base_of(language))
