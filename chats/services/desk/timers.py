"""What happens to conversations as time passes, such as the end of a snooze.

Each function may run in two processes at once, because it locks each row that it has found and
checks it again. A second process skips the row while it is locked, and finds that nothing is left
to do for it afterwards. Business hours are computed with the process's clock; all other times are
compared with the database's clock.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
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
from django.utils import timezone

from bots.models import Bot
from bots.services import business_hours
from chats.models import (
    AssignType,
    Conversation,
    LockedConversation,
    Notification,
    NotificationKind,
    Status,
)
from chats.services.core import conversations, lifecycle, presence, team_notifications
from chats.services.desk import routing
from identity.services import move_freeze

log = logging.getLogger(__name__)
# The maximum number of rows that one call processes; the rest wait for the next call.
BATCH = 500
# A call ends after this many failures, because the cause is then unlikely to be in the rows.
MAX_FAILURES = 500


def wake_snoozed() -> int:
    """Reopen snoozed chats whose `snoozed_until` has passed; return how many."""
    rows = Conversation.objects.filter(status=Status.SNOOZED, snoozed_until__lte=Now())
    return _process(rows, "snoozed_until", lifecycle.wake)


def return_unanswered_to_queue() -> int:
    """Move chats to the queue if their agents did not reply before `return_at`; return how many."""
    rows = Conversation.objects.filter(
        status=Status.OPEN, assign_type=AssignType.AGENT, return_at__lte=Now()
    )
    return _process(rows, "return_at", _return_to_queue)


def warn_unanswered() -> int:
    """Notify the team of chats whose customers have waited too long within their bot's business
    hours, once for each wait; return the number of chats."""
    warned = Notification.objects.filter(
        conversation=OuterRef("pk"),
        kind=NotificationKind.UNANSWERED,
        created_at__gte=OuterRef("waiting_since"),
    )
    max_wait = Case(
        When(
            client__email_notification__on_unanswered=True,
            then=F("client__email_notification__unanswered_after_minutes") * 60,
        ),
        default=F("client__config__first_response_target_seconds"),
        output_field=IntegerField(),
    )
    # `max_wait` is an annotation, because a filter would use an inner join, which leaves out
    # clients without settings for mails.
    rows = Conversation.objects.annotate(max_wait=max_wait).filter(
        ~Exists(warned), status=Status.OPEN, is_preview=False,
        waiting_since__lte=before_now(F("max_wait"), seconds=1),
    )  # fmt: skip
    # Valkey is called before any row is locked, because it may be slow.
    clients = rows.values_list("client_id", flat=True).distinct()
    online = {client_id: presence.online(client_id) for client_id in clients}

    def notify(chat: LockedConversation) -> None:
        team_notifications.notify_unanswered(chat, online=online.get(chat.client_id, set()))

    cutoffs = _cutoffs(rows)
    done = _process(rows.exclude(bot__in=cutoffs), "waiting_since", notify)
    for bot_id, cutoff in cutoffs.items():
        late = rows.filter(bot=bot_id, waiting_since__lte=cutoff)
        done += _process(late, "waiting_since", notify)
    return done


def _cutoffs(rows: QuerySet[Any]) -> dict[int, datetime]:
    """For each bot with business hours, by id: the time `max_wait` seconds of business hours ago.
    Waits that began earlier are too long."""
    waits = dict(rows.values_list("bot_id", "max_wait").distinct())
    bots = Bot.objects.filter(pk__in=waits).select_related("client__config")
    now = timezone.now()
    return {
        bot.pk: business_hours.subtract_open_time(
            bot.client.config, bot, now, timedelta(seconds=waits[bot.pk])
        )
        for bot in bots
        if business_hours.has_hours(bot.client.config, bot)
    }


def end_inactive() -> int:
    """End open chats that have had no message for the client's `inactivity_end_minutes`; return how
    many."""
    idle_since = before_now(F("client__config__inactivity_end_minutes"), minutes=1)
    rows = Conversation.objects.filter(
        Q(last_message_at__lte=idle_since) | Q(last_message_at=None, created_at__lte=idle_since),
        status=Status.OPEN,
        client__config__inactivity_end_minutes__gt=0,
    )
    return _process(rows, Coalesce("last_message_at", "created_at"), _end)


def assign_waiting() -> None:
    """Assign waiting chats by strategy, in case a job was lost or found no agent."""
    frozen = move_freeze.frozen_ids()
    for client_id in (pk for pk in routing.clients_with_waiting() if pk not in frozen):
        try:
            routing.assign_waiting(client_id)
        except Exception:
            # One client's error must not keep other clients' customers waiting.
            log.exception("the waiting chats of client %s could not be assigned", client_id)


def _return_to_queue(chat: LockedConversation) -> None:
    lifecycle.to_queue(chat, reason="agent_silent")


def _end(chat: LockedConversation) -> None:
    lifecycle.end(chat, by="inactivity")


def before_now(count: Combinable, **unit: int) -> Combinable:
    """The time `count` units ago, by the database's clock."""
    ago = ExpressionWrapper(count * Value(timedelta(**unit)), output_field=DurationField())
    return ExpressionWrapper(Now() - ago, output_field=DateTimeField())


def _process(
    due: QuerySet[Conversation], order: str | Combinable, act: Callable[[LockedConversation], None]
) -> int:
    """Act on up to `BATCH` due rows, each under its lock; return how many succeeded. For each row
    that fails, another row is tried, so that rows that always fail do not block the others."""
    due = due.exclude(client_id__in=move_freeze.frozen_ids())
    done, failed = 0, list[Any]()
    remaining = BATCH
    while remaining and len(failed) < MAX_FAILURES:
        rows = due.exclude(pk__in=failed).order_by(order, "id").values_list("pk", flat=True)
        succeeded, new_failures = _process_rows(list(rows[:remaining]), due, act)
        done += succeeded
        failed += new_failures
        remaining = len(new_failures)
    return done


def _process_rows(
    chat_ids: Sequence[Any], due: QuerySet[Conversation], act: Callable[[LockedConversation], None]
) -> tuple[int, list[Any]]:
    """Act on these rows; return how many succeeded, and the ids of those that failed."""
    done, failed = 0, []
    for chat_id in chat_ids:
        try:
            with transaction.atomic():
                rows = Conversation.objects.filter(pk=chat_id)
                row = rows.select_for_update(no_key=True, skip_locked=True).first()
                # Checked again under the lock, because another process may just have acted.
                is_due = row is not None and due.filter(pk=chat_id).exists()
                if row and is_due:
                    act(conversations.lock(row))
            done += is_due
        except Exception:
            # One row that fails must not stop the timers for all clients.
            log.exception("%s failed for chat %s", act.__name__, chat_id)
            failed.append(chat_id)
    return done, failed
