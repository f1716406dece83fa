"""The queue of items from callbacks. Each item is stored as waiting, and then processed once.

If an account's items in a body belong to at most ten customers, each customer gets a job. The items
of larger bodies are batched, and so are receipts and echoes of our sends, which are not urgent. One
job per account processes the batched items, fifty at a time: customers take turns, and among
them items of smaller bodies come first. So a body with a thousand customers does not delay other
customers' messages. The accounts of a client take turns, too. In any job, an item waits while an
earlier item of its customer waits.
"""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connection as database
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value, Window
from django.db.models.functions import Cast, Concat, Now, RowNumber
from django.utils import timezone

from channels_app.models import (
    ChannelConnection,
    InboundCallback,
    InboundItem,
    OutboundSend,
    Outcome,
)
from channels_app.providers import PROVIDERS
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.events import Echo, FromCustomer, Item, Receipt, Unsupported
from channels_app.services import identities, inbound
from channels_app.services.identities import customer_key
from chatplatform import jobs, locks
from chatplatform.jobs import registry
from chatplatform.models import Job, JobState
from chats.services.core.customers import CustomerBlocked

log = logging.getLogger(__name__)
# An item's position in the callback, and the item.
Numbered = tuple[int, Item]
# Sends have priority 0 and go first: a finished reply must not wait for new messages.
_JOB, _PRIORITY = "channels_app.process_items", 1
# An account's items in a body are batched if they belong to more customers than this.
_MAX_OWN_JOBS = 10
# A job processes at most this many items; a job for batched items starts none after this many
# seconds.
_MAX_ITEMS, _SLICE_SECONDS = 50, 0.5
# Batched items are held back while at least this many of the client's jobs in `_QUEUES_AHEAD` are
# due, and for a minute at most. The number is checked every half second.
_MIN_JOBS_AHEAD, _POLL_INTERVAL = 4, timedelta(seconds=0.5)
_QUEUES_AHEAD = {jobs.Queue.REPLY, jobs.Queue.CHANNEL}
_MAX_HOLD = timedelta(minutes=1)
# After this many attempts, four minutes in all, an item is parked: it no longer delays its
# customer's later items. It is tried again after 10 minutes, 20, … and finally once a day.
ATTEMPTS, _FIRST_PARKED_WAIT, _MAX_PARKED_WAIT = 10, timedelta(minutes=10), timedelta(days=1)
_BATCH_KEY, _PARKED_KEY = "inbound:", "inbound-item:"
# An item without a job gets one when it has waited this long.
_ORPHAN_AGE = timedelta(minutes=2)


# --- storing arriving items ---------------------------------------------------------------------


def store(
    callback: InboundCallback,
    items: Iterable[Numbered],
    connections: Mapping[str, ChannelConnection | None],
) -> None:
    """Store the items of a callback for the connections that receive them, and enqueue their jobs.

    `connections` maps account ids to connections, or to None if no bot has the account.
    Duplicates, unsupported items and items of unknown accounts get their outcome now.
    """
    by_account: dict[str, list[Numbered]] = {}
    for position, item in items:
        by_account.setdefault(item.account_id, []).append((position, item))
    # Rows and jobs are locked in a fixed order, so that simultaneous callbacks cannot deadlock.
    for account_id, numbered in sorted(by_account.items()):
        # Rows get their ids in the order in which the events happened.
        numbered.sort(key=lambda pair: (pair[1].at, pair[0]))
        connection = connections[account_id]
        rows = _rows(callback, numbered, connection)
        waiting = [row for row in rows if row.outcome == Outcome.WAITING]
        is_large = len({row.customer_key for row in waiting}) > _MAX_OWN_JOBS
        confirmations = _confirmations(connection, numbered)
        for row in waiting:
            row.is_batched = is_large or row.position in confirmations
        # Conflicts are items that another callback is storing at this moment.
        InboundItem.objects.bulk_create(_by_key(rows), ignore_conflicts=True)
        if connection:
            for key in sorted({"" if row.is_batched else row.customer_key for row in waiting}):
                _enqueue(connection.pk, connection.client_id, key)


