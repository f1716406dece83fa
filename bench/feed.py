"""Measure a thousand open live feeds in one web process: lost events, delays and memory.

    python -m local.datastores exec -- python bench/feed.py [disturbed]

Prints a table for docs/benchmarks.md. FEED_STREAMS (1000) and FEED_EVENTS (20) set the size.
`disturbed` adds open transactions of others (in another database, on another table, and on the
table of events), and another client that writes 100,000 events in one transaction.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from comparison import ROOT
from load_generator import free_port, wait_for

STREAMS = int(os.environ.get("FEED_STREAMS", "1000"))
EVENTS = int(os.environ.get("FEED_EVENTS", "20"))
PATIENCE = 60.0


@contextmanager
def web(port: int) -> Iterator[int]:
    command = [
        sys.executable, "-m", "chatplatform.web.serve", "chatplatform.asgi:application",
        "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        wait_for(port, process)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def megabytes(pid: int) -> float:
    """The memory of the server and its worker (proportional shares)."""
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout
    return sum(
        int(line.split()[1]) / 1024
        for process_id in [str(pid), *children.split()]
        for line in Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines()
        if line.startswith("Pss:")
    )


def set_up() -> tuple[list[str], Any]:
    """The tokens of signed-in people, each for as many feeds as a person may open, and a key with
    its chat."""
    sys.path.insert(0, str(ROOT))
    import django  # noqa: PLC0415 - the environment must be complete first

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    from bots.testing import make_bot  # noqa: PLC0415
    from chats.models import Conversation  # noqa: PLC0415
    from chats.services.desk.feed_limits import MAX_PER_PERSON  # noqa: PLC0415
    from identity.testing import make_client, make_key, make_person  # noqa: PLC0415

    client = make_client("Bench")
    key = make_key(client, "secret", make_bot(client).pk)
    chat = key.post("/ai/client/chat", {}).json()["id"]
    people = [make_person(client) for _ in range(-(-STREAMS // MAX_PER_PERSON))]
    tokens = [person.headers["Authorization"] for person in people]
    return tokens, (key, Conversation.objects.get(pk=chat))


class Reader:
    """An open feed; records the arrival of each event."""

    def __init__(self) -> None:
        self.arrivals: list[float] = []
        self.ready = asyncio.Event()

    async def read(self, port: int, token: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"GET /ai/chat/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n\r\n"
        writer.write(head.encode())
        async for line in reader:
            if line.startswith(b"event: ready"):
                self.ready.set()
            elif line.startswith(b"event: message.created"):
                self.arrivals.append(time.perf_counter())


async def measure(port: int, pid: int, tokens: list[str], send_message: Any) -> list[str]:
    empty = megabytes(pid)
    readers = [Reader() for _ in range(STREAMS)]
    tasks = []
    for number, reader in enumerate(readers):
        tasks.append(asyncio.ensure_future(reader.read(port, tokens[number % len(tokens)])))
        if number % 50 == 49:  # connect in groups; this time is not measured
            await asyncio.wait_for(reader.ready.wait(), PATIENCE)
    await asyncio.wait_for(asyncio.gather(*(reader.ready.wait() for reader in readers)), PATIENCE)
    full = megabytes(pid)
    sent = []
    for _ in range(EVENTS):
        sent.append(await asyncio.to_thread(send_message))
        await asyncio.sleep(0.25)
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        if all(len(reader.arrivals) >= EVENTS for reader in readers):
            break
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    delays = sorted(
        arrived_at - sent_at
        for reader in readers
        for sent_at, arrived_at in zip(sent, reader.arrivals, strict=False)
    )
    return [
        f"| streams × events, delivered | {len(delays):,} of {STREAMS * EVENTS:,} |",
        f"| from the commit to the reader, p50 | {statistics.median(delays) * 1000:.0f} ms |",
        f"| p99 | {delays[int(len(delays) * 0.99)] * 1000:.0f} ms |",
        f"| memory of the web process, without and with {STREAMS:,} streams |"
        f" {empty:.0f} MB, {full:.0f} MB |",
    ]


# The open transactions' statements, by the place where they write.
STRANGERS = {
    "postgres": "SELECT pg_current_xact_id()",
    "": "INSERT INTO django_migrations (app, name, applied) VALUES ('bench', 'held', now())",
}
ONE_EVENT = """INSERT INTO webhooks_event (id, client_id, type, data)
    SELECT gen_random_uuid(), max(id), 'bench.held', '{}' FROM identity_client"""
# Writes the rows that `announce()` would write one by one, for a client that is not measured.
IMPORT = """WITH event AS (
    INSERT INTO webhooks_event (id, client_id, type, data)
    SELECT gen_random_uuid(), %s, 'bench.imported', jsonb_build_object('text', repeat('x', 900))
    FROM generate_series(1, 1000) RETURNING id, client_id)
INSERT INTO webhooks_unnumberedevent (event_id, client_id) SELECT id, client_id FROM event"""


@contextmanager
def disturbed() -> Iterator[None]:
    """Keep others' transactions open, and repeat another client's import."""
    import psycopg  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    from identity.testing import make_client  # noqa: PLC0415
    from webhooks.services import feed_order  # noqa: PLC0415

    other, ended = make_client("Stranger"), threading.Event()
    params = connection.get_connection_params()
    address = {
        key: params[key] for key in ("user", "password", "host", "port", "dbname") if key in params
    }

    def write_events() -> None:
        with closing(psycopg.connect(**address)) as connected:
            while not ended.is_set():
                started_at = time.monotonic()
                for _ in range(100):
                    connected.execute(IMPORT, [other.pk])
                connected.commit()
                committed_at = time.monotonic()
                feed_order.number_events(other.pk)
                print(
                    f"an import of 100,000 events: {committed_at - started_at:.0f} s, "
                    f"numbered in {time.monotonic() - committed_at:.1f} s",
                    file=sys.stderr,
                )
                ended.wait(20)
        connection.close()

    importer = threading.Thread(target=write_events)
    with ExitStack() as stack:
        for database, statement in [*STRANGERS.items(), ("", ONE_EVENT)]:
            to = address | ({"dbname": database} if database else {})
            stack.enter_context(closing(psycopg.connect(**to))).execute(statement)
        importer.start()
        yield
        ended.set()
        importer.join()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            DJANGO_SETTINGS_MODULE="chatplatform.settings", SECRET_KEY="bench" * 12,
            DATA_DIR=folder, RATE_LIMIT_SCALE="1000",
        )  # fmt: skip
        load = os.getloadavg()[0]
        rows = run()
    print(f"load average at the start: {load:.1f}\n\n| what | measured |\n| --- | --- |")
    print("\n".join(rows))


def run() -> list[str]:
    tokens, (key, chat) = set_up()
    path = f"/ai/client/chat/{chat.pk}"

    def send_message() -> float:
        reply = key.post(path, {"text": "Hello", "reply": "none"})
        assert reply.status_code == 200, reply.content
        return time.perf_counter()

    port = free_port()
    with web(port) as pid, disturbed() if "disturbed" in sys.argv else nullcontext():
        return asyncio.run(measure(port, pid, tokens, send_message))


if __name__ == "__main__":
    main()
