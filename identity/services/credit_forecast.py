"""How long a client's credits last."""

from datetime import datetime, timedelta

from django.db.models import Sum

from identity.models import CreditEntry, EntryKind, Plan, Subscription

_PACE = timedelta(days=7)
# The latest end that is forecast, in weeks: ten years.
_MOST = 520
_USE = (EntryKind.RESERVE, EntryKind.SETTLE, EntryKind.RELEASE)


def ends_at(account: Subscription, *, now: datetime) -> datetime | None:
    """When the credits end at the pace of the last seven days; None if none were used, or if the
    plan has no limit."""
    if account.plan == Plan.UNLIMITED:
        return None
    entries = CreditEntry.objects.filter(client_id=account.client_id, created_at__gte=now - _PACE)
    used = -(entries.filter(kind__in=_USE).aggregate(all=Sum("amount"))["all"] or 0)
    return now + _PACE * min(account.credits_left / used, _MOST) if used > 0 else None
