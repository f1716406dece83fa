"""What the tests of a real worker let it run: the application, with tasks and faults of their own.

Never imported by the tests themselves: their process declares no such job.
"""

import signal
import time
from pathlib import Path

from celery.signals import worker_init

from chatplatform.celery import app


@app.task(name="test.nap")
def nap(*, seconds, note):
    time.sleep(seconds)
    Path(note).touch()


@worker_init.connect
def _prepare(**_):
    """A job of its own, and faults by signal, since handlers run where the consumer runs."""
    from chatplatform.jobs import Queue, heartbeat, job  # noqa: PLC0415 - the apps are ready now

    heartbeat.EVERY_SECONDS = 0.2
    job("test.work", queue=Queue.TRAIN)(lambda **_: time.sleep(60))
    app.conf.worker_soft_shutdown_timeout = 1
    signal.signal(signal.SIGUSR2, _fall)
    signal.signal(signal.SIGWINCH, lambda *_: time.sleep(60))


def _fall(*_):
    raise RuntimeError("a fault of ours")
