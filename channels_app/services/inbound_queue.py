"""Items of callbacks: stored as waiting when they come, then processed, each once.

Each customer of a small body (at most ten customers) gets a job. The items of a large body share
one job per account, and so do all receipts, which are not urgent: they are batched. That job takes
fifty items at a time, one of each customer in turn, those of the smallest bodies first, so that a
thousand customers at once do not delay anybody else's messages; the client's accounts take turns,
too. In any job, an item waits until no earlier item of its customer waits.
"""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value, Window
from django.db.models.functions import Cast, Concat, Now, RowNumber
from django.utils import timezone

from channels_app.models import ChannelConnection, InboundCallback, InboundItem, Outcome
from channels_app.providers import PROVIDERS
from channels_app.providers.callback_parsing import Callback
from channels_app.providers.events import FromCustomer, Item, Receipt, Unsupported
from channels_app.services import identities, inbound
from channels_app.services.identities import customer_key
from chatplatform import jobs, locks
from chatplatform.jobs import registry
from chatplatform.models import Job, JobState
from chats.services.core.customers import CustomerBlocked

log = logging.getLogger(__name__)
# An item's position in the callback, and the item.
Numbered = tuple[int, Item]
# Sends (priority 0) go first: a finished answer does not wait behind new messages.
_JOB, _PRIORITY = "channels_app.process_items", 1
# Each customer of a body gets a job if the body has at most this many customers.
_OWN_JOBS = 10
# A job processes at most this many items and, if they are batched, starts none after these seconds.
_MOST, _SLICE_SECONDS = 50, 0.5
# Batched items are held back while at least this many of the client's jobs in these queues are due.
_MOST_AHEAD, _LOOK_AGAIN = 4, timedelta(seconds=0.5)
_BEFORE_BODIES = {jobs.Queue.REPLY, jobs.Queue.CHANNEL}
# Batched items are held back no longer than this.
_LONGEST_HOLD = timedelta(minutes=1)
# After this many attempts, four minutes in all, an item is set aside and no longer delays its
# customer's later items. It is tried again after 10 minutes, 20, … and finally once a day.
ATTEMPTS, _FIRST_ASIDE, _LONGEST_ASIDE = 10, timedelta(minutes=10), timedelta(days=1)
_BATCH_KEY, _ASIDE_KEY = "inbound:", "inbound-item:"
# An item that has no job gets a new one when it has waited this long.
_WITHOUT_JOB = timedelta(minutes=2)


# --- stored when they come ----------------------------------------------------------------------


def store(
    callback: InboundCallback,
    items: Iterable[Numbered],
    connections: Mapping[str, ChannelConnection | None],
) -> None:
    """Store the items of a callback for the connections that receive them, and enqueue their jobs.

    `connections` is by account id, None if no bot has the account. Duplicates, unsupported items
    and those of unknown accounts get their outcome now.
    """
    by_account: dict[str, list[Numbered]] = {}
    for position, item in items:
        by_account.setdefault(item.account_id, []).append((position, item))
    # Rows and jobs are locked in one order, so that simultaneous callbacks cannot deadlock.
    for account_id, numbered in sorted(by_account.items()):
        # Rows are stored in the order of the events' times.
        numbered.sort(key=lambda pair: (pair[1].at, pair[0]))
        connection = connections[account_id]
        rows = _rows(callback, numbered, connection)
        waiting = [row for row in rows if row.outcome == Outcome.WAITING]
        is_large = len({row.customer_key for row in waiting}) > _OWN_JOBS
        receipts = {position for position, item in numbered if isinstance(item, Receipt)}
        for row in waiting:
            row.is_batched = is_large or row.position in receipts
        InboundItem.objects.bulk_create(rows, ignore_conflicts=True)
        if connection:
            for key in sorted({"" if row.is_batched else row.customer_key for row in waiting}):
                _enqueue(connection.pk, connection.client_id, key)


def _rows(
    callback: InboundCallback, numbered: Sequence[Numbered], connection: ChannelConnection | None
) -> list[InboundItem]:
    known = _processed(callback.channel, [item for _, item in numbered]) if connection else set()
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


def _processed(channel: str, items: Sequence[Item]) -> set[str]:
    """The keys of an account's items that were processed before."""
    rows = InboundItem.objects.filter(
        channel=channel,
        account_id=items[0].account_id[:100],
        key__in=[item.key for item in items],
        outcome=Outcome.PROCESSED,
    )
    return set(rows.values_list("key", flat=True))


