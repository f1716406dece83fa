"""`manage.py courier`: delivers events to clients' endpoints; runs until stopped."""

import logging
import signal
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand
from django.db import Error, connection

from chatplatform import heartbeat
from webhooks.services import events
from webhooks.services.courier import Courier

log = logging.getLogger(__name__)
# Between looks: while there is work, and after a second without any.
BUSY_SECONDS, IDLE_SECONDS = 0.003, 0.02
DRAIN_SECONDS = 3.0


class Command(BaseCommand):
    help = "Deliver events to webhook endpoints; runs until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        heartbeat.start("courier")
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        courier, busy_at, has_started = Courier(), 0.0, False
        while not stop.is_set():
            try:
                if not has_started:
                    events.follow_restored_database()
                    has_started = True
                if courier.turn():
                    busy_at = time.monotonic()
            except Error as exc:
                # What was in hand is due again when its lease ends.
                log.warning("database away, trying again: %s", exc)
                connection.close()
                time.sleep(1)
            is_idle = time.monotonic() - busy_at > 1
            courier.something_ended.wait(IDLE_SECONDS if is_idle else BUSY_SECONDS)
        courier.drain(DRAIN_SECONDS)
