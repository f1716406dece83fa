"""The hook through which this app tells `reports`, a higher app, which figures to recalculate."""

import uuid
from collections.abc import Collection
from typing import Protocol

from chatplatform.hooks import Hook


class StoredFigures(Protocol):
    """The figures that reports store; `reports.services.message_counts` implements it."""

    def delete(self, chat_ids: Collection[uuid.UUID]) -> None:
        """Delete the figures of conversations in which messages were inserted between older ones or
        renumbered. Call it in the transaction of the change, before taking other locks."""


stored_figures = Hook[StoredFigures]()
