"""`manage.py channel_simulator`: the messaging providers, simulated, on one port."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from channels_app.simulator import demo
from channels_app.simulator.server import Server
from channels_app.simulator.state import Simulator


class Command(BaseCommand):
    help = "Serve simulated messaging providers, with a page to write as a customer."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=9200)
        parser.add_argument("--callback-base", default="http://127.0.0.1:8000")
        parser.add_argument("--seed", type=int, default=1, help="of ids and of disorder")
        parser.add_argument("--now", type=float, help="a Unix time: the clock stands still")
        parser.add_argument("--retry-scale", type=float, default=1, help="divides waits of retries")
        parser.add_argument(
            "--base", action="append", default=[], metavar="NAME=PATH",
            help=f"where a host is served; names: {', '.join(vars(demo.Bases()))}",
        )  # fmt: skip
        parser.add_argument(
            "--environment", action="store_true",
            help="print the variables for the platform, and end",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        bases = demo.Bases(**dict(each.split("=", 1) for each in options["base"]))
        if options["environment"]:
            origin = f"http://{options['host']}:{options['port']}"
            for name, value in demo.fill_unset({}, origin, bases).items():
                self.stdout.write(f"{name}={value}")
            return
        settings = demo.Settings(
            options["callback_base"].rstrip("/"), options["seed"], options["now"], bases
        )
        sim = Simulator(settings)
        sim.set_modes({"retry_scale": options["retry_scale"]})
        server = Server(sim, options["host"], options["port"])
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        sim.start()
        server.start()
        self.stdout.write(f"channel simulator on {sim.origin}/")
        stop.wait()
        server.stop()
        sim.stop()
