"""The application with test tasks and faults, run by the real workers and beat of test_worker.py.

The tests do not import it: a job declared here must not exist in their process.
"""

import os
import signal
import time
from pathlib import Path

from celery.signals import beat_init, worker_init

from chatplatform.celery import app


@app.task(name="test.nap")
def nap(*, seconds, note):
    Path(f"{note}.started").touch()
    time.sleep(seconds)
    Path(note).touch()


@worker_init.connect
def _prepare(**_):
    """Declare a job, and faults that signals trigger: handlers run in the consumer's thread."""
    from django.conf import settings  # noqa: PLC0415 - as below

    from chatplatform.jobs import Queue, job, worker_process  # noqa: PLC0415 - the apps' registry

    worker_process.HANG_TIMEOUT_SECONDS = 0.5
    settings.WORKER_LOOPS = {"train": "chatplatform.tests.worker_app.loop"}
    settings.WORKER_WARM_UPS = {"train": "chatplatform.tests.worker_app.warm_up"}
    job("test.work", queue=Queue.TRAIN)(lambda **_: time.sleep(60))
    app.conf.worker_soft_shutdown_timeout = 1
    signal.signal(signal.SIGUSR2, _fail)


@worker_init.connect
@beat_init.connect
def _beat_often(**_):
    from chatplatform.jobs import heartbeat  # noqa: PLC0415 - needs the settings

    heartbeat.EVERY_SECONDS = 0.2
    signal.signal(signal.SIGWINCH, _hang)


def loop(stop):
    """Turns, until a test lets it hang."""
    while not stop.wait(0.1):
        stop.turn()
        if Path(os.environ["LOOP_HANGS"]).exists():
            _hang()


def warm_up():
    """Takes a while, and then fails."""
    time.sleep(0.3)
    Path(os.environ["WARM_NOTE"]).touch()
    _fail()


def _fail(*_):
    raise RuntimeError("a fault of the test")


def _hang(*_):
    Path(os.environ["HANGS_NOTE"]).touch()
    time.sleep(60)
