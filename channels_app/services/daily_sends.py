"""How many messages a connection sent each day, and how many were refused."""

from datetime import date, timedelta

from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.utils import timezone

from channels_app.models import ChannelConnection, OutboundSend, SendState

DAYS = 14


def sends_by_day(row: ChannelConnection) -> dict[date, tuple[int, int]]:
    """For each of the last 14 days, how many messages were sent and refused; empty if none."""
    today = timezone.localdate()
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    rows = OutboundSend.objects.filter(connection=row, created_at__date__gte=days[0])
    counted = rows.values(day=TruncDate("created_at")).annotate(
        sent=Count("pk", filter=Q(state=SendState.SENT)),
        refused=Count("pk", filter=Q(state=SendState.FAILED)),
    )
    found = {item["day"]: (item["sent"], item["refused"]) for item in counted}
    return {day: found.get(day, (0, 0)) for day in days} if found else {}
