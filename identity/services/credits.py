"""Credits: a client's balance and its ledger. Credits are reserved before an AI call, and settled
or released after it.

A `reference` says what the credits are for ("reply:<message id>"). Each reference has at most one
open reservation and is charged once, however often its job runs. After a release, credits can be
reserved for it again. Every change locks the subscription's row and writes an entry.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.translation import gettext_noop

from chatplatform.api.errors import ApiError
from chatplatform.api.schemas import iso
from chatplatform.ids import uuid7
from chatplatform.jobs import current_job, enqueue
from chatplatform.models import Job, JobState
from chatplatform.sql import Columns, fetch_row
from identity.models import Client, CreditEntry, EntryKind, Plan, Subscription, User
from identity.services import audit

# Prices in credits (docs/credits.md).
EXTRACTIVE_TASK = 1
TOKENS_PER_CREDIT = 1_000
# The tokens, in thousands, that are reserved for a model's reply. A reply is never charged more.
MODEL_REPLY = 10

# The levels at which a warning is sent, in percent of credits_included.
LOW_PERCENT = 20
USED_UP = 0
# Older reservations without an unfinished job are released. No request takes this long.
ABANDONED_AFTER = timedelta(hours=1)

_ACCOUNT = Columns(Subscription)
_LOCK = f"""
SELECT {_ACCOUNT.column_list()} FROM identity_subscription WHERE client_id = %s FOR NO KEY UPDATE
"""
_CAP_REMAINDER = """
SELECT daily_credits + coalesce((
    SELECT sum(amount)::bigint FROM identity_creditentry
    WHERE key_id = %(key)s AND created_at >= %(today)s
), 0)
FROM identity_apikey WHERE id = %(key)s AND daily_credits IS NOT NULL
"""
# The database functions are in `identity/migrations/0001_credits.sql`.
_RESERVE = "SELECT identity_reserve_credits(%s, %s, %s, %s, %s)"
_END = f"""
SELECT charged, {_ACCOUNT.column_list("(account)")}
FROM identity_end_credits(%s, %s, %s, %s)
"""
_MOVE = """
SELECT moved.credits_left, moved.credits_used
FROM identity_subscription account, identity_move_credits(account, %s, %s, %s, %s, %s, %s) moved
WHERE account.id = %s
"""


class InsufficientCredits(ApiError):
    """The balance does not cover the call."""

    code, status = "insufficient_credits", 402
    more: ClassVar = {
        "balance": (int, "Credits that are left."),
        "required": (int, "Credits that the call needs."),
    }
    detail = gettext_noop("You're out of credits. Top up, or wait for the next period.")


class CapReached(InsufficientCredits):
    """The rest of a public key's daily cap does not cover the call."""


class SubscriptionInactive(InsufficientCredits):
    """The trial or the plan has ended. Also a 402, since the remedy is to pay."""

    code = "subscription_inactive"
    detail = gettext_noop("Your plan has ended. Ask for a new one. Remaining credits are kept.")


class ReferenceTaken(ApiError):
    code, status = "reference_taken", 409
    more: ClassVar = {"amount": (int, "The amount of the other order, in credits.")}
    detail = "Another order has this reference with a different amount."


@dataclass
class Reservation:
    """Credits reserved by `charge`; set `used` to the actual price of the call."""

    used: int


