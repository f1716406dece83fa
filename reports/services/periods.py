"""Periods of whole days in a time zone."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils import timezone

from identity.models import Client
from reports.schemas.adhoc import PeriodQuery

DEFAULT_DAYS = 30
# PostgreSQL reads these zone names as abbreviations, which have no daylight saving time.
_ZONES_BY_ABBREVIATION = {
    "CET": "Europe/Brussels", "MET": "Europe/Brussels", "EET": "Europe/Athens",
    "WET": "Europe/Lisbon",
}  # fmt: skip


@dataclass(frozen=True)
class Period:
    """The days from `first` to `last`, inclusive, in a time zone."""

    first: date
    last: date
    zone: str

    @property
    def begins_at(self) -> datetime:
        return datetime.combine(self.first, time(), ZoneInfo(self.zone))

    @property
    def ends_at(self) -> datetime:
        """The first moment after the period."""
        return datetime.combine(self.last + timedelta(days=1), time(), ZoneInfo(self.zone))

    @property
    def before(self) -> "Period":
        """The preceding period with the same number of days."""
        days = self.last - self.first + timedelta(days=1)
        return Period(self.first - days, self.first - timedelta(days=1), self.zone)


def today_in(zone: str) -> date:
    """Today's date in a time zone."""
    return timezone.localdate(timezone=ZoneInfo(zone))


def resolve(client: Client, query: PeriodQuery) -> Period:
    """The period of a query, by default the last 30 days in the client's time zone."""
    zone = query.timezone or client.timezone
    zone = _ZONES_BY_ABBREVIATION.get(zone, zone)
    today = today_in(zone)
    last = query.date_to or max(today, query.date_from or today)
    return Period(query.date_from or last - timedelta(days=DEFAULT_DAYS - 1), last, zone)