def _enqueue(
    connection_id: UUID, client_id: int | None, key: str = "", *, wait: timedelta = jobs.NO_WAIT
) -> None:
    """Enqueue a job for a customer's waiting items; without a key, for the account's batched ones.

    A queued job is enough: its row is locked, so it cannot begin before these items are stored.
    """
    ordering_key = key or f"{_BATCH_KEY}{connection_id}"
    same = Job.objects.filter(name=_JOB, ordering_key=ordering_key, state=JobState.QUEUED)
    if not same.select_for_update(no_key=True).first():
        jobs.enqueue(
            "channels_app.process_items", client_id=client_id, wait=wait, priority=_PRIORITY,
            ordering_key=ordering_key,
            connection_id=str(connection_id), customer_key=key,
        )  # fmt: skip


# --- processed ----------------------------------------------------------------------------------


def process(connection_id: UUID, key: str, held_since: float | None = None) -> None:
    """Process a customer's waiting items; without a key, the account's batched ones.

    An item that cannot be processed now delays only its own customer's items. `held_since` is when
    the account's job was first held back since it last processed anything.
    """
    connection = _connection(connection_id)
    if connection is None:
        return
    if not key and _is_held_back(connection, held_since):
        _look_again(connection, held_since)
        return
    behind, bodies, ends_at = set[str](), _Bodies(), time.monotonic() + _SLICE_SECONDS
    rows = list(_next(connection.pk, key))
    is_cut_off = len(rows) == _MOST
    for row in rows:
        if row.customer_key in behind:
            continue
        if not key and time.monotonic() > ends_at:
            is_cut_off = True
            break
        try:
            _process_in_turn(row, connection, bodies)
        except (jobs.LeaseLost, _SuspectRunning):
            raise
        except Exception as exc:
            if _note(row, exc):
                continue
            if key:
                raise
            behind.add(row.customer_key)
    # Items that came meanwhile have a job of their own.
    if is_cut_off or behind:
        with jobs.commit():
            if is_cut_off:
                _enqueue(connection.pk, connection.client_id, key)
            _leave_to_customers(connection, behind)
    before, seen = connection.last_event_at, timezone.now()
    if before is None or before < seen - timedelta(seconds=1):
        ChannelConnection.objects.filter(pk=connection.pk).update(last_event_at=seen)


def retry_deferred(item_id: int, attempt: int) -> None:
    """Try an item that was set aside. The next attempt is stored before this one begins."""
    row = InboundItem.objects.filter(pk=item_id, outcome=Outcome.WAITING, attempts=attempt).first()
    connection = _connection(row.connection_id) if row else None
    if row is None or connection is None:
        return
    with jobs.commit():
        _set_aside(row, row.error)
    try:
        _process(row, _Bodies().item(row), connection)
    except jobs.LeaseLost:
        raise
    except Exception as exc:
        log.exception("item %s of callback %s failed again", row.position, row.callback_id)
        _waiting(pk=row.pk).update(error=_words(exc))


def _connection(connection_id: UUID | None) -> ChannelConnection | None:
    """The connection that received an item; None if it was erased."""
    return ChannelConnection.objects.filter(pk=connection_id).first() if connection_id else None


def _is_held_back(connection: ChannelConnection, since: float | None) -> bool:
    """Whether enough of the client's messages and replies are due that batched items wait."""
    if since and time.time() - since > _LONGEST_HOLD.total_seconds():
        return False
    if _waits_longer(connection, since or time.time()):
        return True
    names = [name for name, item in registry.declared.items() if item.queue in _BEFORE_BODIES]
    unfinished = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])
    before = unfinished.filter(ordering_key=OuterRef("ordering_key"), pk__lt=OuterRef("pk"))
    is_due = Q(state=JobState.QUEUED, due_at__lte=Now()) & ~Exists(before)
    # A running reply mostly waits for its model; a running job of items uses the processor.
    is_busy = Q(state=JobState.RUNNING, name=_JOB)
    ahead = unfinished.filter(is_due | is_busy, client_id=connection.client_id, name__in=names)
    # No reply job runs while the client is moved to another cell.
    ahead = ahead.exclude(pk=jobs.current_job() or 0)[:_MOST_AHEAD]
    return not connection.client.frozen_at and ahead.count() >= _MOST_AHEAD


def _waits_longer(connection: ChannelConnection, since: float) -> bool:
    """Whether another account of the client has been held back since before: accounts take turns,
    so that one with a large body does not take all the moments in which little is due."""
    held = Job.objects.filter(name=_JOB, client_id=connection.client_id, state=JobState.QUEUED)
    own = f"{_BATCH_KEY}{connection.pk}"
    return held.exclude(ordering_key=own).filter(args__held_since__lt=since).exists()


