"""Credits: a ledger beside a balance. Reserve before an AI call, settle or release after it.

A `reference` names what the credits are for ("reply:<message id>"): the same reference reserves,
settles and releases once, however often its job is tried.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from chatplatform.errors import ApiError
from identity.models import CreditEntry, EntryKind, Plan, Subscription, User

# What a task of the embedded engine costs, and how many tokens of a model one credit buys.
EMBEDDED_TASK = 1
TOKENS_A_CREDIT = 1_000


class InsufficientCredits(ApiError):
    """The balance does not cover the call; fields `balance` and `required`, in credits."""

    code, status = "insufficient_credits", 402
    detail = "The credits are used up: top up, or wait for the next period."


def reserve(client_id: int, *, cost: int, reference: str) -> None:
    """Hold `cost` credits, or raise InsufficientCredits and change nothing.

    Nothing more is held where `reference` holds already. A reservation that was released may be
    made again under another reference only.
    """
    try:
        with transaction.atomic():
            _change(client_id, EntryKind.RESERVE, -cost, reference)
    except IntegrityError as exc:
        if "credit_entry_once" not in str(exc):
            raise


def settle(client_id: int, *, used: int, reference: str) -> None:
    """Give back what was held and not used; once. More than was held is not charged."""
    _give_back(client_id, EntryKind.SETTLE, reference, keep=used)


def release(client_id: int, *, reference: str) -> None:
    """Give back all that was held: the call failed. Once, and not after `settle`."""
    _give_back(client_id, EntryKind.RELEASE, reference, keep=0)


@dataclass
class Held:
    """Credits that are held for a call; `used` is what it turned out to cost, None for all."""

    used: int | None = None


@contextmanager
def charge(client_id: int, *, cost: int, reference: str) -> Iterator[Held]:
    """Hold `cost` credits for the block; pay what it used, or nothing where it raises."""
    reserve(client_id, cost=cost, reference=reference)
    held = Held()
    try:
        yield held
    except BaseException:
        release(client_id, reference=reference)
        raise
    settle(client_id, used=cost if held.used is None else held.used, reference=reference)


def of_tokens(count: int) -> int:
    """What so many tokens of a model cost: one credit each started thousand."""
    return max(1, -(-count // TOKENS_A_CREDIT))


def top_up(client_id: int, *, amount: int, reference: str, by: User | None) -> None:
    """Add bought credits; the same reference adds once."""
    try:
        with transaction.atomic():
            _change(client_id, EntryKind.TOP_UP, amount, reference, by=by)
    except IntegrityError as exc:
        if "credit_entry_once" not in str(exc):
            raise


def _give_back(client_id: int, kind: EntryKind, reference: str, *, keep: int) -> None:
    with transaction.atomic():
        # The balance's row first: two endings of one reservation come one after the other.
        Subscription.objects.select_for_update(no_key=True).get(client_id=client_id)
        entries = {
            entry.kind: entry
            for entry in CreditEntry.objects.filter(client_id=client_id, reference=reference)
        }
        held = entries.get(EntryKind.RESERVE)
        if held is None or EntryKind.SETTLE in entries or EntryKind.RELEASE in entries:
            return
        _change(client_id, kind, max(0, -held.amount - keep), reference)


def _change(
    client_id: int, kind: EntryKind, amount: int, reference: str, *, by: User | None = None
) -> None:
    """Move the balance in one statement that cannot go below zero, and write the entry."""
    rows: Any = Subscription.objects.filter(client_id=client_id)
    if amount < 0:
        # An unlimited plan is counted and never refused; its balance may stay at zero.
        rows = rows.filter(credits_left__gte=-amount, is_active=True)
    if not rows.update(credits_left=F("credits_left") + amount):
        left = Subscription.objects.get(client_id=client_id)
        if left.plan == Plan.UNLIMITED:
            amount = 0
        else:
            raise InsufficientCredits(balance=left.credits_left, required=-amount)
    balance = Subscription.objects.values_list("credits_left", flat=True).get(client_id=client_id)
    CreditEntry.objects.create(
        client_id=client_id,
        kind=kind,
        amount=amount,
        balance_after=balance,
        reference=reference,
        created_by=by,
    )
