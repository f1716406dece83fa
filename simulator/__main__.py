"""`python -m simulator`: serve the simulated providers, and a page to act as customers."""

import argparse
import os
import signal
import sys
import threading

from simulator import defaults
from simulator.server import Server
from simulator.state import Simulator


def main() -> None:
    """Serve until SIGTERM or SIGINT; with `--environment`, only print environment variables."""
    parser = argparse.ArgumentParser(description="The messaging providers, simulated.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9200)
    parser.add_argument(
        "--callback-base", default="http://127.0.0.1:8000", help="the platform's address"
    )
    parser.add_argument("--seed", type=int, help="of ids and of disorder, to have the same again")
    parser.add_argument("--now", type=float, help="a Unix time, at which the clock stands still")
    parser.add_argument("--retry-scale", type=float, default=1, help="divides the waits of retries")
    parser.add_argument(
        "--environment", action="store_true", help="print the platform's variables and end"
    )
    options = parser.parse_args()
    given = defaults.Settings(options.callback_base.rstrip("/"), options.seed, options.now)
    settings = defaults.settings_from(os.environ, given)
    if options.environment:
        origin = f"http://{options.host}:{options.port}"
        for name, value in defaults.fill_unset({}, origin, settings).items():
            sys.stdout.write(f"{name}={value}\n")
        return
    sim = Simulator(settings)
    sim.set_modes({"retry_scale": options.retry_scale})
    server = Server(sim, options.host, options.port)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    sim.start()
    server.start()
    sys.stdout.write(f"channel simulator on {sim.origin}/\n")
    sys.stdout.flush()
    stop.wait()
    server.stop()
    sim.stop()


if __name__ == "__main__":
    main()
