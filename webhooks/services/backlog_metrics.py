"""Metrics of the delivery backlog: how many deliveries wait, and how overdue the oldest is."""

from chatplatform.observing import metrics
from chatplatform.observing.metrics import Readings

_WAITING = """
SELECT (SELECT count(*) FROM webhooks_delivery
        WHERE due_at IS NOT NULL AND NOT is_test),
    (SELECT coalesce(max(extract(epoch FROM statement_timestamp() - oldest.due_at)), 0)::float8
     FROM webhooks_webhookconfig c,
     LATERAL (SELECT d.due_at FROM webhooks_delivery d
              WHERE d.config_id = c.id AND NOT d.is_test AND d.due_at <= statement_timestamp()
              ORDER BY d.due_at LIMIT 1) AS oldest
     WHERE c.is_active AND (c.paused_until IS NULL OR c.paused_until <= statement_timestamp()))
"""


def read() -> Readings:
    """The readings of both metrics; none if the database is unavailable."""
    return metrics.of_row(_WAITING, metrics.DELIVERIES, metrics.DELIVERY_OLDEST)
