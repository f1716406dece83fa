"""How long ended chats are kept, and how a chat is deleted: here alone."""

import logging
from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from bots.services import function_calls
from chatplatform import jobs, media
from chats.models import Attachment, Conversation, LockedConversation, Status
from chats.services.desk.timers import before_now
from identity.models import ClientConfig
from identity.services import audit
from webhooks.services import events

log = logging.getLogger(__name__)
# What one transaction deletes at most; so many messages are enough, however few chats they are of.
CHATS = 100
MESSAGES = 2000
# Below PostgreSQL's deadlock_timeout of a second: of two that wait for each other we are the one
# that gives way.
_PATIENCE = "SET LOCAL lock_timeout = '500ms'"


def begin() -> None:
    """A job for each client that has ended chats whose time is over."""
    expired = _expired(OuterRef("client_id"), OuterRef("retention_days"))
    rows = ClientConfig.objects.filter(Exists(expired), retention_days__isnull=False)
    for client_id in rows.values_list("client_id", flat=True):
        _enqueue(client_id)


def proceed(client_id: int, *, after: Sequence[str] | None = None) -> None:
    """Delete a client's next chats, behind the end and the id `after`, and leave the rest to a job.

    So the jobs of other clients come in between. What is locked now, or fails, is passed over
    until the next hour.
    """
    with jobs.commit():
        with connection.cursor() as cursor:
            cursor.execute(_PATIENCE)
        days = ClientConfig.objects.get(client_id=client_id).retention_days
        if days is None:
            return
        rows = _behind(_expired(client_id, Value(days)), after).order_by("end", "id")
        # Looked at again under its lock: a chat that was opened meanwhile is none of them.
        found = list(rows.select_for_update(skip_locked=True, of=("self",))[:CHATS])
        chats = _first_of(found)
        is_last = len(found) < CHATS and len(chats) == len(found)
        # Kept now: what is deleted has no id any more.
        position = None if is_last else [chats[-1].end.isoformat(), str(chats[-1].pk)]
        deleted = sum(_try_to_delete(chat) for chat in chats)
        if deleted:
            audit.record(
                client_id,
                "conversations.deleted",
                by=None,
                subject=f"client:{client_id}",
                changes={"count": deleted, "reason": "retention"},
            )
        if position:
            _enqueue(client_id, after=position)


def delete(chat: LockedConversation) -> None:
    """Delete a chat with all that was kept of it.

    The customer stays, and so does what the audit log and the ledger say: they hold no word of it.
    """
    events.forget(chat.pk)
    function_calls.forget(chat.pk)
    names = Attachment.objects.filter(conversation=chat).values_list("file", flat=True)
    media.remove_later(chat.client_id, list(names))
    chat.delete()


def _expired(client_id: Any, days: Combinable) -> QuerySet[Any]:
    """A client's chats that ended so many days ago or earlier; `end` is when.

    Its days are given, not joined: only then the index leads past all that is kept.
    """
    return Conversation.objects.annotate(end=Coalesce("ended_at", "imported_at")).filter(
        client_id=client_id, status=Status.ENDED, end__lte=before_now(days, days=1)
    )


def _behind(rows: QuerySet[Any], after: Sequence[str] | None) -> QuerySet[Any]:
    if after is None:
        return rows
    end, chat_id = after
    # The second half is what the index is searched by.
    return rows.filter(Q(end__gt=end) | Q(id__gt=chat_id), end__gte=end)


def _first_of(found: Sequence[Any]) -> Sequence[Any]:
    """As many as have `MESSAGES` together, and one at least."""
    messages = 0
    for count, chat in enumerate(found, start=1):
        messages += chat.last_seq
        if messages >= MESSAGES:
            return found[:count]
    return found


def _try_to_delete(chat: LockedConversation) -> bool:
    chat_id = chat.pk
    try:
        with transaction.atomic():
            delete(chat)
    except Exception:
        # One that cannot be deleted must not keep the client's others for ever.
        log.exception("chat %s could not be deleted", chat_id)
        return False
    return True


def _enqueue(client_id: int, **more: Any) -> None:
    # The key: who asks while a job waits asks for the same.
    jobs.enqueue("chats.delete_expired", client_id=client_id, dedupe_key=str(client_id),
            client=client_id, **more)  # fmt: skip
