"""The events about one row, for people to read."""

import uuid

from django.db.models import QuerySet

from webhooks.catalogue import EVENTS
from webhooks.models import SUBJECT_ID, Event


def about(client_id: int, noun: str, row_id: str) -> QuerySet[Event]:
    """The events about a row, newest first; for a conversation, those not about its messages."""
    rows = Event.objects.filter(client_id=client_id)
    if noun == "conversation":
        moves = rows.filter(conversation_id=uuid.UUID(row_id)).exclude(type__startswith="message.")
        return moves.order_by("-sequence")
    if noun not in {"document", "customer"}:
        return rows.none()
    types = [name for name, kind in EVENTS.items() if noun in kind.data]
    found = rows.filter(conversation_id=None).alias(subject_id=SUBJECT_ID)
    return found.filter(subject_id=row_id, type__in=types).order_by("-id")
