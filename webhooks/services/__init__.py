"""Higher apps use `announce()`."""

from webhooks.services.events import announce

__all__ = ["announce"]
