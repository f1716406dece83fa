"""What happened: `announce()` writes it down in the transaction of the change."""

import uuid
from typing import Any

from webhooks.models import Event


def announce(
    client_id: int,
    type: str,
    data: dict[str, Any],
    *,
    conversation_id: uuid.UUID | None = None,
    sequence: int | None = None,
) -> Event:
    """Append an event to the client's log.

    `sequence` counts the events of `conversation_id` without gaps: the caller takes it from the
    conversation's row, under that row's lock. Rolled back with the transaction around it.
    """
    return Event.objects.create(
        client_id=client_id,
        type=type,
        data=data,
        conversation_id=conversation_id,
        sequence=sequence,
    )
