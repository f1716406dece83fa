"""`python -m simulator`: serve the simulated messaging providers, with a page for customers."""

import argparse
import os
import signal
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulator import defaults
from simulator.saving import Saved
from simulator.server import Server
from simulator.state import Simulator

SAVE_SECS = 5


def add_arguments(parser: ArgumentParser) -> None:
    names = ", ".join(vars(defaults.Bases()))
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9200)
    parser.add_argument(
        "--callback-base", default="http://127.0.0.1:8000", help="the platform's address"
    )
    parser.add_argument("--seed", type=int, default=1, help="of ids and of disorder")
    parser.add_argument("--now", type=float, help="a Unix time, at which the clock stands still")
    parser.add_argument("--retry-scale", type=float, default=1, help="divides the waits of retries")
    parser.add_argument(
        "--base", action="append", default=[], metavar="NAME=PATH",
        help=f"where a provider's host is served: {names}",
    )  # fmt: skip
    parser.add_argument(
        "--state", help="a file that keeps tokens, subscriptions and threads for the next start"
    )
    parser.add_argument(
        "--environment", action="store_true", help="print the platform's variables and end"
    )


def run(options: dict[str, Any], write: Callable[[str], object]) -> None:
    """Serve until a signal to stop; or print the environment."""
    bases = defaults.Bases(**dict(each.split("=", 1) for each in options["base"]))
    settings = defaults.settings_from(
        os.environ,
        defaults.Settings(
            options["callback_base"].rstrip("/"), options["seed"], options["now"], bases
        ),
    )
    if options["environment"]:
        origin = f"http://{options['host']}:{options['port']}"
        for name, value in defaults.fill_unset({}, origin, settings).items():
            write(f"{name}={value}\n")
        return
    sim = Simulator(settings)
    sim.set_modes({"retry_scale": options["retry_scale"]})
    saved = Saved(sim, Path(options["state"])) if options["state"] else None
    if saved:
        saved.load()
    server = Server(sim, options["host"], options["port"])
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    sim.start()
    server.start()
    write(f"channel simulator on {sim.origin}/\n")
    while not stop.wait(SAVE_SECS):
        if saved:
            saved.save()
    server.stop()
    sim.stop()
    if saved:
        saved.save()


def main() -> None:
    parser = argparse.ArgumentParser(description="The messaging providers, simulated.")
    add_arguments(parser)
    run(vars(parser.parse_args()), lambda line: (sys.stdout.write(line), sys.stdout.flush()))


if __name__ == "__main__":
    main()
