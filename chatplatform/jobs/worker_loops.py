"""Loops that a worker runs next to its jobs; they go on while the broker is away."""

import logging
import threading
from typing import Any

from celery import bootsteps
from celery.signals import worker_shutting_down
from django.conf import settings
from django.utils.module_loading import import_string

log = logging.getLogger(__name__)
PAUSE_SECONDS = 2.0


class WorkerLoops(bootsteps.StartStopStep):
    """A thread for each of `settings.WORKER_LOOPS` whose queue this worker serves.

    It starts before the consumer, which is the last step and waits for the broker. At a warm
    shutdown the loops are stopped when the signal comes; at a soft one, when the time for jobs is
    over.
    """

    # Threads start after a pool that forks has its children.
    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        queues = worker.app.amqp.queues.consume_from
        names = [name for queue, name in settings.WORKER_LOOPS.items() if queue in queues]
        self._stop = threading.Event()
        # Daemons: they must not keep a failed worker alive.
        self._threads = [
            threading.Thread(target=run, args=(name, self._stop), name=name, daemon=True)
            for name in names
        ]

    def start(self, worker: Any) -> None:
        worker_shutting_down.connect(self._set_stop)
        for thread in self._threads:
            thread.start()

    def _set_stop(self, **_: object) -> None:
        self._stop.set()

    def stop(self, worker: Any) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def terminate(self, worker: Any) -> None:
        self.stop(worker)


def run(name: str, stop: threading.Event) -> None:
    """Call the function `name` until `stop` is set, again after a pause if it fails."""
    while not stop.is_set():
        try:
            import_string(name)(stop)
        except Exception:
            # The edge of a thread: without it the loop would end unnoticed.
            log.exception("%s failed", name)
            stop.wait(PAUSE_SECONDS)
