"""The events about one row of another table, for the row's page on the site."""

import uuid

from django.db.models import QuerySet

from webhooks.catalogue import EVENTS
from webhooks.models import SUBJECT_ID, Event


def about(client_id: int, noun: str, row_id: str) -> QuerySet[Event]:
    """The events about a conversation, document or customer, newest first; none for other nouns.

    A conversation's events about messages are left out.
    """
    rows = Event.objects.filter(client_id=client_id)
    if noun == "conversation":
        found = rows.filter(conversation_id=uuid.UUID(row_id)).exclude(type__startswith="message.")
        return found.order_by("-sequence")
    if noun not in {"document", "customer"}:
        return rows.none()
    types = [name for name, kind in EVENTS.items() if noun in kind.data]
    found = rows.filter(conversation_id=None).alias(subject_id=SUBJECT_ID)
    return found.filter(subject_id=row_id, type__in=types).order_by("-id")
