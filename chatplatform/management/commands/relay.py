"""`manage.py relay`: dispatches due jobs to the workers until it is stopped."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from chatplatform.celery import app
from chatplatform.jobs import heartbeat
from chatplatform.jobs.relay import Relay
from chatplatform.observing import exporter


class Command(BaseCommand):
    help = "Dispatch due jobs to the workers; runs until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        app.loader.import_default_modules()
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        heartbeat.start("relay")
        exporter.start(readers=True)
        Relay().run(stop)
