"""What every app above needs of this one: `announce()`."""

from webhooks.services.events import announce

__all__ = ["announce"]
