"""A hook through which bots learn how customers used their documents; `chats.apps` installs it,
since conversations are in a higher app."""

from typing import Protocol

from bots.models import Bot, Document


class UsageLookup(Protocol):
    """Implemented by the module `chats.services.insight.cited_documents`."""

    def answers(self, bot: Bot) -> dict[int, int]:
        """The number of the bot's answers of the last 30 days that cite each document, by id."""

    def questions(self, document: Document) -> list[str]:
        """The latest questions of the last 30 days whose answers cite a document, newest first."""

    def unanswered_by_language(self, bot: Bot) -> dict[str, int]:
        """The number of the bot's unanswered questions of the last seven days, by language."""


_lookup: UsageLookup | None = None


def install(lookup: UsageLookup) -> None:
    """Set the lookup; called once, when the apps are loaded."""
    global _lookup  # noqa: PLW0603 - one per process
    _lookup = lookup


def answers(bot: Bot) -> dict[int, int]:
    """The number of the bot's answers of the last 30 days that cite each document, by id."""
    assert _lookup, "chats.apps installs it"
    return _lookup.answers(bot)


def questions(document: Document) -> list[str]:
    """The latest questions of the last 30 days whose answers cite a document, newest first."""
    assert _lookup, "chats.apps installs it"
    return _lookup.questions(document)


def unanswered_by_language(bot: Bot) -> dict[str, int]:
    """The number of the bot's unanswered questions of the last seven days, by language."""
    assert _lookup, "chats.apps installs it"
    return _lookup.unanswered_by_language(bot)
