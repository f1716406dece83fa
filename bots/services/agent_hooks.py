"""A hook through which bots look up agents, whose app is higher: `chats.apps` installs it."""

from typing import Protocol


class AgentLookup(Protocol):
    """Implemented by the module `chats.services.core.presence`."""

    def online(self, client_id: int) -> set[int]:
        """Ids of the client's people who are online; empty if that is unknown."""

    def usual_wait(self, bot_id: int) -> int | None:
        """How many minutes an agent usually takes to answer; None if that is unknown."""


_lookup: AgentLookup | None = None


def install(lookup: AgentLookup) -> None:
    """Set the lookup; called once, when the apps are loaded."""
    global _lookup  # noqa: PLW0603 - one per process
    _lookup = lookup


def agents() -> AgentLookup:
    assert _lookup, "chats.apps installs it"
    return _lookup
