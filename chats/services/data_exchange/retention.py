"""Deletes chats a set number of days after their end. `erasing` also uses it to delete chats."""

import logging
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from bots.services import function_call_approvals
from chatplatform import jobs, media
from chatplatform.sql import execute
from chats.models import Attachment, Conversation, LockedConversation, Status
from chats.services.desk import feed
from chats.services.desk.timers import before_now
from identity.models import ClientConfig
from identity.services import audit
from webhooks.services import events

log = logging.getLogger(__name__)
# One transaction deletes at most MAX_CHATS chats, and stops once it reaches MAX_MESSAGES messages.
MAX_CHATS = 100
MAX_MESSAGES = 2000
# Shorter than PostgreSQL's deadlock_timeout of one second, so that in a deadlock this transaction
# is the one that fails.
_SET_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '500ms'"


def enqueue_expired() -> None:
    """Enqueue a job for each client that has chats to delete."""
    expired = _expired(OuterRef("client_id"), OuterRef("retention_days"))
    rows = ClientConfig.objects.filter(Exists(expired), retention_days__isnull=False)
    for client_id in rows.values_list("client_id", flat=True):
        _enqueue(client_id)


def delete_expired(client_id: int, *, after: Sequence[str] | None = None) -> None:
    """Delete a client's next expired chats, and leave the rest to another job, so that other
    clients' jobs run in between.

    `after`: the end and id of the last chat that the previous job handled. A chat that cannot be
    deleted is tried again after the next `enqueue_expired`.
    """
    with jobs.commit():
        execute(_SET_LOCK_TIMEOUT)
        days = ClientConfig.objects.get(client_id=client_id).retention_days
        if days is None:
            return
        rows = _expired(client_id, Value(days)).order_by("end", "id")
        if after is not None:
            end, chat_id = after
            # Written like this, the condition lets PostgreSQL search the index by `end`.
            rows = rows.filter(Q(end__gt=end) | Q(id__gt=chat_id), end__gte=end)
        # Locking checks the condition again, so a chat that was just reopened is left out.
        expired = list(rows.select_for_update(skip_locked=True, of=("self",))[:MAX_CHATS])
        chats = up_to_max_messages(expired)
        is_last = len(expired) < MAX_CHATS and len(chats) == len(expired)
        # Must be read before the deletion, which removes the id from the object.
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
    """Delete a chat and everything stored about it. The customer, the audit log and the ledger
    stay; the log and the ledger contain no text of messages."""
    events.delete_for_conversation(chat.pk)
    function_call_approvals.delete_for_conversation(chat.pk)
    names = Attachment.objects.filter(conversation=chat).values_list("file", flat=True)
    media.remove_later(chat.client_id, list(names))
    feed.publish_deletion(chat)
    chat.delete()


def _expired(client_id: Any, days: Combinable) -> QuerySet[Any]:
    """A client's chats that ended at least `days` ago, annotated with their `end`. `days` is passed
    as a value, because with a join the index could not skip the chats that are not expired."""
    return Conversation.objects.annotate(end=Coalesce("ended_at", "imported_at")).filter(
        client_id=client_id, status=Status.ENDED, end__lte=before_now(days, days=1)
    )


def up_to_max_messages(chats: Sequence[Any]) -> Sequence[Any]:
    """The first chats, up to and including the one whose messages reach `MAX_MESSAGES` in total."""
    messages = 0
    for count, chat in enumerate(chats, start=1):
        messages += chat.last_seq
        if messages >= MAX_MESSAGES:
            return chats[:count]
    return chats


def _try_to_delete(chat: LockedConversation) -> bool:
    chat_id = chat.pk
    try:
        with transaction.atomic():
            delete(chat)
    except Exception:
        # A chat that cannot be deleted must not prevent the deletion of the client's other chats.
        log.exception("chat %s could not be deleted", chat_id)
        return False
    return True


def _enqueue(client_id: int, **args: Any) -> None:
    # Because of `dedupe_key`, a client has at most one waiting job.
    jobs.enqueue("chats.delete_expired", client_id=client_id, dedupe_key=str(client_id),
            client=client_id, **args)  # fmt: skip