def _rows(
    callback: InboundCallback, numbered: Sequence[Numbered], connection: ChannelConnection | None
) -> list[InboundItem]:
    known = _received(callback.channel, [item for _, item in numbered]) if connection else set()
    rows = list[InboundItem]()
    for position, item in numbered:
        row = InboundItem(
            callback=callback, position=position, channel=callback.channel,
            account_id=item.account_id[:100], key=item.key, outcome=Outcome.WAITING,
            connection_id=connection.pk if connection else None,
        )  # fmt: skip
        if connection is None:
            row.outcome = Outcome.UNKNOWN_ACCOUNT
        elif isinstance(item, Unsupported):
            row.outcome, row.kind = Outcome.UNSUPPORTED, item.kind[:60]
        elif item.key in known:
            row.outcome = Outcome.DUPLICATE
        else:
            known.add(item.key)
            user_id = item.user_id if isinstance(item, FromCustomer) else ""
            row.customer_key = customer_key(callback.channel, connection.pk, user_id)
        rows.append(row)
    return rows


def _confirmations(connection: ChannelConnection | None, numbered: Sequence[Numbered]) -> set[int]:
    """The positions of the items that only confirm our sends: receipts, and echoes of known sends.

    Nobody waits for them, and each reply causes some. With jobs like those for messages, they would
    take the turns of the newest jobs (see `jobs.relay`) and delay new customers' messages.
    """
    positions = {position for position, item in numbered if isinstance(item, Receipt)}
    echoes = {item.message_id: position for position, item in numbered if isinstance(item, Echo)}
    if connection and echoes:
        sends = OutboundSend.objects.filter(connection=connection, provider_message_id__in=echoes)
        known = set(sends.values_list("provider_message_id", flat=True))
        positions |= {position for found, position in echoes.items() if found in known}
    return positions


def _by_key(rows: list[InboundItem]) -> list[InboundItem]:
    """The rows sorted by key, the order in which they are locked; their ids keep the old order."""
    if len(rows) > 1:
        with database.cursor() as cursor:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [InboundItem._meta.db_table, len(rows)],
            )
            for row, (number,) in zip(rows, cursor.fetchall(), strict=True):
                row.pk = number
    return sorted(rows, key=lambda row: row.key)


def _received(channel: str, items: Sequence[Item]) -> set[str]:
    """The keys of the items that were received before, by any connection: a repeated item belongs
    to the connection that received it first. All items belong to one account."""
    rows = InboundItem.objects.filter(
        channel=channel,
        account_id=items[0].account_id[:100],
        key__in=[item.key for item in items],
        outcome__in=[Outcome.WAITING, Outcome.PROCESSED],
    )
    return set(rows.values_list("key", flat=True))


def _enqueue(
    connection_id: UUID, client_id: int | None, key: str = "", *, wait: timedelta = jobs.NO_WAIT
) -> None:
    """Enqueue a job for a customer's waiting items; without a key, for the account's batched items.

    A job that is already queued is enough: locking its row ensures that it does not begin before
    these items are stored.
    """
    ordering_key = key or f"{_BATCH_KEY}{connection_id}"
    same = Job.objects.filter(name=_JOB, ordering_key=ordering_key, state=JobState.QUEUED)
    if not same.select_for_update(no_key=True).first():
        jobs.enqueue(
            "channels_app.process_items", client_id=client_id, wait=wait, priority=_PRIORITY,
            ordering_key=ordering_key,
            connection_id=str(connection_id), customer_key=key,
        )  # fmt: skip


# --- processing ---------------------------------------------------------------------------------


def process(connection_id: UUID, key: str, held_since: float | None = None) -> None:
    """Process a customer's waiting items; without a key, the account's batched items.

    An item that cannot be processed now delays only later items of its customer. `held_since` is
    the Unix time since which the account's job has been held back.
    """
    connection = _connection(connection_id)
    if connection is None:
        return
    if not key and _is_held_back(connection, held_since):
        _postpone(connection, held_since)
        return
    delayed, bodies, ends_at = set[str](), _Bodies(), time.monotonic() + _SLICE_SECONDS
    rows = list(_next(connection.pk, key))
    may_have_more = len(rows) == _MAX_ITEMS
    for row in rows:
        if row.customer_key in delayed:
            continue
        if not key and time.monotonic() > ends_at:
            may_have_more = True
            break
        try:
            _process_in_turn(row, connection, bodies)
        except (jobs.LeaseLost, _SuspectRunning):
            raise
        except Exception as exc:
            if _record_failure(row, exc):
                continue
            if key:
                raise
            delayed.add(row.customer_key)
    # Items that arrived since the query have their own job.
    if may_have_more or delayed:
        with jobs.commit():
            if may_have_more:
                _enqueue(connection.pk, connection.client_id, key)
            _enqueue_per_customer(connection, delayed)
    before, seen = connection.last_event_at, timezone.now()
    if before is None or before < seen - timedelta(seconds=1):
        ChannelConnection.objects.filter(pk=connection.pk).update(last_event_at=seen)


