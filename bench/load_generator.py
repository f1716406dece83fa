"""Start servers, send them requests, and measure the processor time that they use."""

import asyncio
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CORES = sorted(os.sched_getaffinity(0))
TICK = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def database(**more: str) -> Iterator[None]:
    """The platform in this process, with the tables of a new database and a folder of its own."""
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        settings = {"SECRET_KEY": "bench" * 12, "RATE_LIMIT_SCALE": "1000"} | more
        os.environ.update(settings, DJANGO_SETTINGS_MODULE="chatplatform.settings", DATA_DIR=folder)
        import django  # noqa: PLC0415 - the environment must be complete first

        django.setup()
        from django.core.management import call_command  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        yield


def execute(*statements: str) -> None:
    """Execute statements, however long they take."""
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        for statement in statements:
            cursor.execute(statement)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(app: str, folder: Path, interface: str = "asgi") -> Iterator[tuple[int, int]]:
    """Run one granian worker on the first core; yields its port and the leader's process id."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", interface, "--no-ws", "--workers", "1",
        "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning", app,
    ]  # fmt: skip
    if interface == "wsgi":
        command += ["--blocking-threads", "16"]
    process = subprocess.Popen(command, cwd=folder)
    pin(process.pid, CORES[0])
    try:
        wait_for(port, process)
        yield port, process.pid
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(300):
        with suppress(OSError), opener.open(f"http://127.0.0.1:{port}/health/live", timeout=2):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit("a server under test did not start")


def pin(pid: int, core: int) -> None:
    with suppress(OSError):  # another account's process stays where it is
        os.sched_setaffinity(pid, {core})


def stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def family(leader: int) -> list[int]:
    """A process and all its descendants."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(path.name)] = int(stat(int(path.name))[1])
    pids = [leader]
    for pid in pids:
        pids += [child for child, parent in parents.items() if parent == pid]
    return pids


def cpu_seconds(leader: int) -> float:
    """The processor time of a process and its descendants, including ended ones."""
    ticks = 0
    for pid in family(leader):
        with suppress(OSError):
            ticks += sum(int(value) for value in stat(pid)[11:15])
    return ticks / TICK


@dataclass
class Result:
    """One measurement, or the median of several."""

    per_second: float
    p50_ms: float
    app_us: float
    pg_us: float
    failed: int = 0


class Connection(asyncio.Protocol):
    """A keep-alive connection that sends the next request when an answer is complete."""

    def __init__(self, next_request: Callable[[], bytes], load: "Load") -> None:
        self.next_request, self.load = next_request, load
        self.received = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.received = b""
        self.started_at = time.perf_counter()
        self.transport.write(self.next_request())

    def data_received(self, data: bytes) -> None:
        self.received += data
        if not is_whole(self.received):
            return
        now = time.perf_counter()
        self.load.durations.append(now - self.started_at)
        self.load.failed += self.received[9:10] != b"2"
        if now < self.load.ends_at:
            self.send()
        else:
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.load.failed += error is not None
        self.load.open -= 1
        if not self.load.open:
            self.load.over.set()


def is_whole(answer: bytes) -> bool:
    head, separator, body = answer.partition(b"\r\n\r\n")
    if not separator:
        return False
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n")


@dataclass
class Load:
    """One run against one server."""

    connections: int
    seconds: float
    durations: list[float] = field(default_factory=list)
    failed: int = 0

    async def run(self, port: int, requests: list[bytes]) -> None:
        self.over, self.open = asyncio.Event(), self.connections
        self.ends_at = time.perf_counter() + self.seconds
        pick = random.Random(7)
        loop = asyncio.get_running_loop()
        for _ in range(self.connections):
            await loop.create_connection(
                lambda: Connection(lambda: pick.choice(requests), self), "127.0.0.1", port
            )
        await asyncio.wait_for(self.over.wait(), self.seconds + 30)


def measure_http(
    port: int, leader: int, postgres: int, requests: list[bytes], connections: int, seconds: float
) -> Result:
    load = Load(connections, seconds)
    app, pg, started_at = cpu_seconds(leader), cpu_seconds(postgres), time.perf_counter()
    asyncio.run(load.run(port, requests))
    spent = time.perf_counter() - started_at
    app, pg, n = cpu_seconds(leader) - app, cpu_seconds(postgres) - pg, len(load.durations)
    p50 = statistics.median(load.durations) * 1e3
    return Result(n / spent, p50, app / n * 1e6, pg / n * 1e6, load.failed)


def http_request(method: str, path: str, key: str, body: str = "") -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAPI-KEY: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
