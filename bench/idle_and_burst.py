"""Measure what the whole platform costs at its start, while idle, and in a burst.

    python -m local.datastores exec -- python bench/idle_and_burst.py

It runs as with `make run`, with the demo client and the extractive engine, in a folder of its own.
In the burst 50 customers send ten messages each within a second, without waiting for answers, each
on its own connection. Then the same is measured with 10,000 further clients.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
django.setup()

from load_generator import TICK, stat  # noqa: E402

from drills.platform import ROOT, DemoShop, Platform, command_of, wait_until  # noqa: E402

IDLE_SECONDS, SETTLE_SECONDS = 60, 60
CUSTOMERS, MESSAGES, SPAN_SECONDS = 50, 10, 0.9
CLIENTS = 10_000
# Each client has an account and a bot, so jobs for all clients have work to do.
ADD_CLIENTS = f"""
from bots.models import Bot
from identity.models import Client, ClientConfig, Subscription
from django.utils import timezone
rows = [Client(name=f"Client {{n}}", code=f"bench-{{n}}") for n in range({CLIENTS})]
clients = Client.objects.bulk_create(rows, batch_size=1000)
ClientConfig.objects.bulk_create((ClientConfig(client=c) for c in clients), batch_size=1000)
now = timezone.now()
Subscription.objects.bulk_create(
    (Subscription(client=c, credits_included=100, credits_left=100, period_start=now)
    for c in clients), batch_size=1000)
Bot.objects.bulk_create((Bot(client=c, bot_name="Helper") for c in clients), batch_size=1000)
"""
QUESTION = "How many days do I have to return an unused item?"


def cpu_of(platform: Platform) -> dict[int, float]:
    """The seconds of processor time that each process has used."""
    spent = {}
    for pid in platform.family():
        with suppress(OSError):
            spent[pid] = sum(int(value) for value in stat(pid)[11:13]) / TICK
    return spent


def name_of(pid: int) -> str:
    """A process's name for a line of the table."""
    with suppress(OSError):
        words = command_of(pid) or ["?"]
        named = {Path(word).name for word in words}
        for name in ("postgres", "valkey-server"):
            if any(word.startswith(name) for word in named):
                return name
        module = words[words.index("-m") + 1] if "-m" in words else Path(words[0]).name
        return " ".join([module, *words[words.index("-m") + 2 :][:3]]) if "-m" in words else module
    return "?"


def memory(platform: Platform) -> float:
    """The memory of all processes in megabytes; shared memory counts once."""
    kilobytes = 0
    for pid in platform.family():
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes / 1024


def idle(platform: Platform) -> None:
    """Print the cost of each process while idle."""
    time.sleep(SETTLE_SECONDS)
    before = cpu_of(platform)
    time.sleep(IDLE_SECONDS)
    after = cpu_of(platform)
    parts: dict[str, float] = {}
    for pid, spent in after.items():
        share = (spent - before.get(pid, spent)) / IDLE_SECONDS * 100
        parts[name_of(pid)] = parts.get(name_of(pid), 0.0) + share
    print(f"| idle: processor time of a core | {sum(parts.values()):.2f} % |")
    for name, share in sorted(parts.items(), key=lambda item: -item[1]):
        if share:
            print(f"| - {name} | {share:.2f} % |")
    print(f"| idle: memory, {len(after)} processes | {memory(platform):.0f} MB |")


async def send_burst(platform: DemoShop, chats: Sequence[str], reply: str) -> tuple[float, Any]:
    """The seconds until all messages are stored, and the durations of the requests."""
    began = time.perf_counter()

    async def send(chat: str, number: int) -> float:
        await asyncio.sleep(number * SPAN_SECONDS / (MESSAGES - 1))
        sent_at = time.perf_counter()
        await platform.ask_alone(chat, text=QUESTION, client_message_id=f"b-{number}", reply=reply)
        return time.perf_counter() - sent_at

    took = await asyncio.gather(*(send(chat, n) for chat in chats for n in range(MESSAGES)))
    return time.perf_counter() - began, sorted(took)


def burst(platform: DemoShop, reply: str) -> None:
    """Print how long a burst takes; for `async`, also until each chat has its last reply."""
    chats = [platform.open_chat() for _ in range(CUSTOMERS)]
    seconds, took = asyncio.run(send_burst(platform, chats, reply))
    p95 = took[len(took) * 95 // 100]
    print(
        f"| burst, `{reply}`: all {len(took)} stored after | {seconds:.2f} s;"
        f" a request p50 {statistics.median(took) * 1e3:.0f} ms, p95 {p95 * 1e3:.0f} ms |"
    )
    if reply == "async":
        began = time.perf_counter() - seconds
        wait_until(lambda: all(is_answered(platform, chat) for chat in chats), what="all replies")
        print(f"| - the last message answered after | {time.perf_counter() - began:.1f} s |")


def is_answered(platform: DemoShop, chat: str) -> bool:
    """Whether the bot or the platform has answered the customer's last message."""
    sides = [message["sender"]["type"] for message in platform.history(chat)]
    return sides.count("customer") == MESSAGES and sides[-1] != "customer"


def add_clients(platform: DemoShop) -> None:
    """Add many clients to a running platform."""
    began = time.perf_counter()
    command = [
        sys.executable, "-m", "local.datastores", "attach", "--",
        sys.executable, "manage.py", "shell", "-c", ADD_CLIENTS,
    ]  # fmt: skip
    env = os.environ | {"DATA_DIR": str(platform.data)}
    subprocess.run(command, check=True, env=env, cwd=ROOT, stdout=subprocess.DEVNULL)
    print(f"| {CLIENTS:,} further clients, added in | {time.perf_counter() - began:.0f} s |")


def bursts(platform: DemoShop) -> None:
    """Print four bursts, two of each kind."""
    for reply in ("none", "async", "none", "async"):
        burst(platform, reply)
        time.sleep(5)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's servers run as another account
        print("| what | measured |\n| --- | ---: |")
        start(folder, "first start, with the demo's data").stop()
        platform = start(folder, "start again")
        try:
            idle(platform)
            bursts(platform)
            add_clients(platform)
            idle(platform)
            bursts(platform)
        finally:
            print(f"load {Path('/proc/loadavg').read_text().split()[:3]}")
            platform.stop()


def start(folder: Path, what: str) -> DemoShop:
    """Start the platform, and print how long it took."""
    began = time.perf_counter()
    platform = DemoShop(folder)
    print(f"| {what}: until /health answers 200 | {time.perf_counter() - began:.1f} s |")
    return platform


if __name__ == "__main__":
    main()
