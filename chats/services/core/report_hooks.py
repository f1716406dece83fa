"""The hook through which this app tells the higher app `reports` what it must count anew."""

import uuid
from collections.abc import Collection
from typing import Protocol

from chatplatform.hooks import Hook


class StoredFigures(Protocol):
    """Implemented by the module `reports.services.message_counts`."""

    def forget(self, chat_ids: Collection[uuid.UUID]) -> None:
        """Delete the figures of these conversations, which got messages between older messages or
        whose messages have new numbers. Call it in the transaction of the change, before other
        locks are taken."""


stored_figures = Hook[StoredFigures]()