def _look_again(connection: ChannelConnection, held_since: float | None) -> None:
    since, key = held_since or time.time(), f"{_BATCH_KEY}{connection.pk}"
    if not jobs.postpone(
        _JOB, ordering_key=key, wait=_LOOK_AGAIN, at_most=_LONGEST_HOLD,
        change=lambda args: args | {"held_since": since},
    ):  # fmt: skip
        jobs.enqueue(
            "channels_app.process_items", client_id=connection.client_id, wait=_LOOK_AGAIN,
            priority=_PRIORITY,
            ordering_key=key, connection_id=str(connection.pk), customer_key="", held_since=since,
        )  # fmt: skip


def _waiting(**wanted: object) -> QuerySet[InboundItem]:
    return InboundItem.objects.filter(outcome=Outcome.WAITING, **wanted)


def _next(connection_id: UUID, key: str) -> QuerySet[InboundItem]:
    """The next waiting items of a customer; without a key, the account's batched ones."""
    rows = _waiting(is_parked=False).select_related("callback").defer("callback__body")
    if key:
        return rows.filter(customer_key=key).order_by("id")[:_MOST]
    rows = rows.filter(connection_id=connection_id, is_batched=True)
    # Customers take turns, so that nobody waits for all items of another; a customer's own items
    # stay in order.
    turn = Window(RowNumber(), partition_by=F("customer_key"), order_by=F("id").asc())
    return rows.annotate(turn=turn).order_by("turn", "callback__item_count", "id")[:_MOST]


def _read(channel: str, callback: Callback) -> Sequence[Item]:
    return PROVIDERS[channel].items(callback) if callback.body else []


# On a busy machine, reading a large body alone may take as long as a job should.
_read_once = lru_cache(maxsize=4)(_read)


class _Bodies:
    """The items of callbacks; each body is parsed once."""

    def __init__(self) -> None:
        self._items: dict[int, Sequence[Item]] = {}

    def item(self, row: InboundItem) -> Item | None:
        """The item of a row; None if its callback was emptied for an erased customer."""
        if row.callback_id not in self._items:
            callback = InboundCallback.objects.get(pk=row.callback_id)
            read = _read if callback.item_count <= _OWN_JOBS else _read_once
            self._items[row.callback_id] = read(row.channel, inbound.callback_of(callback))
        items = self._items[row.callback_id]
        if not items:
            return None
        # Another release may number the items differently.
        own = items[row.position : row.position + 1]
        for item in (*own, *items):
            if item.key == row.key and item.account_id[:100] == row.account_id:
                return item
        raise LookupError("This release does not find the item in its callback.")


def _process_in_turn(row: InboundItem, connection: ChannelConnection, bodies: _Bodies) -> None:
    """Process an item. Raises _EarlierItemPending while an earlier one of its customer waits."""
    if row.is_suspect:
        raise _ProcessDied
    if jobs.follows_death():
        _mark_suspect(row)
    is_done = _process(row, bodies.item(row), connection)
    if not is_done and _waiting(pk=row.pk).exists():
        raise _EarlierItemPending("An earlier item of the customer waits.")


def _mark_suspect(row: InboundItem) -> None:
    """Mark an item, one at a time, before processing it, so that after a crash the culprit is
    known."""
    with jobs.commit():
        locks.lock_in_transaction("inbound-suspect")
        mine = _waiting(pk=row.pk).exclude(_has_earlier())
        if mine.exists() and _waiting(is_suspect=True).exists():
            raise _SuspectRunning(
                "Another suspect item is being processed.", wait=timedelta(seconds=1)
            )
        mine.update(is_suspect=True)


class _ProcessDied(Exception):
    """The process died while it processed this item."""


class _EarlierItemPending(jobs.TryLater):
    """An earlier item of the customer waits. This does not count as a failed attempt."""


class _SuspectRunning(jobs.TryLater):
    """An item that may have killed its process is being tried again, so the whole job waits."""


def _process(row: InboundItem, item: Item | None, connection: ChannelConnection) -> bool:
    """Process an item in one transaction; False if another job did, or if the item has to wait."""
    if item is None:
        return bool(_waiting(pk=row.pk).update(outcome=Outcome.UNSUPPORTED, kind="erased"))
    try:
        return _handle(row, item, connection)
    except CustomerBlocked:
        return _leave_unshown(row, item, connection)


def _handle(row: InboundItem, item: Item, connection: ChannelConnection) -> bool:
    attempt = row.attempts + 1
    with (
        inbound.prepare_handler(connection, item, attempt=attempt) as handle,
        jobs.commit(is_progress=True),
    ):
        mine = _waiting(pk=row.pk)
        if not row.is_parked:
            mine = mine.exclude(_has_earlier())
        try:
            with transaction.atomic():
                # A second process with the same item waits here, then finds it processed.
                is_mine = mine.update(outcome=Outcome.PROCESSED, error="")
        except IntegrityError:
            return bool(mine.update(outcome=Outcome.DUPLICATE, error=""))
        if is_mine:
            handle(row)
    return bool(is_mine)


