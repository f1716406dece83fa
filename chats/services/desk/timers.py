"""What time alone does to conversations. Each function may run twice, and in two places at once.

A row is looked for, locked and looked at again: who comes second skips it while it is locked, and
finds it changed afterwards. The database's clock decides.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import (
    Case,
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Now

from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Notification,
    NotificationKind,
    Status,
)
from chats.services.core import conversations, lifecycle, notifications
from chats.services.desk import routing

log = logging.getLogger(__name__)
# Rows that one call deals with; what is left waits for the next.
BATCH = 500
# So many that fail in one call are not the rows' fault: the call ends.
MAX_FAILURES = 500


def wake_snoozed() -> int:
    """Open what was snoozed until now."""
    rows = Conversation.objects.filter(status=Status.SNOOZED, snoozed_until__lte=Now())
    return _each(rows, "snoozed_until", lifecycle.wake)


def return_late() -> int:
    """Back to the queue with chats whose agent did not reply in the time that was set."""
    rows = Conversation.objects.filter(
        status=Status.OPEN, assign_type=AssignType.AGENT, return_at__lte=Now()
    )
    return _each(rows, "return_at", _return)


def warn_unanswered() -> int:
    """Notify of customers who wait for a person too long; once for each time they wait."""
    warned = Notification.objects.filter(
        conversation=OuterRef("pk"),
        kind=NotificationKind.UNANSWERED,
        created_at__gte=OuterRef("waiting_since"),
    )
    patience = Case(
        When(
            client__email_notification__on_unanswered=True,
            then=F("client__email_notification__unanswered_after_minutes") * 60,
        ),
        default=F("client__config__first_response_target_seconds"),
        output_field=IntegerField(),
    )
    # Annotated, so that a client without a row for its mails is not left out by the join.
    rows = Conversation.objects.annotate(patience=patience).filter(
        ~Exists(warned),
        status=Status.OPEN,
        waiting_since__lte=before_now(F("patience"), seconds=1),
    )
    return _each(rows, "waiting_since", notifications.unanswered)


def end_inactive() -> int:
    """End open chats in which nobody has written for as long as their client says."""
    idle_since = before_now(F("client__config__inactivity_end_minutes"), minutes=1)
    rows = Conversation.objects.filter(
        Q(last_message_at__lte=idle_since) | Q(last_message_at=None, created_at__lte=idle_since),
        status=Status.OPEN,
        client__config__inactivity_end_minutes__gt=0,
    )
    return _each(rows, Coalesce("last_message_at", "created_at"), _end)


def assign_waiting() -> None:
    """Hand out what waits by strategy: should a hint or an agent's coming have been missed."""
    for client_id in routing.clients_with_waiting():
        try:
            routing.assign_waiting(client_id)
        except Exception:
            # One client's trouble must not keep the others' customers waiting.
            log.exception("what waits at client %s could not be handed out", client_id)


def _return(chat: LockedConversation) -> None:
    lifecycle.to_queue(chat, reason="agent_silent")


def _end(chat: LockedConversation) -> None:
    lifecycle.end(chat, by="inactivity")


def before_now(count: Combinable, **unit: int) -> Combinable:
    """The time so many units ago, by the database's clock."""
    ago = ExpressionWrapper(count * Value(timedelta(**unit)), output_field=DurationField())
    return ExpressionWrapper(Now() - ago, output_field=DateTimeField())


def _each(
    due: QuerySet[Conversation], order: str | Combinable, act: Callable[[LockedConversation], None]
) -> int:
    """Act on each row that is due, under its lock; how many there were.

    A row that fails is passed over, and gives its place to the next one: however many there are
    of them, and though they come first each time, the others get their turn.
    """
    done, failed = 0, list[Any]()
    places = BATCH
    while places and len(failed) < MAX_FAILURES:
        rows = due.exclude(pk__in=failed).order_by(order, "id").values_list("pk", flat=True)
        succeeded, failing = _act_on(list(rows[:places]), due, act)
        done += succeeded
        failed += failing
        places = len(failing)
    return done


def _act_on(
    chat_ids: Sequence[Any], due: QuerySet[Conversation], act: Callable[[LockedConversation], None]
) -> tuple[int, list[Any]]:
    """How many were acted on, and which failed."""
    done, failed = 0, []
    for chat_id in chat_ids:
        try:
            with transaction.atomic():
                row = due.filter(pk=chat_id).select_for_update(
                    no_key=True, skip_locked=True, of=("self",)
                )
                found = row.first()
                if found:
                    act(conversations.lock(found))
            done += found is not None
        except Exception:
            # One that cannot be dealt with must not stop time for the chats of every client.
            log.exception("%s failed for chat %s", act.__name__, chat_id)
            failed.append(chat_id)
    return done, failed
