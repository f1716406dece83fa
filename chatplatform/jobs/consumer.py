"""Celery's consumer, with our answer to a broken broker, to an error of its own, and to a stop."""

import logging
import os
from typing import Any

from celery import bootsteps
from celery.worker import consumer
from celery.worker.state import active_requests
from django.db import Error

from chatplatform.jobs import heartbeat, leases

log = logging.getLogger(__name__)


class Consumer(consumer.Consumer):
    """Takes messages from the broker; `settings.CELERY_WORKER_CONSUMER` names it."""

    def start(self) -> None:
        try:
            super().start()
        except Exception:
            # Celery would wait up to ten minutes for the running jobs, and take no others. They are
            # rows with leases: a new process takes them over within seconds.
            log.critical("The consumer failed, so this process ends at once.", exc_info=True)
            os._exit(1)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        # Celery closes a broken connection twice. After the first time kombu still has its default
        # channel, but no address any more, and the second time fails if messages in work cannot be
        # returned. So the channel is closed and dropped before.
        assert self.connection
        self.connection.revive(None)  # type: ignore[arg-type]
        super().on_connection_error_after_connected(exc)

    def cancel_active_requests(self) -> None:
        """Called when a stopping worker's time for its jobs is over."""
        requests = tuple(active_requests)
        ids = [request.kwargs["job_id"] for request in requests if "job_id" in request.kwargs]
        try:
            leases.return_to_queue(ids)
        except Error as exc:
            log.warning("jobs %s wait for the end of their leases: %s", ids, exc)
        try:
            super().cancel_active_requests()
        except NotImplementedError:
            # Threads cannot be interrupted, and their results are not wanted any more.
            os._exit(0)


class ConsumerHeartbeat(bootsteps.StartStopStep):
    """Writes the worker's heartbeat from the loop that takes messages, so only while it turns."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._heartbeat = heartbeat.Heartbeat(parent.hostname.split("@")[0])

    def register_with_event_loop(self, parent: Any, hub: Any) -> None:
        """Called for each connection to the broker; what it adds ends with that connection."""
        self._heartbeat.write()
        hub.call_repeatedly(heartbeat.EVERY_SECONDS, self._heartbeat.write)
