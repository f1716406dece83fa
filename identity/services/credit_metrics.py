"""Metrics of the credits that running calls have reserved, for all clients together."""

from django.db import Error, connection

from chatplatform.observing import metrics
from chatplatform.observing.metrics import Reading, Readings

_OPEN = """
SELECT coalesce(-sum(amount), 0)::bigint,
    coalesce(max(extract(epoch FROM statement_timestamp() - created_at)), 0)::float8
FROM identity_creditentry WHERE is_open
"""


def read() -> Readings:
    """Reserved credits and the oldest reservation; nothing if the database does not answer."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_OPEN)
            reserved, oldest = cursor.fetchone()
    except Error:
        return
    finally:
        connection.close()  # belongs to this thread
    yield Reading(metrics.CREDITS_RESERVED, reserved)
    yield Reading(metrics.CREDITS_OLDEST, oldest)
