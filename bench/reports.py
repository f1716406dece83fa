"""Compare reports on a million messages with plain SQL on tables without indexes.

    python -m local.datastores exec -- python bench/reports.py

Prints tables for docs/benchmarks.md. REPORT_CHATS (20,000, of fifty messages each; 100,000 are five
million messages) sets the size, REPORT_EXPORT (200,000) the rows of the exports, REPORT_ROUNDS (9)
the repetitions of each query.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from desk import copies
from load_generator import ROOT, cpu_seconds, database, execute

CHATS = int(os.environ.get("REPORT_CHATS", "20000"))
EXPORT = int(os.environ.get("REPORT_EXPORT", "200000"))
ROUNDS = int(os.environ.get("REPORT_ROUNDS", "9"))
CLIENTS, MESSAGES = 50, 50
CHAT_ID = "('00000000-0000-7000-8000-' || lpad(to_hex({}), 12, '0'))::uuid"
MESSAGE_ID = "('00000000-0001-7000-8000-' || lpad(to_hex({}), 12, '0'))::uuid"
# Each client's chats are spread over a year.
BEGAN = "now() - n::float8 / {chats} * interval '365 days'"
# A process like a worker: prints its megabytes before the export, and their maximum during it.
WORKER = """import resource, sys, django
django.setup()
from django.urls import get_resolver
from reports.services import exports
get_resolver().url_patterns
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = used()
exports.write_file(sys.argv[1])
print(before, used())"""
# The same queries as plain SQL, for tables without any index.
PLAIN = {
    "daily": """
        SELECT c.created_at::date, c.channel, t.tag, count(DISTINCT c.id), count(m.id)
        FROM plain_conversation c LEFT JOIN LATERAL unnest(c.tags) t(tag) ON true
        LEFT JOIN plain_message m ON m.conversation_id = c.id AND NOT m.is_note
            AND NOT m.is_welcome AND m.sender_type IN ('customer', 'bot', 'agent')
        WHERE c.client_id = %s AND c.created_at >= %s AND NOT c.is_preview GROUP BY 1, 2, 3""",
    "first reply": """
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY reply),
            percentile_cont(0.9) WITHIN GROUP (ORDER BY reply)
        FROM (SELECT extract(epoch FROM min(m.created_at) - c.created_at) AS reply
            FROM plain_conversation c JOIN plain_message m ON m.conversation_id = c.id
            WHERE c.client_id = %s AND c.created_at >= %s AND NOT c.is_preview
                AND m.sender_type IN ('bot', 'agent') AND NOT m.is_note AND NOT m.is_welcome
            GROUP BY c.id, c.created_at) replies""",
}


def fill() -> Any:
    """Create fifty clients with chats; return the first, and one with many chats to export."""
    from bots.testing import make_bot  # noqa: PLC0415
    from chats.models import Conversation  # noqa: PLC0415
    from chats.testing import make_chat  # noqa: PLC0415
    from identity.testing import make_client  # noqa: PLC0415

    # This saves most of the time: no checks of foreign keys, and indexes are created at the end.
    execute("SET session_replication_role = replica")
    indexes = drop_indexes()
    clients = [make_client(f"Bench {number}") for number in range(CLIENTS + 1)]
    chats = [make_chat(make_bot(client)) for client in clients]
    for number, chat in enumerate(chats):
        place = f"n + {number * CHATS}"
        size = EXPORT if number == CLIENTS else CHATS // CLIENTS
        copies(
            Conversation, chat, f"generate_series(1, {size}) n",
            id=CHAT_ID.format(place), chat_code=f"'B' || {place}",
            created_at=BEGAN.format(chats=size),
            first_response_at=f"{BEGAN.format(chats=size)} + n %% 300 * interval '1 second'",
            channel="(ARRAY['web', 'api', 'chatapp'])[n %% 3 + 1]",
            tags="(ARRAY['vip', 'late', 'refund', 'new'])[n %% 5:n %% 5 + 1]",
            status="CASE WHEN n %% 9 = 0 THEN 'open' ELSE 'ended' END",
            ended_at=f"{BEGAN.format(chats=size)} + interval '1 hour'",
            last_seq="0" if number == CLIENTS else str(MESSAGES),
        )  # fmt: skip
        chat.delete()
    fill_messages(clients)
    execute("SET session_replication_role = origin", *indexes)
    for name in ("conversation", "message"):
        execute(f"CREATE TABLE plain_{name} AS TABLE chats_{name}")
    execute("VACUUM ANALYZE")
    return clients[0], clients[CLIENTS]


def drop_indexes() -> list[str]:
    """Drop the messages' indexes that no constraint needs; return the statements to recreate them,
    except the one for search, which no report uses."""
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indrelid = 'chats_message'::regclass"
            " AND indexrelid NOT IN (SELECT conindid FROM pg_constraint)"
        )
        made = dict(cursor.fetchall())
    execute(*(f"DROP INDEX {name}" for name in made))
    return [statement for name, statement in made.items() if name != "message_client_search"]


def keep() -> str:
    """Count the figures of all chats as the worker does: first all, then only what is new."""
    from reports.services import message_counts  # noqa: PLC0415

    first, again = took(message_counts.update), took(message_counts.update)
    execute("VACUUM ANALYZE reports_chatstats")
    each = 1000 * first / CHATS / MESSAGES
    return (
        f"{CHATS:,} chats counted in {first / 1000:.1f} s ({each:.1f} µs a message),"
        f" looked through again in {again:.0f} ms"
    )


def fill_messages(clients: list[Any]) -> None:
    """Add the messages of all chats in turn, so that the rows of one chat lie far apart."""
    from bots.testing import make_bot  # noqa: PLC0415
    from chats.models import Message  # noqa: PLC0415
    from chats.testing import make_chat  # noqa: PLC0415

    message = make_chat(make_bot(clients[0]))
    template = Message.objects.create(
        client=clients[0], conversation=message, seq=1, sender_type="customer", content=[]
    )
    copies(
        Message, template,
        f"(SELECT conv.*, m FROM chats_conversation conv, generate_series(1, {MESSAGES}) m"
        f" WHERE conv.client_id <> {clients[CLIENTS].pk} AND conv.id <> '{message.pk}'"
        " ORDER BY m, conv.id) c",
        id=MESSAGE_ID.format("row_number() OVER ()"), client_id="c.client_id",
        conversation_id="c.id", seq="c.m",
        created_at="c.created_at + c.m * interval '20 seconds'",
        sender_type="CASE WHEN c.m %% 2 = 0 THEN 'bot' ELSE 'customer' END",
        receipt="CASE WHEN c.m %% 2 = 0 THEN '{\"credits\": 2}'::jsonb END",
    )  # fmt: skip
    message.delete()


def took(act: Callable[[], Any]) -> float:
    """The milliseconds that an action takes."""
    began = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - began)


def asked(client: Any, days: int) -> dict[str, dict[str, Callable[[], Any]]]:
    """Each query to the platform and to the plain tables, over `days` days."""
    from django.db import connection  # noqa: PLC0415
    from django.utils import timezone  # noqa: PLC0415

    from reports.schemas.adhoc import PeriodQuery, SearchAdhocReportParam  # noqa: PLC0415
    from reports.services import adhoc, overview  # noqa: PLC0415

    first = timezone.localdate() - timedelta(days=days - 1)
    daily = SearchAdhocReportParam(date_from=first, group_by=["day", "channel", "tag"])
    reply = SearchAdhocReportParam(
        date_from=first, group_by=["bot"], metrics=["first_response_p50", "first_response_p90"]
    )

    def plain(name: str) -> Callable[[], Any]:
        def run() -> None:
            with connection.cursor() as cursor:
                cursor.execute(PLAIN[name], [client.pk, first])
                cursor.fetchall()

        return run

    return {
        "daily": {"ours": lambda: adhoc.search(client, daily), "plain": plain("daily")},
        "first reply": {"ours": lambda: adhoc.search(client, reply), "plain": plain("first reply")},
        "overview": {
            "ours": lambda: overview.compute(client, PeriodQuery(date_from=first)),
            "plain": lambda: (plain("daily")(), plain("first reply")()),
        },
    }  # fmt: skip


def compare(client: Any) -> list[str]:
    """Run both in turn, ours twenty times per plain query, since the CPU clock is coarse."""
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        # The processor time of parallel workers would not be counted.
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SELECT pg_backend_pid()")
        ((backend,),) = cursor.fetchall()
    lines = []
    for words, days in (("30 days", 30), ("a year", 366)):
        for name, ways in asked(client, days).items():
            times: dict[str, list[float]] = {"ours": [], "plain": []}
            cpu = dict.fromkeys(times, 0.0)
            for _ in range(ROUNDS):
                for way, count in (("ours", 20), ("plain", 1)):
                    before = time.process_time() + cpu_seconds(backend)
                    times[way] += [took(ways[way]) for _ in range(count)]
                    cpu[way] += time.process_time() + cpu_seconds(backend) - before
            ours, plain = map(statistics.median, times.values())
            mine, theirs = (1000 * cpu[way] / len(times[way]) for way in times)
            lines.append(
                f"| {name}, {words} | {ours:.1f} | {plain:,.0f} | 1/{plain / ours:.0f} |"
                f" {mine:.1f} | {theirs:,.0f} | 1/{theirs / mine:.0f} |"
            )
    return lines


def export(client: Any, reader: Any) -> list[str]:
    """Measure each large export and its memory, with another client's searches beside it."""
    from identity.testing import make_person  # noqa: PLC0415
    from reports.models import Export  # noqa: PLC0415
    from reports.schemas.adhoc import ExportAdhocReportParam  # noqa: PLC0415
    from reports.services import exports  # noqa: PLC0415

    person, search = make_person(client, "owner", "Ann").user, asked(reader, 30)["daily"]["ours"]
    alone, lines = sorted(took(search) for _ in range(60)), []
    for form in ("csv", "xlsx"):
        param = ExportAdhocReportParam.model_validate({"format": form, "date_from": "2000-01-01"})
        row = exports.start(client, param, by=person)
        assert isinstance(row, Export)
        # As the launcher starts this worker, so that requests take precedence.
        command = ["nice", "-n", "10", sys.executable, "-c", WORKER, str(row.pk)]
        worker = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        began, beside = time.perf_counter(), []
        while worker.poll() is None:
            beside.append(took(search))
        seconds = time.perf_counter() - began
        before, most = worker.communicate()[0].split()
        row.refresh_from_db()
        assert row.status == "done"
        slower = sorted(beside)[int(len(beside) * 0.95)] / alone[57]
        lines.append(
            f"| {form} | {row.rows:,} | {seconds:.0f} s | {before} MB, {most} MB |"
            f" {row.file.size / 1e6:.0f} MB | {slower:.1f} |"
        )
    return lines


def main() -> None:
    with database():
        began = time.monotonic()
        reader, exporter = fill()
        print(f"{CHATS * MESSAGES:,} messages in {time.monotonic() - began:.0f} s", file=sys.stderr)
        load = os.getloadavg()[0]
        kept = keep()
        compared, exported = compare(reader), export(exporter, reader)
    print(f"{CHATS * MESSAGES:,} messages; load average at the start: {load:.1f}\n{kept}\n")
    print("| report | ours, ms | plain SQL, ms | ratio | ours, CPU | plain SQL, CPU | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(compared))
    print(
        "\n| export | rows | time | memory before, at most | file | searches beside, p95 to alone |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |\n" + "\n".join(exported))


if __name__ == "__main__":
    main()
