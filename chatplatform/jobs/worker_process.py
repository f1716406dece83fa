"""The parts of a worker other than its jobs: consumer, heartbeat, and the loops of its queues."""

import logging
import os
import threading
import time
from typing import Any

from celery import bootsteps
from celery.signals import worker_shutting_down
from celery.worker import consumer
from celery.worker.state import active_requests, maybe_shutdown
from django.conf import settings
from django.db import Error
from django.utils.module_loading import import_string

from chatplatform.jobs import heartbeat, leases
from chatplatform.jobs.stop_event import Stop

log = logging.getLogger(__name__)
PAUSE_SECONDS = 2.0  # before a loop that failed is called again
# A loop counts as hanging if it has not called `turn` for this long; one SQL statement may take 30
# seconds.
HANG_TIMEOUT_SECONDS = 60.0


class Consumer(consumer.Consumer):
    """Celery's consumer with a heartbeat, and with our handling of broker failures, errors and
    stops."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._heartbeat = heartbeat.Heartbeat(self.hostname.split("@")[0])

    def start(self) -> None:
        try:
            super().start()
        except Exception:
            # Celery would wait up to ten minutes for the running jobs and start no others. Their
            # leases let a new process take them over within seconds.
            log.critical("The consumer failed, so this process ends at once.", exc_info=True)
            os._exit(1)

    def register_with_event_loop(self, hub: Any) -> None:
        """Called for each connection to the broker; the new timer ends with the connection."""
        super().register_with_event_loop(hub)
        self._write_heartbeat()
        hub.call_repeatedly(heartbeat.EVERY_SECONDS, self._write_heartbeat)

    def _write_heartbeat(self) -> None:
        if not self._loop_hangs():
            self._heartbeat.write()

    def ensure_connected(self, conn: Any) -> Any:
        """Wait for the broker indefinitely: the worker can deliver webhooks without it."""

        def touch_file() -> None:
            maybe_shutdown()
            if not self._loop_hangs():
                self._heartbeat.touch_file()

        def warn(exc: Exception, seconds: float) -> None:
            log.warning("the broker is unavailable, trying again in %s s: %s", seconds, exc)

        # The file is touched here too, in case the broker responds but each connection breaks at
        # once.
        touch_file()
        # `callback` is called every second.
        return conn.ensure_connection(warn, callback=touch_file)

    def _loop_hangs(self) -> bool:
        stops: list[Stop] = self.controller.loop_stops  # type: ignore[attr-defined]
        return any(time.monotonic() - stop.turned_at > HANG_TIMEOUT_SECONDS for stop in stops)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        # Celery closes a broken connection twice. After the first time, kombu keeps its default
        # channel but no address, and the second close fails if unacknowledged messages cannot be
        # returned. So the channel is closed and dropped first.
        assert self.connection
        self.connection.revive(None)  # type: ignore[arg-type]
        super().on_connection_error_after_connected(exc)

    def cancel_active_requests(self) -> None:
        """Called when a stopping worker has no time left for its jobs."""
        requests = tuple(active_requests)
        ids = [request.kwargs["job_id"] for request in requests if "job_id" in request.kwargs]
        try:
            leases.return_to_queue(ids)
        except Error as exc:
            log.warning("jobs %s wait for the end of their leases: %s", ids, exc)
        try:
            super().cancel_active_requests()
        except NotImplementedError:
            # Threads cannot be interrupted, and their results are no longer needed.
            os._exit(0)


class WarmUp(bootsteps.StartStopStep):
    """Calls those of `settings.WORKER_WARM_UPS` whose queue this worker serves, before the consumer
    takes jobs."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        queues = worker.app.amqp.queues.consume_from
        self._names = [name for queue, name in settings.WORKER_WARM_UPS.items() if queue in queues]

    def start(self, worker: Any) -> None:
        for name in self._names:
            try:
                import_string(name)()
            except Exception:
                # The first jobs load what they need, only later.
                log.exception("%s failed", name)


class WorkerLoops(bootsteps.StartStopStep):
    """Runs a thread for each of `settings.WORKER_LOOPS` whose queue this worker serves. The threads
    start before the consumer, and a shutdown stops them."""

    # A pool that forks must fork its children before threads start.
    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        queues = worker.app.amqp.queues.consume_from
        names = [name for queue, name in settings.WORKER_LOOPS.items() if queue in queues]
        # The consumer checks that the loops do not hang.
        self._stops = worker.loop_stops = [Stop() for _ in names]
        # Daemon threads, which do not keep a failed worker alive.
        self._threads = [
            threading.Thread(target=run_loop, args=(name, stop), name=name, daemon=True)
            for name, stop in zip(names, self._stops, strict=True)
        ]

    def start(self, worker: Any) -> None:
        worker_shutting_down.connect(self._set_stop)
        for thread in self._threads:
            thread.start()

    def _set_stop(self, **_: object) -> None:
        for stop in self._stops:
            stop.set()

    def stop(self, worker: Any) -> None:
        self._set_stop()
        for thread in self._threads:
            thread.join()

    def terminate(self, worker: Any) -> None:
        self.stop(worker)


def run_loop(name: str, stop: Stop) -> None:
    """Call the function `name` until `stop` is set; if it fails, call it again after a pause."""
    while not stop.is_set():
        try:
            import_string(name)(stop)
        except Exception:
            # Without this handler the thread would end unnoticed.
            log.exception("%s failed", name)
            stop.wait(PAUSE_SECONDS)
