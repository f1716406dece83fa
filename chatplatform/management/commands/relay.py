"""`manage.py relay`: hands due jobs to Celery, and takes back those whose worker is gone."""

import logging
import signal
import time
from typing import Any

from celery import Celery
from django.core.management.base import BaseCommand
from django.db import Error, connection
from kombu.exceptions import OperationalError

from chatplatform import jobs, valkey
from chatplatform.celery import app
from chatplatform.jobs import heartbeat

log = logging.getLogger(__name__)
POLL_SECONDS = 0.02  # between looks while nothing is due
SWEEP_SECONDS = 1.0


class Command(BaseCommand):
    help = "Hand due jobs to the workers; runs until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        app.loader.import_default_modules()
        heartbeat.start("relay")
        stop = _Stop()
        relay = Relay(app)
        while not stop.asked:
            try:
                busy = relay.turn()
            except Error as exc:
                log.warning("database away, trying again: %s", exc)
                connection.close()
                busy = False
                time.sleep(1)
            if not busy:
                time.sleep(POLL_SECONDS)


class _Stop:
    """Turns SIGTERM and Ctrl-C into a flag, so that a batch in hand is finished."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True


class Relay:
    """One relay; any number may run, each row is hinted by one of them."""

    def __init__(self, celery: Celery) -> None:
        self.celery = celery
        self.swept_at = 0.0
        self.broker = valkey.connect(timeout_seconds=2)
        self.broker_run_id = ""

    def turn(self) -> bool:
        """One look; True where there was something to do."""
        if time.monotonic() - self.swept_at > SWEEP_SECONDS:
            jobs.sweep()
            self._notice_new_broker()
            self.swept_at = time.monotonic()
        due = jobs.take_due()
        for job_id, name in due:
            self._dispatch(job_id, name)
        return bool(due)

    def _dispatch(self, job_id: int, name: str) -> None:
        declared = jobs.declared_jobs().get(name)
        if declared is None:
            log.error("job %s has a name that no code serves: %s", job_id, name)
            return
        try:
            declared.task.apply_async(
                kwargs={"job_id": job_id}, queue=str(declared.queue), retry=False
            )
        except (OperationalError, *valkey.ERRORS) as exc:
            # The row stays due; it is hinted again when the broker is back.
            log.warning("broker away, job %s waits: %s", job_id, exc)
            time.sleep(0.5)

    def _notice_new_broker(self) -> None:
        """A restarted broker may have lost every hint: then all that waits is hinted anew."""
        try:
            run_id = str(self.broker.info("server")["run_id"])
        except valkey.ERRORS as exc:
            log.warning("broker does not answer: %s", exc)
            return
        if self.broker_run_id and run_id != self.broker_run_id:
            log.warning("the broker was restarted: %s jobs hinted again", jobs.forget_dispatches())
        self.broker_run_id = run_id
