"""`announce()` is what higher apps use."""

from webhooks.services.events import announce

__all__ = ["announce"]
