"""Limits on attempts at sensitive operations, counted in PostgreSQL.

An attempt is stored before it is carried out, so that it counts for concurrent attempts in all
processes, even without Valkey. If only failures of an operation count, the attempt is deleted after
a success.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from chatplatform.api.errors import TooManyRequests
from chatplatform.api.rate_limits import counted_address
from chatplatform.crypto import hash_secret
from chatplatform.locks import lock_in_transaction
from identity.models import Attempt, AttemptKind


@dataclass(frozen=True)
class Limit:
    """The maximum number of attempts from one address and for one account within a window of time;
    None: no limit."""

    window: timedelta
    from_address: int | None = None
    for_account: int | None = None
    # Whether an account's attempts from all addresses count together, instead of separately for
    # each address.
    account_anywhere: bool = False


LIMITS = {
    # An account is locked for one address only, so that nobody can lock out its owner.
    AttemptKind.SIGN_IN: Limit(timedelta(minutes=15), from_address=100, for_account=10),
    # Somebody who tries codes already knows the password, so all addresses share the limit.
    AttemptKind.CODE: Limit(timedelta(minutes=15), for_account=10, account_anywhere=True),
    # Counted per address, so that nobody can use up somebody else's requests.
    AttemptKind.ASK_RESET: Limit(timedelta(hours=1), from_address=30, for_account=5),
    AttemptKind.ASK_LINK: Limit(timedelta(hours=1), from_address=30, for_account=5),
    # Limits the mails to one mailbox, wherever they are requested from.
    AttemptKind.LINK_MAIL: Limit(timedelta(hours=1), for_account=10, account_anywhere=True),
    AttemptKind.TRY_RESET: Limit(timedelta(minutes=15), from_address=6),
    # Each attempt sends a mail to the account's address, wherever the attempt comes from.
    AttemptKind.REGISTER: Limit(
        timedelta(hours=1), from_address=20, for_account=5, account_anywhere=True
    ),
    # Somebody who tries passwords already has the link, so all addresses share the limit.
    AttemptKind.CONFIRM: Limit(
        timedelta(minutes=15), from_address=30, for_account=10, account_anywhere=True
    ),
    # Each attempt may send a request to the client's provider.
    AttemptKind.PROVIDER: Limit(timedelta(minutes=15), from_address=100),
    AttemptKind.ADD_USER: Limit(timedelta(hours=1), for_account=100, account_anywhere=True),
    AttemptKind.TEST_MAIL: Limit(timedelta(hours=1), for_account=10, account_anywhere=True),
    AttemptKind.MAIL_CHAT: Limit(timedelta(days=1), for_account=5, account_anywhere=True),
    AttemptKind.MAIL_TO: Limit(timedelta(days=1), for_account=5, account_anywhere=True),
    # Anyone can become a new visitor at any time, so attempts from one address are limited too.
    AttemptKind.MAIL_GUEST: Limit(
        timedelta(days=1), from_address=20, for_account=5, account_anywhere=True
    ),
}


class TooManyAttempts(TooManyRequests):
    detail = gettext_noop("Too many attempts. Wait a moment and try again.")


def start(kind: AttemptKind, *, address: str, account: str = "") -> Attempt:
    """Store an attempt and return it; 429 if the limit of its account or address is reached."""
    limit, now = LIMITS[kind], timezone.now()
    attempt = Attempt(
        kind=kind,
        account_hash=hash_secret(account),
        address=counted_address(address),
        created_at=now,
    )
    with transaction.atomic():
        _lock_counted(attempt)
        earlier = Attempt.objects.filter(kind=kind, created_at__gt=now - limit.window)
        wait = max(
            _seconds_until_allowed(
                _for_account(earlier, attempt), limit.for_account, limit.window, now
            ),
            _seconds_until_allowed(
                earlier.filter(address=attempt.address), limit.from_address, limit.window, now
            ),
        )
        if wait:
            # Refused attempts do not count. Otherwise, repeated ones would extend the lock forever.
            raise TooManyAttempts(wait)
        attempt.save()
    return attempt


def clear_failures(attempt: Attempt) -> None:
    """Delete an attempt that succeeded, and the account's earlier attempts from the same
    address."""
    Attempt.objects.filter(
        kind=attempt.kind, account_hash=attempt.account_hash, address=attempt.address
    ).delete()


def delete_all(kind: AttemptKind, *, account: str) -> None:
    """Delete an account's attempts from all addresses."""
    Attempt.objects.filter(kind=kind, account_hash=hash_secret(account)).delete()


def reaches_limit(attempt: Attempt) -> bool:
    """Whether this failed attempt is the one that reaches its account's limit."""
    limit = LIMITS[AttemptKind(attempt.kind)]
    since = attempt.created_at - limit.window
    counted = Attempt.objects.filter(kind=attempt.kind, created_at__gt=since, pk__lte=attempt.pk)
    return _for_account(counted, attempt).count() == limit.for_account


def purge_expired() -> None:
    """Delete attempts that are too old to count."""
    for kind, limit in LIMITS.items():
        Attempt.objects.filter(kind=kind, created_at__lt=timezone.now() - limit.window).delete()


def _lock_counted(attempt: Attempt) -> None:
    """Make other attempts that count together with this one wait until it is stored."""
    limit = LIMITS[AttemptKind(attempt.kind)]
    account = attempt.account_hash
    if not limit.account_anywhere:
        account += attempt.address
    # Always in this order, so that no two attempts wait for each other.
    if limit.for_account is not None:
        lock_in_transaction(f"attempts {attempt.kind} account {account}")
    if limit.from_address is not None:
        lock_in_transaction(f"attempts {attempt.kind} address {attempt.address}")


def _for_account(rows: QuerySet[Attempt], attempt: Attempt) -> QuerySet[Attempt]:
    rows = rows.filter(account_hash=attempt.account_hash)
    if LIMITS[AttemptKind(attempt.kind)].account_anywhere:
        return rows
    return rows.filter(address=attempt.address)


def _seconds_until_allowed(
    attempts: QuerySet[Attempt], limit: int | None, window: timedelta, now: datetime
) -> int:
    """Seconds until fewer than `limit` attempts are in the window; 0 if there are fewer now."""
    if limit is None:
        return 0
    times = attempts.order_by("-created_at", "-pk").values_list("created_at", flat=True)
    last_in_limit = times[limit - 1 : limit].first()
    if last_in_limit is None:
        return 0
    return max(1, math.ceil((last_in_limit + window - now).total_seconds()))
