"""Helpers for tests of channels: the simulated providers, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client as HttpClient

from simulator import defaults
from simulator.calls_to_platform import Sockets, Wire
from simulator.client import Client
from simulator.server import Server
from simulator.state import Simulator


class InProcess:
    """Delivers callbacks directly to the views in this process, without a socket."""

    def call(
        self, method: str, url: str, headers: dict[str, str], body: bytes, *, timeout: float
    ) -> tuple[int, bytes]:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        kind = headers.get("Content-Type", "application/octet-stream")
        others = {name: value for name, value in headers.items() if name != "Content-Type"}
        reply = HttpClient().generic(method, path, body, kind, headers=others)
        if reply.status_code >= 500 and reply.streaming:
            raise HTTPException("the view broke off")
        return reply.status_code, bytes(reply.content)

    def close(self) -> None:
        """Do nothing: no connection is open."""


class RunningSimulator(Client):
    """A control client for a simulator in this process, with helpers for tests."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(simulator.origin)
        self.simulator = simulator

    @property
    def environment(self) -> dict[str, str]:
        return defaults.environment(self.origin, self.simulator.settings)

    def deliver(self, within: float = 60) -> int:
        """Send all callbacks that are due within this many seconds, advancing the clock.

        The calling thread sends them. Returns the number of attempts.
        """
        return self.simulator.deliveries.run(within)


@contextmanager
def simulator(
    *,
    callback_base: str = "http://platform.test",
    wire: Wire | None = None,
    by_threads: bool = False,
    now: float | None = None,
    seed: int = 1,
) -> Iterator[RunningSimulator]:
    """Run the simulated providers on a free loopback port.

    Callbacks wait for `deliver()`, which calls the views in this process. With `by_threads`,
    threads send callbacks over HTTP to `callback_base` when they are due.
    """
    sim = Simulator(
        defaults.Settings(callback_base, seed, now),
        wire or (Sockets() if by_threads else InProcess()),
    )
    server = Server(sim)
    server.start(stops_within=0.005)
    if by_threads:
        sim.start()
    try:
        yield RunningSimulator(sim)
    finally:
        server.stop()
        sim.stop()


@pytest.fixture
def sim(settings: Any) -> Iterator[RunningSimulator]:
    """The simulated providers, to which the platform's settings point."""
    with simulator() as running:
        for name, value in running.environment.items():
            is_list = name.endswith("_MEDIA_HOSTS")
            setattr(settings, name, [value] if is_list else value)
        settings.EGRESS_ALLOW = [*settings.EGRESS_ALLOW, running.host_port]
        yield running
