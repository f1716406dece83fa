"""The heartbeat that each background process writes to the broker, for Check Health."""

import logging
import threading
import time
from pathlib import Path

from django.conf import settings

from chatplatform import valkey

log = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
EXPIRES_SECONDS = 20


class Heartbeat:
    """The key `alive:<name>`, which expires if it is not written again; and a file's time, if
    `HEARTBEAT_FILE` names one: a container's health check reads it without starting anything."""

    def __init__(self, name: str) -> None:
        self._key = f"alive:{name}"
        self._broker = valkey.connect()

    def write(self) -> None:
        try:
            self._broker.set(self._key, time.time(), ex=EXPIRES_SECONDS)
        except valkey.ERRORS as exc:
            log.warning("no heartbeat could be written: %s", exc)
        if settings.HEARTBEAT_FILE:
            Path(settings.HEARTBEAT_FILE).touch()


def start(name: str) -> None:
    """Write a heartbeat every few seconds, from a thread, as long as this process lives.

    For processes without a consumer; a worker's is written in `worker.py`.
    """
    threading.Thread(target=_write_for_ever, args=(name,), daemon=True, name="heartbeat").start()


def _write_for_ever(name: str) -> None:
    heartbeat = Heartbeat(name)
    while True:
        heartbeat.write()
        time.sleep(EVERY_SECONDS)