def retry_deferred(item_id: int, attempt: int) -> None:
    """Try a parked item again. The job for the next attempt is enqueued before this one begins."""
    row = InboundItem.objects.filter(pk=item_id, outcome=Outcome.WAITING, attempts=attempt).first()
    connection = _connection(row.connection_id) if row else None
    if row is None or connection is None:
        return
    with jobs.commit():
        _park(row, row.error)
    try:
        _process(row, _Bodies().item(row), connection)
    except jobs.LeaseLost:
        raise
    except Exception as exc:
        log.exception("item %s of callback %s failed again", row.position, row.callback_id)
        _waiting(pk=row.pk).update(error=_error_text(exc))


def _connection(connection_id: UUID | None) -> ChannelConnection | None:
    """The connection that received an item; None if it was deleted."""
    return ChannelConnection.objects.filter(pk=connection_id).first() if connection_id else None


def _is_held_back(connection: ChannelConnection, since: float | None) -> bool:
    """Whether batched items must wait because many of the client's jobs for messages and replies
    are due, or because it is another account's turn."""
    if since and time.time() - since > _MAX_HOLD.total_seconds():
        return False
    if _waits_longer(connection, since or time.time()):
        return True
    names = [name for name, item in registry.declared.items() if item.queue in _QUEUES_AHEAD]
    unfinished = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])
    before = unfinished.filter(ordering_key=OuterRef("ordering_key"), pk__lt=OuterRef("pk"))
    is_due = Q(state=JobState.QUEUED, due_at__lte=Now()) & ~Exists(before)
    # A running reply mostly waits for its model, but a running job for items uses CPU time.
    is_busy = Q(state=JobState.RUNNING, name=_JOB)
    ahead = unfinished.filter(is_due | is_busy, client_id=connection.client_id, name__in=names)
    # Reply jobs do not run while the client is being moved to another cell: do not wait for them.
    ahead = ahead.exclude(pk=jobs.current_job() or 0)[:_MIN_JOBS_AHEAD]
    return not connection.client.frozen_at and ahead.count() >= _MIN_JOBS_AHEAD


def _waits_longer(connection: ChannelConnection, since: float) -> bool:
    """Whether another account of the client has been held back for longer. Accounts take turns, so
    that an account with a large body does not delay the others."""
    held = Job.objects.filter(name=_JOB, client_id=connection.client_id, state=JobState.QUEUED)
    own = f"{_BATCH_KEY}{connection.pk}"
    return held.exclude(ordering_key=own).filter(args__held_since__lt=since).exists()


def _postpone(connection: ChannelConnection, held_since: float | None) -> None:
    since, key = held_since or time.time(), f"{_BATCH_KEY}{connection.pk}"
    if not jobs.postpone(
        _JOB, ordering_key=key, wait=_POLL_INTERVAL, at_most=_MAX_HOLD,
        change=lambda args: args | {"held_since": since},
    ):  # fmt: skip
        jobs.enqueue(
            "channels_app.process_items", client_id=connection.client_id, wait=_POLL_INTERVAL,
            priority=_PRIORITY,
            ordering_key=key, connection_id=str(connection.pk), customer_key="", held_since=since,
        )  # fmt: skip


def _waiting(**wanted: object) -> QuerySet[InboundItem]:
    return InboundItem.objects.filter(outcome=Outcome.WAITING, **wanted)


def _next(connection_id: UUID, key: str) -> QuerySet[InboundItem]:
    """The next waiting items of a customer; without a key, the account's batched items."""
    rows = _waiting(is_parked=False).select_related("callback").defer("callback__body")
    if key:
        return rows.filter(customer_key=key).order_by("id")[:_MAX_ITEMS]
    rows = rows.filter(connection_id=connection_id, is_batched=True)
    # Customers take turns, so that none waits for all items of another; the items of each customer
    # stay in order.
    turn = Window(RowNumber(), partition_by=F("customer_key"), order_by=F("id").asc())
    return rows.annotate(turn=turn).order_by("turn", "callback__item_count", "id")[:_MAX_ITEMS]


