"""Credits: a ledger beside a balance. Reserve before an AI call, settle or release after it.

A `reference` names what the credits are for ("reply:<message id>"): the same reference is held
once at a time and paid once, however often its job is tried. What was released may be held again.
Every change is made under the lock of the subscription's row, together with its entry.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import TruncDate
from django.utils import timezone

from chatplatform.api.errors import ApiError
from chatplatform.api.shapes import iso
from chatplatform.ids import uuid7
from chatplatform.jobs import current_job, enqueue
from chatplatform.models import Job, JobState
from identity.models import Client, CreditEntry, EntryKind, Plan, Subscription, User
from identity.services import audit

# Prices in credits (docs/credits.md).
EMBEDDED_TASK = 1
TOKENS_A_CREDIT = 1_000
# What a reply of a model holds before its tokens are known, and the most that it costs.
MODEL_REPLY = 10

# Warned of once each, in per cent of credits_included, and the higher one first.
LOW_PERCENT = 20
USED_UP = 0
# A reservation this old whose job is over belongs to nobody: a request lasts a minute or two.
ABANDONED_AFTER = timedelta(hours=1)

_OF_CALLS = {EntryKind.RESERVE, EntryKind.SETTLE, EntryKind.RELEASE}


class InsufficientCredits(ApiError):
    """The balance does not cover the call; fields `balance` and `required`, in credits."""

    code, status = "insufficient_credits", 402
    detail = "The credits are used up: top up, or wait for the next period."


class SubscriptionInactive(InsufficientCredits):
    """A trial that is over, or a plan that was ended: 402 too, because paying is what helps."""

    code = "subscription_inactive"
    detail = "The plan has ended: ask for a new one. What is left is kept."


class ReferenceTaken(ApiError):
    code, status = "reference_taken", 409
    detail = "Another top-up has this reference, with another amount."


@dataclass
class Held:
    """What `charge` holds; lower `used` to what the call has cost."""

    used: int


def of_tokens(count: int) -> int:
    """What so many tokens of a model cost: one credit each started thousand."""
    return max(1, -(-count // TOKENS_A_CREDIT))


@contextmanager
def charge(client_id: int, *, cost: int, reference: str) -> Iterator[Held]:
    """Hold `cost` credits while an AI call runs: pay `held.used` after it, nothing if it raises.

    `reference` names this one call: what was paid under it is not charged again. Not inside a
    transaction: the row of the balance would stay locked for the whole call.
    """
    reserve(client_id, cost=cost, reference=reference)
    held = Held(cost)
    try:
        yield held
    except BaseException:
        release(client_id, reference=reference)
        raise
    settle(client_id, used=held.used, reference=reference)


def reserve(client_id: int, *, cost: int, reference: str) -> None:
    """Hold `cost` credits, or raise InsufficientCredits and hold nothing.

    Nothing more is held where `reference` holds already or was paid.
    """
    assert cost >= 0, "a price is no gift"
    with transaction.atomic():
        account = _lock(client_id)
        if _open(client_id, reference) or _is_paid(client_id, reference):
            return
        if account.plan == Plan.UNLIMITED and account.is_active:
            _grant(account, max(0, cost - account.credits_left), f"unlimited:{uuid7()}")
        refusal = _refusal(account, cost)
        if refusal is None:
            _move(account, EntryKind.RESERVE, -cost, reference)
            return
        if account.is_active:
            _warn(account, USED_UP)
    raise refusal


def settle(client_id: int, *, used: int, reference: str) -> int:
    """Give back what was held and not used; once. Returns what was charged now.

    More than was held is not charged.
    """
    return _end(client_id, EntryKind.SETTLE, reference, used=used)


def release(client_id: int, *, reference: str) -> None:
    """Give back all that was held: the call failed. Once, and not after `settle`."""
    _end(client_id, EntryKind.RELEASE, reference, used=0)


def open_account(
    client: Client, *, included: int, period_end: datetime | None = None
) -> Subscription:
    """A new client's trial plan with its first grant."""
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
    """Add bought credits; the same reference adds once, and with another amount is a 409."""
    with transaction.atomic():
        account = _lock(client_id)
        known = CreditEntry.objects.filter(
            client_id=client_id, reference=reference, kind=EntryKind.TOP_UP
        ).first()
        if known and known.amount != amount:
            raise ReferenceTaken(amount=known.amount)
        if known is None:
            _move(account, EntryKind.TOP_UP, amount, reference, by=by)
            _forget_warnings(account)
            audit.record(
                client_id,
                "credits.topped_up",
                by=by,
                subject=f"subscription:{account.pk}",
                changes={"amount": amount, "reference": reference},
            )
    return account


def renew_due() -> int:
    """Begin the next period of every plan whose period is over; a trial ends instead."""
    now = timezone.now()
    due = Subscription.objects.filter(is_active=True, period_end__lte=now)
    clients = list(due.values_list("client_id", flat=True))
    for client_id in clients:
        _renew(client_id, now)
    return len(clients)


