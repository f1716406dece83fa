"""Measure how fast events reach endpoints.

    python -m local.datastores exec -- python bench/deliveries.py

The worker is started as `make run` does it; the receivers are in this process. Prints a table for
docs/benchmarks.md.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from load_generator import ROOT, TICK, database

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
BACKLOG, PACED, PER_SECOND = 3_000, 500, 50


class Receiver(asyncio.Protocol):
    """A connection of the worker; records the arrival of each event."""

    def __init__(self, receivers: "Receivers") -> None:
        self.receivers, self.buffer = receivers, b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, body = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        headers = dict(
            line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line
        )
        if len(body) < int(headers[b"content-length"]):
            return
        self.buffer = b""
        self.receivers.arrivals.append((headers[b"webhook-id"].decode(), time.time()))
        if self.receivers.seconds:
            loop = asyncio.get_running_loop()
            loop.call_later(self.receivers.seconds, self.transport.write, ANSWER)
        else:
            self.transport.write(ANSWER)


class Receivers:
    """`count` receivers in one event loop, each on its own port."""

    def __init__(self, count: int) -> None:
        self.arrivals: list[tuple[str, float]] = []
        self.seconds = 0.0
        self.ports: list[int] = []
        ready = threading.Event()

        async def serve() -> None:
            loop = asyncio.get_running_loop()
            for _ in range(count):
                server = await loop.create_server(lambda: Receiver(self), "127.0.0.1", 0)
                self.ports.append(server.sockets[0].getsockname()[1])
            ready.set()
            await asyncio.Event().wait()

        threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
        ready.wait()

    def wait_for(self, count: int, seconds: float = 120) -> None:
        ends_at = time.monotonic() + seconds
        while len(self.arrivals) < count:
            assert time.monotonic() < ends_at, f"{len(self.arrivals)} of {count} arrived"
            time.sleep(0.002)


@contextmanager
def delivering_worker(allow: str) -> Iterator[int]:
    options = [
        "-n", "worker-webhook@%h", "--pool", "threads", "--concurrency", "4", "-Q", "webhook",
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "--quiet", "-A", "chatplatform", "worker", *options],
        cwd=ROOT,
        env={**os.environ, "EGRESS_ALLOW": allow},
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def client_with(ports: list[int]) -> Any:
    from chatplatform import signatures  # noqa: PLC0415
    from identity.testing import make_client  # noqa: PLC0415
    from webhooks.models import WebhookConfig  # noqa: PLC0415

    client = make_client("Bench")
    for port in ports:
        WebhookConfig.objects.create(
            client=client, url=f"http://127.0.0.1:{port}/hook", secret=signatures.new_secret()
        )
    return client


DATA = {"message": {"text": "How long do I have to return an order that was damaged?" * 4}}


def announce_cost() -> list[str]:
    from webhooks.services import announce  # noqa: PLC0415

    rows = []
    for endpoints in (0, 1, 3):
        client = client_with([9] * endpoints)
        durations = []
        for _ in range(600):
            started_at = time.perf_counter()
            announce(client.pk, "message.created", DATA)
            durations.append(time.perf_counter() - started_at)
        median = statistics.median(durations[100:]) * 1e6
        rows.append(f"| `announce()`, {endpoints} endpoints, with its commit | {median:.0f} µs |")
    return rows


def deliver_backlog(
    receivers: Receivers, pid: int, endpoints: int, seconds: float
) -> tuple[float, float]:
    """Deliveries per second, and the worker's processor time for each in µs."""
    from django.db import transaction  # noqa: PLC0415

    from webhooks.services import announce  # noqa: PLC0415

    receivers.seconds = seconds
    client = client_with(receivers.ports[:endpoints])
    receivers.arrivals.clear()
    with transaction.atomic():
        for _ in range(BACKLOG // endpoints):
            announce(client.pk, "message.created", DATA)
    started_at, cpu = time.perf_counter(), cpu_seconds(pid)
    count = BACKLOG // endpoints * endpoints
    receivers.wait_for(count)
    spent = time.perf_counter() - started_at
    return count / spent, (cpu_seconds(pid) - cpu) / count * 1e6


def deliver_at_a_steady_rate(receivers: Receivers) -> tuple[float, float]:
    """Milliseconds from just before announce() to the receiver, for one endpoint: p50, p99."""
    from webhooks.services import announce  # noqa: PLC0415

    receivers.seconds = 0
    client = client_with(receivers.ports[:1])
    receivers.arrivals.clear()
    announced_at: dict[str, float] = {}
    next_at = time.monotonic()
    for _ in range(PACED):
        now = time.time()
        event = announce(client.pk, "message.created", DATA)
        announced_at[f"evt_{event.pk.hex}"] = now
        next_at += 1 / PER_SECOND
        time.sleep(max(next_at - time.monotonic(), 0))
    receivers.wait_for(PACED)
    durations = sorted(
        (arrived_at - announced_at[event_id]) * 1e3 for event_id, arrived_at in receivers.arrivals
    )
    return statistics.median(durations), durations[int(len(durations) * 0.99)]


def main() -> None:
    with database():
        load = os.getloadavg()[0]
        rows = announce_cost()
        from webhooks.models import Delivery, WebhookConfig  # noqa: PLC0415

        Delivery.objects.all().delete()
        WebhookConfig.objects.update(is_active=False)
        receivers = Receivers(32)
        with delivering_worker(",".join(f"127.0.0.1:{port}" for port in receivers.ports)) as pid:
            deliver_at_a_steady_rate(receivers)  # warm-up
            p50, p99 = deliver_at_a_steady_rate(receivers)
            rows.append(
                f"| announced to received, {PER_SECOND}/s, p50 / p99 | {p50:.1f} / {p99:.1f} ms |"
            )
            for endpoints in (1, 8, 32):
                rate, cpu = deliver_backlog(receivers, pid, endpoints, 0)
                rows.append(
                    f"| backlog of {BACKLOG}, {endpoints} endpoints | {rate:.0f}/s, {cpu:.0f} µs |"
                )
            rate, cpu = deliver_backlog(receivers, pid, 16, 0.05)
            share = rate / (32 / 0.05) * 100
            rows.append(
                f"| 16 endpoints that take 50 ms | {rate:.0f}/s ({share:.0f} % of 32 ÷ 50 ms) |"
            )
    print(f"load average at the start: {load:.1f}\n\n| what | measured |\n| --- | ---: |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