def _parse(channel: str, callback: Callback) -> Sequence[Item]:
    return PROVIDERS[channel].items(callback) if callback.body else []


# For large bodies: on a busy machine, parsing one may take as long as a whole job should.
_parse_cached = lru_cache(maxsize=4)(_parse)


class _Bodies:
    """The items of callbacks; each body is parsed once."""

    def __init__(self) -> None:
        self._items: dict[int, Sequence[Item]] = {}

    def item(self, row: InboundItem) -> Item | None:
        """The item of a row; None if its callback was emptied for an erased customer."""
        if row.callback_id not in self._items:
            callback = InboundCallback.objects.get(pk=row.callback_id)
            parse = _parse if callback.item_count <= _MAX_OWN_JOBS else _parse_cached
            self._items[row.callback_id] = parse(row.channel, inbound.callback_of(callback))
        items = self._items[row.callback_id]
        if not items:
            return None
        # The release that stored the row may have numbered the items differently.
        own = items[row.position : row.position + 1]
        for item in (*own, *items):
            if item.key == row.key and item.account_id[:100] == row.account_id:
                return item
        raise LookupError("This release does not find the item in its callback.")


def _process_in_turn(row: InboundItem, connection: ChannelConnection, bodies: _Bodies) -> None:
    """Process an item. Raises _EarlierItemPending if an earlier item of its customer waits."""
    if row.is_suspect:
        raise _ProcessCrashed
    if jobs.previous_attempt_crashed():
        _mark_suspect(row)
    is_done = _process(row, bodies.item(row), connection)
    if not is_done and _waiting(pk=row.pk).exists():
        raise _EarlierItemPending("An earlier item of the customer waits.")


def _mark_suspect(row: InboundItem) -> None:
    """Mark an item as suspect before processing it. Only one item is suspect at a time, so that
    after another crash the cause is known."""
    with jobs.commit():
        locks.lock_in_transaction("inbound-suspect")
        mine = _waiting(pk=row.pk).exclude(_has_earlier())
        if mine.exists() and _waiting(is_suspect=True).exists():
            raise _SuspectRunning(
                "Another suspect item is being processed.", wait=timedelta(seconds=1)
            )
        mine.update(is_suspect=True)


class _ProcessCrashed(Exception):
    """The process crashed again while this item was the only suspect."""


class _EarlierItemPending(jobs.TryLater):
    """An earlier item of the customer waits. This does not count as a failed attempt."""


class _SuspectRunning(jobs.TryLater):
    """An item that may have crashed its process is being tried again, so this job waits."""


def _process(row: InboundItem, item: Item | None, connection: ChannelConnection) -> bool:
    """Process an item in one transaction; False if another job processed it, or if it must wait."""
    if item is None:
        return bool(_waiting(pk=row.pk).update(outcome=Outcome.UNSUPPORTED, kind="erased"))
    try:
        return _handle(row, item, connection)
    except CustomerBlocked:
        return _ignore_blocked(row, item, connection)


def _handle(row: InboundItem, item: Item, connection: ChannelConnection) -> bool:
    attempt = row.attempts + 1
    with (
        inbound.prepare_handler(connection, item, attempt=attempt) as handle,
        jobs.commit(is_progress=True),
    ):
        mine = _waiting(pk=row.pk)
        if not row.is_parked:
            mine = mine.exclude(_has_earlier())
        # Another process with the same item waits here, and then finds it processed.
        is_mine = mine.update(outcome=Outcome.PROCESSED, error="")
        if is_mine:
            handle(row)
    return bool(is_mine)


def _ignore_blocked(row: InboundItem, item: Item, connection: ChannelConnection) -> bool:
    """Mark an action of a blocked customer as unsupported, so that no conversation shows it. Only
    the customer's ids are stored, since a later item may contain only one of the two."""
    with jobs.commit(is_progress=True):
        changes = {"outcome": Outcome.UNSUPPORTED, "kind": "customer_blocked", "error": ""}
        is_mine = _waiting(pk=row.pk).update(**changes)
        if is_mine and isinstance(item, FromCustomer):
            identities.lock(connection, item)
            if identity := identities.find(connection, item):
                identities.store_ids(identity, item)
    return bool(is_mine)