def release_abandoned() -> int:
    """Give back what calls hold that were cut off: an hour old, and no job will end them."""
    unfinished = Job.objects.filter(
        pk=OuterRef("job_id"), state__in=[JobState.QUEUED, JobState.RUNNING]
    )
    abandoned = CreditEntry.objects.filter(
        ~Exists(unfinished), is_open=True, created_at__lt=timezone.now() - ABANDONED_AFTER
    )
    found = list(abandoned.values_list("pk", "client_id", "reference"))
    for pk, client_id, reference in found:
        with transaction.atomic():
            _lock(client_id)
            # A new attempt may have taken the reference up since it was looked for.
            if abandoned.filter(pk=pk).exists():
                release(client_id, reference=reference)
    return len(found)


def daily_balances(client_id: int, *, days: int = 30) -> dict[date, int]:
    """The balance at the end (UTC) of each of the latest days on which it moved."""
    rows = (
        CreditEntry.objects.filter(
            client_id=client_id, created_at__gt=timezone.now() - timedelta(days=days)
        )
        .annotate(day=TruncDate("created_at"))
        .order_by("day", "-pk")
        .distinct("day")
    )
    return dict(rows.values_list("day", "balance_after"))


def _lock(client_id: int) -> Subscription:
    return Subscription.objects.select_for_update(no_key=True).get(client_id=client_id)


def _open(client_id: int, reference: str) -> CreditEntry | None:
    return CreditEntry.objects.filter(
        client_id=client_id, reference=reference, is_open=True
    ).first()


def _is_paid(client_id: int, reference: str) -> bool:
    return bool(
        CreditEntry.objects.filter(
            client_id=client_id, reference=reference, kind=EntryKind.SETTLE
        ).exists()
    )


def _refusal(account: Subscription, cost: int) -> InsufficientCredits | None:
    left = account.credits_left
    if not account.is_active:
        return SubscriptionInactive(balance=left, required=cost)
    return InsufficientCredits(balance=left, required=cost) if left < cost else None


def _end(client_id: int, kind: EntryKind, reference: str, *, used: int) -> int:
    with transaction.atomic():
        account = _lock(client_id)
        held = _open(client_id, reference)
        if held is None:
            return 0
        CreditEntry.objects.filter(pk=held.pk).update(is_open=False)
        charged = min(max(used, 0), -held.amount)
        _move(account, kind, -held.amount - charged, reference)
        level = _level(account)
        if level is not None and account.plan != Plan.UNLIMITED:
            _warn(account, level)
    return charged


def _grant(account: Subscription, amount: int, reference: str) -> None:
    if amount:
        _move(account, EntryKind.GRANT, amount, reference)


def _move(
    account: Subscription, kind: EntryKind, amount: int, reference: str, *, by: User | None = None
) -> None:
    """Change the balance of a locked row and write why; the column itself refuses less than 0."""
    account.credits_left += amount
    if kind in _OF_CALLS:
        # What the last period held may come back in this one: less than nothing was never used.
        account.credits_used = max(0, account.credits_used - amount)
    account.save(update_fields=["credits_left", "credits_used"])
    CreditEntry.objects.create(
        client_id=account.client_id,
        kind=kind,
        amount=amount,
        balance_after=account.credits_left,
        reference=reference,
        is_open=kind == EntryKind.RESERVE,
        job_id=current_job() if kind == EntryKind.RESERVE else None,
        created_by=by,
    )


def _level(account: Subscription) -> int | None:
    """Which warning the balance is worth."""
    if account.credits_left == 0:
        return USED_UP
    low = account.credits_left * 100 < account.credits_included * LOW_PERCENT
    return LOW_PERCENT if low else None


def _warn(account: Subscription, level: int) -> None:
    """Tell the client once that its credits run low; a lower level is told again."""
    if account.low_warned is not None and account.low_warned <= level:
        return
    account.low_warned = level
    account.save(update_fields=["low_warned"])
    enqueue(
        "webhooks.credits_low",
        client_id=account.client_id,
        ordering_key=f"credits:{account.client_id}",
        subscription_id=account.pk,
        threshold=level,
    )


def _forget_warnings(account: Subscription) -> None:
    """After credits were added: what they lift the balance above is worth a warning again."""
    account.low_warned = _level(account)
    account.save(update_fields=["low_warned"])


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
        # Periods that passed while nobody looked bring no grant: nothing could be used in them.
        length = end - account.period_start
        account.period_start = end + (now - end) // length * length
        account.period_end = account.period_start + length
        account.credits_used = 0
        account.save(update_fields=["period_start", "period_end", "credits_used"])
        if account.plan == Plan.STANDARD:
            _grant(account, account.credits_included, f"period:{iso(account.period_start)}")
        _forget_warnings(account)