def _leave_unshown(row: InboundItem, item: Item, connection: ChannelConnection) -> bool:
    """Leave what a blocked customer did in its callback; no conversation ever shows it. Only the
    ids are kept, since the next item may name the customer by the other one."""
    with jobs.commit(is_progress=True):
        left = {"outcome": Outcome.UNSUPPORTED, "kind": "customer_blocked", "error": ""}
        is_mine = _waiting(pk=row.pk).update(**left)
        if is_mine and isinstance(item, FromCustomer):
            identities.lock(connection, item)
            if identity := identities.find(connection, item):
                identities.keep_ids(identity, item)
    return bool(is_mine)


def _has_earlier() -> Exists:
    earlier = _waiting(is_parked=False, customer_key=OuterRef("customer_key"))
    return Exists(earlier.filter(pk__lt=OuterRef("pk")))


# --- what fails ---------------------------------------------------------------------------------


def _note(row: InboundItem, error: Exception) -> bool:
    """Store why an item could not be processed; True if it was set aside."""
    if isinstance(error, _EarlierItemPending):
        return False
    if not isinstance(error, jobs.TryLater | _ProcessDied):
        log.error("item %s of callback %s failed", row.position, row.callback_id, exc_info=error)
    is_parked = isinstance(error, _ProcessDied) or row.attempts + 1 >= ATTEMPTS
    with jobs.commit(is_progress=is_parked):
        if is_parked:
            _set_aside(row, _words(error))
        else:
            _waiting(pk=row.pk).update(
                attempts=row.attempts + 1, is_suspect=False, error=_words(error)
            )
    return is_parked


def _words(error: Exception) -> str:
    if isinstance(error, _ProcessDied):
        return "The process died twice while it processed this."
    return f"{type(error).__name__}: {error}"[:500]


def _set_aside(row: InboundItem, error: str) -> None:
    """Give an item a job of its own, after a wait that grows with each attempt."""
    row.is_parked = True
    row.attempts = max(row.attempts + 1, ATTEMPTS)
    changed = _waiting(pk=row.pk).update(
        is_parked=True, is_suspect=False, attempts=row.attempts, error=error
    )
    connection = _connection(row.connection_id)
    if changed and connection:
        wait = _FIRST_ASIDE * 2 ** min(row.attempts - ATTEMPTS, 10)
        jobs.enqueue(
            "channels_app.retry_deferred_item", client_id=connection.client_id,
            wait=min(wait, _LONGEST_ASIDE), ordering_key=f"{_ASIDE_KEY}{row.pk}",
            item_id=row.pk, attempt=row.attempts,
        )  # fmt: skip


def _leave_to_customers(connection: ChannelConnection, keys: Iterable[str]) -> None:
    """Give each of these customers a job for their waiting items."""
    for key in sorted(keys):
        _waiting(customer_key=key).update(is_batched=False)
        _enqueue(connection.pk, connection.client_id, key, wait=timedelta(seconds=1))


def enqueue_next(connection_id: UUID, key: str) -> None:
    """Enqueue a new job for waiting items after their job has failed for good."""
    connection = ChannelConnection.objects.filter(pk=connection_id).first()
    if connection:
        _enqueue(connection.pk, connection.client_id, key, wait=timedelta(seconds=10))


def enqueue_forgotten() -> None:
    """Enqueue jobs for items that have waited for two minutes without one."""
    own = ChannelConnection.objects.filter(pk=OuterRef("connection_id"))
    _waiting().exclude(Exists(own)).update(outcome=Outcome.UNKNOWN_ACCOUNT)
    unfinished = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])

    def has_job(key: Any) -> Exists:
        return Exists(unfinished.filter(ordering_key=key))

    rows = _waiting(callback__received_at__lt=timezone.now() - _WITHOUT_JOB)
    of_account = Concat(Value(_BATCH_KEY), Cast(OuterRef("connection_id"), TextField()))
    rest = rows.filter(is_parked=False).exclude(has_job(OuterRef("customer_key")))
    rest = rest.exclude(Q(is_batched=True) & has_job(of_account))
    for connection_id, key in rest.values_list("connection_id", "customer_key").distinct()[:500]:
        assert connection_id
        with transaction.atomic():
            _leave_to_customers(ChannelConnection.objects.get(pk=connection_id), [key])
    of_item = Concat(Value(_ASIDE_KEY), Cast(OuterRef("pk"), TextField()))
    for row in rows.filter(is_parked=True).exclude(has_job(of_item))[:500]:
        with transaction.atomic():
            _set_aside(row, row.error)