def price_of_tokens(count: int, *, price: int = 1) -> int:
    """The price of a model's tokens: `price` credits per thousand tokens, rounded up. At least one
    thousand tokens are charged."""
    return max(1, -(-count // TOKENS_PER_CREDIT)) * price


@contextmanager
def charge(
    client_id: int, *, cost: int, reference: str, key_id: int | None = None
) -> Iterator[Reservation]:
    """Reserve `cost` credits for the AI call in the block. Afterwards charge the `used` credits of
    the yielded reservation, or nothing if the block raises.

    A `reference` that was charged before is not charged again. For `key_id`, see `reserve`. Do not
    call this in a transaction: the balance would stay locked during the whole AI call.
    """
    reserve(client_id, cost=cost, reference=reference, key_id=key_id)
    reservation = Reservation(cost)
    try:
        yield reservation
    except BaseException:
        release(client_id, reference=reference)
        raise
    settle(client_id, used=reservation.used, reference=reference)


def reserve(client_id: int, *, cost: int, reference: str, key_id: int | None = None) -> None:
    """Reserve `cost` credits, or raise InsufficientCredits (CapReached if the key's daily cap does
    not cover them).

    Does nothing if `reference` has an open reservation of at least `cost`, or was charged before. A
    larger reservation replaces a smaller one. If the larger one is refused, the smaller one stays
    open, because a part of it may have been used. `key_id` is the key whose daily cap applies, if
    it has one.
    """
    assert cost >= 0
    values: list[Any] = [client_id, cost, reference, current_job(), key_id]
    if _try_to_reserve(values):
        return
    # Not a simple case: there may be a smaller reservation or a daily cap, or the plan may be
    # inactive or have too few credits.
    with transaction.atomic():
        if _try_to_reserve(values):  # again, now keeping the account locked
            return
        # An earlier attempt may have reserved less. After a refusal, its reservation must still
        # exist.
        before = transaction.savepoint()
        _, account = _end_reservation(client_id, EntryKind.RELEASE, reference, used=0)
        capped_key = _ensure_within_cap(key_id, cost)
        if account.plan == Plan.UNLIMITED and account.is_active:
            _grant(account, max(0, cost - account.credits_left), f"unlimited:{uuid7()}")
        refusal = _refusal(account, cost)
        if refusal is None:
            _move(account, EntryKind.RESERVE, -cost, reference, key_id=capped_key)
            return
        transaction.savepoint_rollback(before)
        if account.is_active:
            _warn(account, USED_UP)
    raise refusal


def _try_to_reserve(values: list[Any]) -> bool:
    """Reserve credits in the simple cases. True if enough credits are reserved now, or if the
    reference was charged before. Otherwise False, and nothing has changed."""
    return bool(fetch_row(_RESERVE, values)[0])


def has_enough(client_id: int, *, cost: int, key_id: int | None = None) -> bool:
    """Whether `cost` credits could be reserved now. Nothing is locked, so this may change at any
    time."""
    try:
        ensure_enough(client_id, cost=cost, key_id=key_id)
    except InsufficientCredits:
        return False
    return True


def ensure_enough(client_id: int, *, cost: int, key_id: int | None = None) -> None:
    """Raise InsufficientCredits if `cost` credits could not be reserved now."""
    _ensure_within_cap(key_id, cost)
    account = Subscription.objects.get(client_id=client_id)
    is_unlimited = account.plan == Plan.UNLIMITED and account.is_active
    if not is_unlimited and (refusal := _refusal(account, cost)):
        raise refusal


def settle(client_id: int, *, used: int, reference: str) -> int:
    """Charge `used` credits, but at most the reserved ones, and return the rest to the balance.
    Returns the number of charged credits; 0 if there is no open reservation."""
    return _end(client_id, EntryKind.SETTLE, reference, used=used)


def release(client_id: int, *, reference: str) -> None:
    """Return all reserved credits to the balance after a failed call. Does nothing after
    `settle`."""
    _end(client_id, EntryKind.RELEASE, reference, used=0)


def open_account(
    client: Client, *, included: int, period_end: datetime | None = None
) -> Subscription:
    """Create a new client's trial plan, with its first grant of credits."""
    with transaction.atomic():
        account = Subscription.objects.create(
            client=client,
            credits_included=included,
            period_start=timezone.now(),
            period_end=period_end,
        )
        _grant(account, included, "opening")
    return account


def top_up(client_id: int, *, amount: int, reference: str, by: User | None) -> Subscription:
    """Add purchased credits, once for each reference. 409 if this reference was used with another
    amount."""
    with transaction.atomic():
        account = _lock(client_id)
        entries = CreditEntry.objects.filter(client_id=client_id, reference=reference)
        existing = entries.filter(kind=EntryKind.TOP_UP).first()
        if existing and existing.amount != amount:
            raise ReferenceTaken(amount=existing.amount)
        if existing is None:
            _move(account, EntryKind.TOP_UP, amount, reference, by=by)
            _reset_warnings(account)
            audit.record(
                client_id,
                "credits.topped_up",
                by=by,
                subject=f"subscription:{account.pk}",
                changes={"amount": amount, "reference": reference},
            )
    return account


def change_plan(account: Subscription, changes: dict[str, Any], *, by: User) -> None:
    """Change the plan or its period. The balance stays the same, because only ledger entries change
    it."""
    with transaction.atomic():
        Subscription.objects.filter(pk=account.pk).update(**changes)
        audit.record(
            account.client_id,
            "subscription.updated",
            by=by,
            subject=f"subscription:{account.pk}",
            changes={"fields": sorted(changes)},
        )


def renew_due() -> int:
    """Start the next period of every plan whose period is over; trials end instead. Returns the
    number of plans whose period was over."""
    now = timezone.now()
    due = Subscription.objects.filter(is_active=True, period_end__lte=now)
    clients = list(due.values_list("client_id", flat=True))
    for client_id in clients:
        _renew(client_id, now)
    return len(clients)


def release_abandoned() -> int:
    """Release the reservations of interrupted calls, which are over an hour old and have no
    unfinished job. Returns the number of reservations found."""
    unfinished = Job.objects.filter(
        pk=OuterRef("job_id"), state__in=[JobState.QUEUED, JobState.RUNNING]
    )
    abandoned = CreditEntry.objects.filter(
        ~Exists(unfinished), is_open=True, created_at__lt=timezone.now() - ABANDONED_AFTER
    )
    entries = list(abandoned.values_list("pk", "client_id", "reference"))
    for pk, client_id, reference in entries:
        with transaction.atomic():
            _lock(client_id)
            # Check again, because a new attempt may have reserved credits for this reference since
            # the query.
            if abandoned.filter(pk=pk).exists():
                release(client_id, reference=reference)
    return len(entries)


def daily_balances(client_id: int) -> dict[date, int]:
    """The balance at the end of each day (UTC) in the last 30 days on which it changed."""
    rows = (
        CreditEntry.objects.filter(
            client_id=client_id, created_at__gt=timezone.now() - timedelta(days=30)
        )
        .annotate(day=TruncDate("created_at", tzinfo=UTC))
        .order_by("day", "-pk")
        .distinct("day")
    )
    return dict(rows.values_list("day", "balance_after"))


def _lock(client_id: int) -> Subscription:
    values = fetch_row(_LOCK, [client_id])
    if values is None:
        raise Subscription.DoesNotExist
    return _ACCOUNT.row(values)


def _refusal(account: Subscription, cost: int) -> InsufficientCredits | None:
    left = account.credits_left
    if not account.is_active:
        return SubscriptionInactive(balance=left, required=cost)
    return InsufficientCredits(balance=left, required=cost) if left < cost else None


def _end(client_id: int, kind: EntryKind, reference: str, *, used: int) -> int:
    with transaction.atomic(savepoint=False):
        charged, account = _end_reservation(client_id, kind, reference, used=used)
        if charged is None:
            return 0
        level = _warning_level(account)
        if level is not None and account.plan != Plan.UNLIMITED:
            _warn(account, level)
    return charged


def _end_reservation(
    client_id: int, kind: EntryKind, reference: str, *, used: int
) -> tuple[int | None, Subscription]:
    """End an open reservation. Returns the number of charged credits (None if nothing was reserved)
    and the account, whose row is locked."""
    charged, *values = fetch_row(_END, [client_id, str(kind), reference, used])
    return charged, _ACCOUNT.row(values)


def _grant(account: Subscription, amount: int, reference: str) -> None:
    if amount:
        _move(account, EntryKind.GRANT, amount, reference)


def _ensure_within_cap(key_id: int | None, cost: int) -> int | None:
    """The key's id if the key has a daily cap, otherwise None. Raises CapReached if the cap does
    not cover the cost. This is exact only if the caller has locked the account, as `reserve`
    does."""
    if key_id is None:
        return None
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    row = fetch_row(_CAP_REMAINDER, {"key": key_id, "today": today})
    if row is None:
        return None
    (left,) = row
    if left < cost:
        raise CapReached(balance=max(0, left), required=cost)
    return key_id


def _move(
    account: Subscription,
    kind: EntryKind,
    amount: int,
    reference: str,
    *,
    by: User | None = None,
    key_id: int | None = None,
) -> None:
    """Change the balance of a locked account and write an entry."""
    job_id = current_job() if kind == EntryKind.RESERVE else None
    values: list[Any] = [str(kind), amount, reference, job_id, key_id, by and by.pk, account.pk]
    account.credits_left, account.credits_used = fetch_row(_MOVE, values)


def _warning_level(account: Subscription) -> int | None:
    """The warning level that the balance has reached; None if the balance is not low."""
    if account.credits_left == 0:
        return USED_UP
    is_low = account.credits_left * 100 < account.credits_included * LOW_PERCENT
    return LOW_PERCENT if is_low else None


def _warn(account: Subscription, level: int) -> None:
    """Warn the client that its credits are running low, unless it was already warned at this level
    or a lower one."""
    if account.lowest_warning_level is not None and account.lowest_warning_level <= level:
        return
    account.lowest_warning_level = level
    account.save(update_fields=["lowest_warning_level"])
    enqueue(
        "webhooks.credits_low",
        client_id=account.client_id,
        ordering_key=f"credits:{account.client_id}",
        subscription_id=account.pk,
        threshold=level,
    )


def _reset_warnings(account: Subscription) -> None:
    """After credits were added, allow new warnings for the levels that the balance is above."""
    account.lowest_warning_level = _warning_level(account)
    account.save(update_fields=["lowest_warning_level"])


def _renew(client_id: int, now: datetime) -> None:
    with transaction.atomic():
        account = _lock(client_id)
        end = account.period_end
        if not account.is_active or end is None or end > now:
            return
        if account.plan == Plan.TRIAL:
            account.is_active = False
            account.save(update_fields=["is_active"])
            subject = f"subscription:{account.pk}"
            audit.record(client_id, "subscription.ended", by=None, subject=subject)
            return
        # Periods that were skipped grant no credits, because they are over.
        length = end - account.period_start
        account.period_start = end + (now - end) // length * length
        account.period_end = account.period_start + length
        account.credits_used = 0
        account.save(update_fields=["period_start", "period_end", "credits_used"])
        if account.plan == Plan.STANDARD:
            _grant(account, account.credits_included, f"period:{iso(account.period_start)}")
        _reset_warnings(account)
