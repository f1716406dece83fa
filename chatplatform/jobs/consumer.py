"""Celery's consumer, where ours differs: when the broker dies, when it falls, when it must stop."""

import logging
import os
from typing import Any

from celery import bootsteps
from celery.worker import consumer
from celery.worker.state import active_requests
from django.db import Error

from chatplatform import jobs
from chatplatform.jobs.heartbeat import EVERY_SECONDS, Sign

log = logging.getLogger(__name__)


class Consumer(consumer.Consumer):
    """Takes hints from the broker; `settings.CELERY_WORKER_CONSUMER` names it."""

    def start(self) -> None:
        try:
            super().start()
        except Exception:
            # Celery would wait for the running jobs, ten minutes at most, and take no other. They
            # are rows with leases: a new process has them, and all that wait, in seconds.
            log.critical("The consumer fell, so this process ends at once.", exc_info=True)
            os._exit(1)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        # Celery closes a broken connection twice. After the first time kombu has its default
        # channel still, but no address any more; where hints in work cannot be given back, the
        # second time falls for that. So the channel is closed before, and forgotten.
        assert self.connection
        self.connection.revive(None)  # type: ignore[arg-type]
        super().on_connection_error_after_connected(exc)

    def cancel_active_requests(self) -> None:
        """The worker was told to stop, and its time for jobs is over."""
        ids = [one.kwargs["job_id"] for one in tuple(active_requests) if "job_id" in one.kwargs]
        try:
            jobs.return_to_queue(ids)
        except Error as exc:
            log.warning("jobs %s wait for the end of their leases: %s", ids, exc)
        try:
            super().cancel_active_requests()
        except NotImplementedError:
            # Threads cannot be cut short, and nobody wants their results any more.
            os._exit(0)


class Alive(bootsteps.StartStopStep):
    """Leaves the worker's sign of life from the loop that takes hints, and only while it turns."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._sign = Sign(parent.hostname.split("@")[0])

    def register_with_event_loop(self, parent: Any, hub: Any) -> None:
        """Called for each connection to the broker; what it adds ends with that connection."""
        self._sign.leave()
        hub.call_repeatedly(EVERY_SECONDS, self._sign.leave)
