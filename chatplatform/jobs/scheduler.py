"""Celery beat's scheduler, with a heartbeat."""

import logging
from typing import Any

from celery.beat import PersistentScheduler

from chatplatform.jobs import heartbeat

log = logging.getLogger(__name__)


class Scheduler(PersistentScheduler):
    """Writes the heartbeat in the loop that sends periodic tasks, so that both stop together."""

    max_interval = int(heartbeat.EVERY_SECONDS)  # seconds between ticks, at most

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._heartbeat = heartbeat.Heartbeat("beat")

    def tick(self, *args: Any, **options: Any) -> float:
        self._heartbeat.write_if_due()
        return super().tick(*args, **options)

    def _ensure_connected(self) -> Any:
        """Wait for the broker indefinitely; called when the first task is sent."""

        def warn(exc: Exception, seconds: float) -> None:
            log.warning("the broker is unavailable, trying again in %s s: %s", seconds, exc)

        # `callback` is called every second.
        return self.connection.ensure_connection(
            warn, self.app.conf.broker_connection_max_retries, callback=self._heartbeat.touch_file
        )
