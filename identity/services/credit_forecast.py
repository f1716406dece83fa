"""Forecasts how long a client's credits will last."""

from datetime import datetime, timedelta

from django.db.models import Sum

from identity.models import CreditEntry, EntryKind, Plan, Subscription

# The use of credits in the last period is extrapolated to at most `_MAX_PERIODS` periods, which are
# about ten years.
_PERIOD, _MAX_PERIODS = timedelta(days=7), 520
# A forecast of this length means that the credits last at least as long; pages do not show it.
LONGEST = _PERIOD * _MAX_PERIODS
_USE_KINDS = (EntryKind.RESERVE, EntryKind.SETTLE, EntryKind.RELEASE)


def ends_at(account: Subscription, *, now: datetime) -> datetime | None:
    """When the credits will run out if they are used as fast as in the last seven days, but at most
    `LONGEST` from now. None if no credits were used, or if the plan is unlimited."""
    if account.plan == Plan.UNLIMITED:
        return None
    entries = CreditEntry.objects.filter(client_id=account.client_id, created_at__gte=now - _PERIOD)
    used = -(entries.filter(kind__in=_USE_KINDS).aggregate(all=Sum("amount"))["all"] or 0)
    return now + _PERIOD * min(account.credits_left / used, _MAX_PERIODS) if used > 0 else None
