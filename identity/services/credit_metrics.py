"""Metrics of the credits that are reserved for AI calls, for all clients together."""

from chatplatform.observing import metrics
from chatplatform.observing.metrics import Readings

_OPEN = """
SELECT coalesce(-sum(amount), 0)::bigint,
    coalesce(max(extract(epoch FROM statement_timestamp() - created_at)), 0)::float8
FROM identity_creditentry WHERE is_open
"""


def read() -> Readings:
    """The number of reserved credits and the age of the oldest reservation. Empty if the database
    is unavailable."""
    return metrics.of_row(_OPEN, metrics.CREDITS_RESERVED, metrics.CREDITS_OLDEST)
