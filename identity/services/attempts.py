"""How often anybody may try what needs no credential: counted in PostgreSQL, before the check.

A try is written as failed first and taken back where it succeeds, so that tries at one moment see
each other, on every process, and also when the cache is away.
"""

import ipaddress
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone

from chatplatform.api.errors import ApiError
from chatplatform.crypto import hash_secret
from identity.models import Attempt, AttemptKind


@dataclass(frozen=True)
class Limit:
    """Tries within the window after which every further one is refused."""

    window: timedelta
    from_address: int | None = None
    for_account: int | None = None
    # Whether an account's tries from other addresses count too.
    account_anywhere: bool = False


LIMITS = {
    # An account is locked for one address only: nobody locks another out from afar.
    AttemptKind.SIGN_IN: Limit(timedelta(minutes=15), from_address=100, for_account=10),
    # Mail to one address, whoever asks for it.
    AttemptKind.ASK_RESET: Limit(
        timedelta(hours=1), from_address=30, for_account=5, account_anywhere=True
    ),
    AttemptKind.TRY_RESET: Limit(timedelta(minutes=15), from_address=6),
    AttemptKind.REGISTER: Limit(timedelta(hours=1), from_address=20),
    AttemptKind.ADD_USER: Limit(timedelta(hours=1), for_account=100, account_anywhere=True),
}


class TooManyAttempts(ApiError):
    code, status = "too_many_requests", 429
    detail = "Too many tries; wait and try again."

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__()
        self.retry_after_seconds = retry_after_seconds

    def response(self) -> HttpResponse:
        response = super().response()
        response["Retry-After"] = str(self.retry_after_seconds)
        return response


def begin(kind: AttemptKind, *, address: str, account: str = "") -> Attempt:
    """Count this try; 429 where the limit of its account or its address is reached already."""
    limit, now = LIMITS[kind], timezone.now()
    attempt = Attempt.objects.create(
        kind=kind, account_hash=hash_secret(account), address=_network(address), created_at=now
    )
    since = now - limit.window
    earlier = Attempt.objects.filter(kind=kind, created_at__gt=since, pk__lt=attempt.pk)
    wait = max(
        _wait(_of_account(earlier, attempt), limit.for_account, limit.window, now),
        _wait(earlier.filter(address=attempt.address), limit.from_address, limit.window, now),
    )
    if wait:
        # Not counted: who keeps trying must not keep the door shut for ever.
        attempt.delete()
        raise TooManyAttempts(wait)
    return attempt


def forgive(attempt: Attempt) -> None:
    """The try succeeded: it and the account's failures before it count no more."""
    Attempt.objects.filter(
        kind=attempt.kind, account_hash=attempt.account_hash, address=attempt.address
    ).delete()


def take_back(attempt: Attempt) -> None:
    """The try succeeded; failures before it still count."""
    attempt.delete()


def locks(attempt: Attempt) -> bool:
    """Whether this failed try is the very one that reaches its account's limit."""
    limit = LIMITS[AttemptKind(attempt.kind)]
    since = attempt.created_at - limit.window
    counted = Attempt.objects.filter(kind=attempt.kind, created_at__gt=since, pk__lte=attempt.pk)
    return _of_account(counted, attempt).count() == limit.for_account


def purge_expired() -> None:
    """Delete tries that no limit counts any more."""
    for kind, limit in LIMITS.items():
        Attempt.objects.filter(kind=kind, created_at__lt=timezone.now() - limit.window).delete()


def _of_account(rows: QuerySet[Attempt], attempt: Attempt) -> QuerySet[Attempt]:
    rows = rows.filter(account_hash=attempt.account_hash)
    if LIMITS[AttemptKind(attempt.kind)].account_anywhere:
        return rows
    return rows.filter(address=attempt.address)


def _wait(attempts: QuerySet[Attempt], limit: int | None, window: timedelta, now: datetime) -> int:
    """Seconds until fewer than `limit` tries lie in the window; 0 where that is so now."""
    if limit is None:
        return 0
    moments = attempts.order_by("-created_at", "-pk").values_list("created_at", flat=True)
    decisive = moments[limit - 1 : limit].first()
    return max(1, math.ceil((decisive + window - now).total_seconds())) if decisive else 0


def _network(address: str) -> str:
    """The address as it is counted: a household has 2^64 addresses of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network(f"{address.partition('%')[0]}/64", strict=False))
