"""Tables with one partition per month. Months are created in advance and dropped as a whole.

This covers every partitioned table of the schema `public`. A migration calls
`chatplatform_part_by_month` to partition a table.
"""

import logging
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import OperationalError, connection, models, transaction
from django.utils import timezone

from chatplatform.ids import first_id
from chatplatform.sql import fetch_rows

log = logging.getLogger(__name__)
# How many months are created beyond the current one, so that creating them may fail for weeks
# without harm.
MONTHS_AHEAD = 2
# How long a drop waits for its lock before it is left to a later run. Meanwhile, all readers and
# writers of the table wait, too.
_SET_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '300ms'"
# The tables, with the approximate number of rows in their default partitions. The number comes from
# the server's statistics, since only the owner may read a partition.
_TABLES = """
SELECT relname, pg_stat_get_live_tuples(partdefid)
FROM pg_partitioned_table JOIN pg_class ON pg_class.oid = partrelid
WHERE relnamespace = 'public'::regnamespace ORDER BY relname
"""
_MONTHS = """
SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = %s::regclass ORDER BY relname
"""
_NAME = re.compile(r"(?P<before>_before)?_(?P<year>\d{4})_(?P<month>\d{2})$")


@dataclass(frozen=True)
class Month:
    """A partition with the rows from `begins` until just before `ends`."""

    name: str
    begins: datetime | None  # None: all rows from before `ends`
    ends: datetime

    def rows(self, model: type[models.Model], key: str) -> "models.QuerySet[models.Model]":
        """The rows of this month in a table that is partitioned by this id column."""
        rows = model._base_manager.filter(**{f"{key}__lt": first_id(self.ends)})
        return rows.filter(**{f"{key}__gte": first_id(self.begins)}) if self.begins else rows


def create_upcoming() -> None:
    """Create each table's partitions for the current month and the next `MONTHS_AHEAD` months, and
    update the planner's statistics.

    Rows that a missing partition left in the default partition move to the new one.
    """
    begin = month_of(timezone.now())
    wanted = [month_after(begin, count) for count in range(MONTHS_AHEAD + 1)]
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        for table, _ in cursor.fetchall():
            for month in wanted:
                try:
                    cursor.execute(
                        "SELECT chatplatform_make_month(%s::regclass, %s)", [table, month.date()]
                    )
                except OperationalError as exc:  # The table was locked; the next run tries again.
                    log.warning("no month of %s was created: %s", table, exc)
            cursor.execute("SELECT chatplatform_analyze(%s::regclass)", [table])


def rows_without_month() -> dict[str, int]:
    """For each table, the approximate number of rows in its default partition: rows whose month was
    not created in time, or was dropped before they were stored."""
    return dict(fetch_rows(_TABLES))


def months(model: type[models.Model]) -> list[Month]:
    """The months of a table, oldest first, without the default partition."""
    names = [name for (name,) in fetch_rows(_MONTHS, [model._meta.db_table])]
    result = []
    for match in filter(None, map(_NAME.search, names)):
        month = datetime(int(match["year"]), int(match["month"]), 1, tzinfo=UTC)
        begins, ends = (None, month) if match["before"] else (month, month_after(month))
        result.append(Month(match.string, begins, ends))
    return sorted(result, key=lambda month: month.ends)


def first_kept_id(model: type[models.Model]) -> uuid.UUID:
    """The lowest id that the oldest month can contain; older rows are in the default partition."""
    existing = months(model)
    begins = existing[0].begins if existing else None
    return first_id(begins or datetime.fromtimestamp(0, UTC))


def drop_before(
    model: type[models.Model],
    before: datetime,
    *,
    is_needed: Callable[[Month], bool] = lambda month: False,
) -> int:
    """Drop the months of a table that ended before a time, unless they are still needed; return
    how many were dropped. Each drop blocks the table for a few milliseconds."""
    table, dropped = model._meta.db_table, 0
    for month in months(model):
        # `is_needed` is called again under the lock, when nobody can add rows.
        if month.ends > before or is_needed(month):
            continue
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(_SET_LOCK_TIMEOUT)
                cursor.execute(f'LOCK TABLE "{table}" IN ACCESS EXCLUSIVE MODE')
                if is_needed(month):
                    continue
                cursor.execute(
                    "SELECT chatplatform_drop_month(%s::regclass, %s)", [table, month.name]
                )
        except OperationalError as exc:
            log.warning("%s was not dropped, the next run tries again: %s", month.name, exc)
            continue
        dropped += 1
        log.info("%s was dropped", month.name)
    return dropped


def month_of(moment: datetime) -> datetime:
    """The beginning of a moment's month in UTC."""
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def month_after(month: datetime, count: int = 1) -> datetime:
    """The month `count` months later, or earlier if `count` is negative."""
    years, index = divmod(month.month - 1 + count, 12)
    return month.replace(year=month.year + years, month=index + 1)