def _has_earlier() -> Exists:
    earlier = _waiting(is_parked=False, customer_key=OuterRef("customer_key"))
    return Exists(earlier.filter(pk__lt=OuterRef("pk")))


# --- failures -----------------------------------------------------------------------------------


def _record_failure(row: InboundItem, error: Exception) -> bool:
    """Store why an item could not be processed; True if the item was parked."""
    if isinstance(error, _EarlierItemPending):
        return False
    if not isinstance(error, jobs.TryLater | _ProcessCrashed):
        log.error("item %s of callback %s failed", row.position, row.callback_id, exc_info=error)
    is_parked = isinstance(error, _ProcessCrashed) or row.attempts + 1 >= ATTEMPTS
    with jobs.commit(is_progress=is_parked):
        if is_parked:
            _park(row, _error_text(error))
        else:
            _waiting(pk=row.pk).update(
                attempts=row.attempts + 1, is_suspect=False, error=_error_text(error)
            )
    return is_parked


def _error_text(error: Exception) -> str:
    if isinstance(error, _ProcessCrashed):
        return "The process crashed twice while it processed this item."
    return f"{type(error).__name__}: {error}"[:500]


def _park(row: InboundItem, error: str) -> None:
    """Park an item, and enqueue its own job, after a wait that doubles with each attempt."""
    row.is_parked = True
    row.attempts = max(row.attempts + 1, ATTEMPTS)
    changed = _waiting(pk=row.pk).update(
        is_parked=True, is_suspect=False, attempts=row.attempts, error=error
    )
    connection = _connection(row.connection_id)
    if changed and connection:
        wait = _FIRST_PARKED_WAIT * 2 ** min(row.attempts - ATTEMPTS, 10)
        jobs.enqueue(
            "channels_app.retry_deferred_item", client_id=connection.client_id,
            wait=min(wait, _MAX_PARKED_WAIT), ordering_key=f"{_PARKED_KEY}{row.pk}",
            item_id=row.pk, attempt=row.attempts,
        )  # fmt: skip


def _enqueue_per_customer(connection: ChannelConnection, keys: Iterable[str]) -> None:
    """Enqueue a job for the waiting items of each customer; the items are no longer batched."""
    for key in sorted(keys):
        _waiting(customer_key=key).update(is_batched=False)
        _enqueue(connection.pk, connection.client_id, key, wait=timedelta(seconds=1))


def enqueue_next(connection_id: UUID, key: str) -> None:
    """Enqueue a new job for waiting items after their job has failed permanently."""
    if connection := _connection(connection_id):
        _enqueue(connection.pk, connection.client_id, key, wait=timedelta(seconds=10))


def enqueue_forgotten() -> None:
    """Enqueue jobs for items that have waited for two minutes without a job. Items whose connection
    was deleted become `unknown_account`."""
    connections = ChannelConnection.objects.filter(pk=OuterRef("connection_id"))
    _waiting().exclude(Exists(connections)).update(outcome=Outcome.UNKNOWN_ACCOUNT)
    unfinished = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])

    def has_job(key: Any) -> Exists:
        return Exists(unfinished.filter(ordering_key=key))

    rows = _waiting(callback__received_at__lt=timezone.now() - _ORPHAN_AGE)
    batch_key = Concat(Value(_BATCH_KEY), Cast(OuterRef("connection_id"), TextField()))
    rest = rows.filter(is_parked=False).exclude(has_job(OuterRef("customer_key")))
    rest = rest.exclude(Q(is_batched=True) & has_job(batch_key))
    for connection_id, key in rest.values_list("connection_id", "customer_key").distinct()[:500]:
        assert connection_id
        with transaction.atomic():
            _enqueue_per_customer(ChannelConnection.objects.get(pk=connection_id), [key])
    parked_key = Concat(Value(_PARKED_KEY), Cast(OuterRef("pk"), TextField()))
    for row in rows.filter(is_parked=True).exclude(has_job(parked_key))[:500]:
        with transaction.atomic():
            _park(row, row.error)
