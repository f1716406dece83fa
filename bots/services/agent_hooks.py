"""What bots ask about agents, who work in a higher app: `chats.apps` sets the answer."""

from typing import Protocol


class AgentLookup(Protocol):
    """Satisfied by the module `chats.services.core.presence`."""

    def online(self, client_id: int) -> set[int]:
        """Ids of the client's people who are online; empty if nobody can tell."""


_lookup: AgentLookup | None = None


def install(lookup: AgentLookup) -> None:
    """Called once, when the apps are loaded."""
    global _lookup  # noqa: PLW0603 - one a process
    _lookup = lookup


def agents() -> AgentLookup:
    assert _lookup, "chats.apps installs it"
    return _lookup
