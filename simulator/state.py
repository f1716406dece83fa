"""The simulator's state: the providers' data, the callbacks, the log of calls, and settings."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simulator import defaults, demo_server, sample_files
from simulator.callback_queue import Deliveries, Modes
from simulator.calls import Call
from simulator.calls_to_platform import Sockets, Wire
from simulator.faults import Fault
from simulator.world import Account, Json, Stored, World


@dataclass
class Behaviour:
    """When events follow a send, in seconds after it; None for never."""

    echo: float | None = 0.1
    sent: float | None = 0.1
    delivered: float | None = 0.3
    read: float | None = 1.0
    # For chatapp: refuse a send with a 200 and a later `failed` status, instead of at once.
    fails_later: bool = False


class Simulator:
    def __init__(self, settings: defaults.Settings, wire: Wire | None = None) -> None:
        self.settings, self.wire = settings, wire or Sockets()
        self.origin = ""
        self.world = World(settings)
        self.deliveries = Deliveries(self.world, self.wire)
        self.calls: list[Call] = []
        self.orders = demo_server.orders()
        self.faults: list[Fault] = []
        self.behaviour = Behaviour()
        self.numbers = itertools.count(1)

    def start(self) -> None:
        """Start the threads that send callbacks."""
        self.deliveries.start()

    def stop(self) -> None:
        self.deliveries.stop()
        self.deliveries.join()
        self.wire.close()

    def media_url(self, stored_id: str, name: str) -> str:
        return f"{self.origin}{self.settings.bases.media}/{stored_id}/{name}"

    def file(self, file_id: str) -> Stored | None:
        """A stored file; samples such as `sample-image` always exist."""
        name, _, kind = file_id.partition("-")
        if name == "sample" and file_id not in self.world.files:
            data, mime = sample_files.sample(kind)
            self.world.files[file_id] = Stored(file_id, mime, data)
        return self.world.files.get(file_id)

    def emit(
        self, account: Account, field: str, item: Json, delay: float | None = 0, *, app_id: str = ""
    ) -> int:
        """Queue an event, unless the delay is None; return the number of apps that get it."""
        if delay is None:
            return 0
        return self.deliveries.add(account, field, item, delay=delay, app_id=app_id)

    def calls_where(self, wanted: Callable[[Call], bool], latest: int = 0) -> list[Json]:
        """The calls that `wanted` accepts; only the last `latest` of them unless `latest` is 0."""
        with self.world.lock:
            return [call.as_json() for call in [*filter(wanted, self.calls)][-latest:]]

    def set_modes(self, values: dict[str, Any]) -> None:
        self.deliveries.modes = Modes(**(vars(self.deliveries.modes) | values))
