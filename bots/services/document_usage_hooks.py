"""A hook through which bots learn how often answers used their documents; `chats.apps` installs
it, since conversations are in a higher app."""

from typing import Protocol

from bots.models import Bot


class UsageLookup(Protocol):
    """Implemented by the module `chats.services.insight.cited_documents`."""

    def answers(self, bot: Bot) -> dict[int, int]:
        """The number of the bot's answers of the last 30 days that cite each document, by id."""


_lookup: UsageLookup | None = None


def install(lookup: UsageLookup) -> None:
    """Set the lookup; called once, when the apps are loaded."""
    global _lookup  # noqa: PLW0603 - one per process
    _lookup = lookup


def answers(bot: Bot) -> dict[int, int]:
    """The number of the bot's answers of the last 30 days that cite each document, by id."""
    assert _lookup, "chats.apps installs it"
    return _lookup.answers(bot)
