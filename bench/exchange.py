"""Measure what a whole exchange costs: a customer's message, the bot's stored reply, its job and
events, in all processes.

    python -m local.datastores exec -- python bench/exchange.py

The platform runs as with `make run`, with the demo client, in a folder of its own. One customer
after another asks and waits for the reply: questions that are new to the encoder, a question that
it has encoded before, and the same with a scripted model that answers at once. Encoding alone is
measured in this process, and the same exchange with the twin (`bench/exchange_twin.py`) on the same
database. EXCHANGES (200) sets the number of exchanges for each figure.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
from idle_and_burst import QUESTION, cpu_of
from load_generator import family, free_port, wait_for

from bots.language import embedding
from chatplatform.testing import stub_model
from drills.platform import DemoShop, command_of, environ_of

COUNT = int(os.environ.get("EXCHANGES", "200"))
EXCHANGES_PER_CHAT, WARM_UP = 10, 30
# The columns of the table, and what the command line of their processes has.
PARTS = {
    "web": ("chatplatform.web.serve", "spawn_main", "exchange_twin:app"),
    "workers, beat": ("celery", "exchange_twin.py"),
    "relay": ("manage.py relay",),
    "PostgreSQL": ("postgres",),
    "Valkey": ("valkey-server",),
    "other": ("",),
}


class Twin:
    """The twin on a running platform's database, with its bot, key and conversations."""

    def __init__(self, platform: DemoShop) -> None:
        self.platform, port = platform, free_port()
        (web, *_) = platform.processes("chatplatform.web.serve")
        folder, environ = Path(__file__).parent, os.environ | environ_of(web)
        environ["SECRET_KEY"] = platform.secret("secret_key")
        command = [sys.executable, "-m", "granian", "--interface", "asgi", "--no-ws", "--port"]
        command += [str(port), "--log-level", "warning", "exchange_twin:app"]
        self.web = subprocess.Popen(command, cwd=folder, env=environ)
        ((bot,),) = platform.sql("SELECT id FROM bots_bot ORDER BY id LIMIT 1")
        self.worker = subprocess.Popen(
            [sys.executable, "exchange_twin.py", str(bot)],
            cwd=folder, env=environ, stdout=subprocess.PIPE,
        )  # fmt: skip
        wait_for(port, self.web)
        assert self.worker.stdout
        assert self.worker.stdout.readline() == b"listening\n"
        self.client = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}", headers=platform.key, timeout=30
        )

    def family(self) -> list[int]:
        """The twin's processes, and the database's."""
        database = [pid for pid in self.platform.family() if part_of(pid) == "PostgreSQL"]
        return [*family(self.web.pid), *family(self.worker.pid), *database]

    def open_chat(self) -> str:
        return self.platform.open_chat()

    def ask(self, chat: str, **message: Any) -> dict[str, Any]:
        return dict(self.client.post(f"/exchange/{chat}", json=message).json())

    def stop(self) -> None:
        self.client.close()
        for process in (self.web, self.worker):
            process.terminate()
            process.wait(10)


def new_question(number: int) -> str:
    """A question that no encoder has seen."""
    return f"How many days do I have to return an unused item of order {number}?"


def encoding() -> float:
    """The processor time of encoding a question, in milliseconds."""
    embedding.embed_query(new_question(0))
    began = time.process_time()
    for number in range(COUNT):
        embedding.embed_query(new_question(10_000 + number))
    return (time.process_time() - began) / COUNT * 1e3


def part_of(pid: int) -> str:
    """The column of a process."""
    command = ""
    with suppress(OSError):
        command = " ".join(command_of(pid))
    return next(part for part, words in PARTS.items() if any(word in command for word in words))


def ask(platform: DemoShop | Twin, question: Callable[[int], str], count: int) -> list[float]:
    """The seconds of each exchange."""
    took = []
    for number in range(count):
        if number % EXCHANGES_PER_CHAT == 0:
            chat = platform.open_chat()
        began = time.perf_counter()
        turn = platform.ask(chat, text=question(number), reply="wait")
        took.append(time.perf_counter() - began)
        assert turn["status"] == "answered", turn
    return took


def measure(platform: DemoShop | Twin, question: Callable[[int], str]) -> tuple[float, float]:
    """Print a line; return the processor time of an exchange, and its p50, in milliseconds."""
    ask(platform, question, WARM_UP)
    before = cpu_of(platform)
    took = sorted(ask(platform, lambda number: question(WARM_UP + number), COUNT))
    after = cpu_of(platform)
    parts: dict[str, float] = defaultdict(float)
    for pid, spent in after.items():
        parts[part_of(pid)] += (spent - before.get(pid, spent)) / COUNT * 1e3
    whole, p50 = sum(parts.values()), statistics.median(took) * 1e3
    p95 = took[len(took) * 95 // 100] * 1e3
    each = " | ".join(f"{parts[part]:.1f}" for part in PARTS)
    print(f"{whole:.1f} | {each} | {p50:.1f} | {p95:.1f} |", flush=True)
    return whole, p50


def main() -> None:
    encode = encoding()
    print(f"encoding a question alone: {encode:.1f} ms")
    columns = ("an exchange, ms of processor time", "all", *PARTS, "p50, ms", "p95, ms")
    print(f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's servers run as another account
        with DemoShop(folder) as platform:
            print("| a new question, quoted | ", end="")
            whole, p50 = measure(platform, new_question)
            print("| a known question, quoted | ", end="")
            measure(platform, lambda _: QUESTION)
            twin = Twin(platform)
            print("| a new question, the twin | ", end="")
            by_twin, _ = measure(twin, lambda number: new_question(COUNT + WARM_UP + number))
            twin.stop()
        with stub_model.running() as model, DemoShop(folder, model) as platform:
            print("| a known question, with a scripted model | ", end="")
            by_model, _ = measure(platform, lambda _: QUESTION)
    print(f"a new question to encoding alone: {whole / encode:.2f} (goal: at most 1.8)")
    print(f"a new question to the twin's: {whole / by_twin:.2f} (goal: at most 2)")
    print(f"with a scripted model: {by_model:.1f} ms (goal: at most 20)")
    print(f"p50 above encoding: {p50 - encode:.1f} ms (goal: at most 20)")
    print(f"load {Path('/proc/loadavg').read_text().split()[:3]}")


if __name__ == "__main__":
    main()
