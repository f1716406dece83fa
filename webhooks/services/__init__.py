"""The services of webhooks. Higher apps announce events with `announce()`."""

from webhooks.services.events import announce

__all__ = ["announce"]
