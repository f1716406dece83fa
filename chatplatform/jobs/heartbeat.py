"""A sign of life that each background process leaves in the broker, for Check Health."""

import logging
import threading
import time

from chatplatform import valkey

log = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
KEPT_SECONDS = 20


class Sign:
    """`alive:<name>`, which the broker forgets where it is not left again."""

    def __init__(self, name: str) -> None:
        self._key = f"alive:{name}"
        self._broker = valkey.connect()

    def leave(self) -> None:
        try:
            self._broker.set(self._key, time.time(), ex=KEPT_SECONDS)
        except valkey.ERRORS as exc:
            log.warning("no sign of life could be left: %s", exc)


def start(name: str) -> None:
    """Leave a sign every few seconds, from a thread, as long as this process lives.

    For processes without a consumer; a worker's stands in `consumer.py`.
    """
    threading.Thread(target=_beat, args=(name,), daemon=True, name="heartbeat").start()


def _beat(name: str) -> None:
    sign = Sign(name)
    while True:
        sign.leave()
        time.sleep(EVERY_SECONDS)
