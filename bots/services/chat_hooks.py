"""Hooks through which this app asks about agents and conversations.

The higher app `chats` installs their implementations.
"""

from datetime import datetime
from typing import Protocol

from bots.models import Bot, Document
from chatplatform.hooks import Hook


class AgentLookup(Protocol):
    """Implemented by the module `chats.services.core.presence`."""

    def available(self, client_id: int) -> set[int]:
        """The ids of the client's people who are online and not away; empty if that is unknown."""

    def usual_wait(self, bot_id: int) -> int | None:
        """The number of minutes in which agents usually answer; None if that is unknown."""


class UsageLookup(Protocol):
    """Implemented by the module `chats.services.insight.cited_documents`."""

    def answers(self, bot: Bot) -> dict[int, int]:
        """The number of the bot's answers in the last 30 days that cite each document, keyed by
        the document's id."""

    def counted_at(self, bot: Bot) -> datetime:
        """When the numbers of `answers` were counted."""

    def questions(self, document: Document) -> list[str]:
        """The latest questions in the last 30 days whose answers cite a document, newest first."""

    def unanswered_by_language(self, bot: Bot) -> dict[str, int]:
        """The number of the bot's unanswered questions in the last seven days, by language."""


agents = Hook[AgentLookup]()
document_usage = Hook[UsageLookup]()
