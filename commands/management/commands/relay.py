"""`manage.py relay`: dispatches due jobs to the workers until it is stopped."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from chatplatform import encryption_key_check
from chatplatform.celery import app
from chatplatform.jobs.relay import Relay
from chatplatform.jobs.stop_event import Stop
from chatplatform.observing import exporter


class Command(BaseCommand):
    help = "Dispatch due jobs to the workers; runs until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        encryption_key_check.require()
        app.loader.import_default_modules()
        stop = Stop()

        def end(*_: object) -> None:
            # In another thread: the main thread may hold the event's lock when the signal comes.
            threading.Thread(target=stop.set).start()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        exporter.start(readers=True)
        Relay().run(stop)
