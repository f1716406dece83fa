"""The application with test tasks and faults, run by the real workers of test_worker.py.

The tests do not import it: a job declared here must not exist in their process.
"""

import os
import signal
import time
from pathlib import Path

from celery.signals import worker_init

from chatplatform.celery import app


@app.task(name="test.nap")
def nap(*, seconds, note):
    Path(f"{note}.started").touch()
    time.sleep(seconds)
    Path(note).touch()


@worker_init.connect
def _prepare(**_):
    """Declare a job, and faults that signals trigger: handlers run in the consumer's thread."""
    from chatplatform.jobs import Queue, heartbeat, job  # noqa: PLC0415 - needs the apps' registry

    heartbeat.EVERY_SECONDS = 0.2
    job("test.work", queue=Queue.TRAIN)(lambda **_: time.sleep(60))
    app.conf.worker_soft_shutdown_timeout = 1
    signal.signal(signal.SIGUSR2, _fail)
    signal.signal(signal.SIGWINCH, _hang)


def _fail(*_):
    raise RuntimeError("a fault of the test")


def _hang(*_):
    Path(os.environ["HANGS_NOTE"]).touch()
    time.sleep(60)
