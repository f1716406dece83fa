"""Measure reads, feed, search and report on two years of messages and events; drop a month.

    DATA_DIR=/big/growth python -m local.datastores attach -- python bench/growth.py

Prints tables for docs/benchmarks.md. The database stays in DATA_DIR: remove it afterwards.
GROWTH_SIZES (20000,1000000,5000000,20000000) are the numbers of messages, GROWTH_ROUNDS (100) the
repetitions of each query. Times are medians of PostgreSQL's processor time, with the wall time
beside them. A hundred chats are read again and again, like chats that people work on.
"""

import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from desk import copies
from load_generator import database, execute

SIZES = [
    int(size)
    for size in os.environ.get("GROWTH_SIZES", "20000,1000000,5000000,20000000").split(",")
]
ROUNDS = int(os.environ.get("GROWTH_ROUNDS", "100"))
CLIENTS, MESSAGES, MONTHS = 50, 50, 24
# A chat's messages are twenty seconds apart; ids consist of the time and the number.
ID = "(lpad(to_hex((extract(epoch FROM {at}) * 1000)::bigint), 12, '0') || '7000' || {kind}" \
    " || lpad(to_hex({number}), 15, '0'))::uuid"  # fmt: skip
# Spread evenly over the two years until now.
BEGAN = "now() - interval '1 day' - (n::float8 / {chats}) * interval '{days} days'"
WORDS = ["order", "parcel", "refund", "invoice", "delivery", "address", "voucher", "warranty"]


def fetch(statement: str) -> list[tuple[Any, ...]]:
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def log(words: str) -> None:
    print(f"{datetime.now(UTC):%H:%M:%S} {words}", file=sys.stderr, flush=True)


def set_up() -> list[Any]:
    """The clients, each with a chat to copy, and the partitions of all months."""
    from bots.testing import make_bot  # noqa: PLC0415
    from chatplatform import partitions  # noqa: PLC0415
    from chats.testing import make_chat  # noqa: PLC0415
    from identity.testing import make_client  # noqa: PLC0415

    clients = [make_client(f"Bench {number}") for number in range(CLIENTS)]
    for client in clients:
        make_chat(make_bot(client), last_seq=0)
    now = partitions.month_of(datetime.now(UTC))
    for count in range(-MONTHS - 1, 1):
        month = partitions.month_after(now, count).date()
        for name in ("event", "payload", "delivery", "deliveryattempt"):
            execute(f"SELECT chatplatform_make_month('webhooks_{name}', '{month}')")
    # 5,000 texts, each with one of eight common words and a rare word.
    execute(
        "CREATE TABLE bench_text AS SELECT n, (ARRAY["
        + ", ".join(f"'{word}'" for word in WORDS)
        + "])[n % 8 + 1] || ' ' || substr(md5(n::text), 1, 6) AS text"
        " FROM generate_series(0, 4999) n; CREATE INDEX ON bench_text (n); ANALYZE bench_text"
    )
    return clients


def fill(clients: list[Any], had: int, size: int) -> None:
    """Raise the number of messages from `had` to `size`; each gets an event in the feed."""
    from chats.models import Conversation, Message  # noqa: PLC0415

    chats = (size - had) // MESSAGES
    first = had // MESSAGES
    templates = {
        row.client_id: row for row in Conversation.objects.filter(last_seq=0, client__in=clients)
    }
    execute("SET session_replication_role = replica", "SET synchronous_commit = off",
            "SET maintenance_work_mem = '1GB'")  # fmt: skip
    later = drop_indexes()
    for number, client in enumerate(clients):
        began = BEGAN.format(chats=chats // CLIENTS, days=MONTHS * 30.4)
        place = f"({first + number * (chats // CLIENTS)} + n)"
        copies(
            Conversation, templates[client.pk], f"generate_series(1, {chats // CLIENTS}) n",
            id=ID.format(at=began, kind="'8'", number=place), chat_code=f"'B' || {place}",
            created_at=began, last_message_at=began, status="'ended'",
            ended_at=f"{began} + interval '1 hour'", last_seq=str(MESSAGES),
            channel="(ARRAY['web', 'api', 'chatapp'])[n %% 3 + 1]",
            tags="(ARRAY['vip', 'late', 'refund', 'new'])[n %% 5:n %% 5 + 1]",
            metadata=f"jsonb_build_object('size', {size}, 'n', {place})",
        )  # fmt: skip
    log("chats")
    template = Message.objects.create(
        client=clients[0], conversation=templates[clients[0].pk], seq=1, sender_type="customer",
        content=[],
    )  # fmt: skip
    at = "(c.created_at + c.m * interval '20 seconds')"
    number = f"(c.number * {MESSAGES} + c.m)"
    copies(
        Message, template,
        "(SELECT conv.id, conv.client_id, conv.created_at, (conv.metadata->>'n')::bigint AS number,"
        f" m, bench_text.text FROM chats_conversation conv, generate_series(1, {MESSAGES}) m,"
        " bench_text WHERE conv.metadata @> jsonb_build_object('size', "
        f"{size}) AND bench_text.n = ((conv.metadata->>'n')::bigint * 37 + m * 7919) %% 5000"
        " ORDER BY conv.created_at + m * interval '20 seconds') c",
        id=ID.format(at=at, kind="'9'", number=number), client_id="c.client_id",
        conversation_id="c.id", seq="c.m", created_at=at, text="c.text",
        content="jsonb_build_array(jsonb_build_object('type', 'text', 'text', c.text))",
        sender_type="CASE WHEN c.m %% 2 = 0 THEN 'bot' ELSE 'customer' END",
        receipt="CASE WHEN c.m %% 2 = 0"
        " THEN '{\"credits\": 2, \"decision\": \"answered\"}'::jsonb END",
    )  # fmt: skip
    message_id = template.pk
    Message.objects.filter(pk=message_id).delete()
    log("messages")
    fill_events(size)
    execute("SET session_replication_role = origin")
    for statement in later:
        execute(statement)
        log(statement[:90])
    execute("VACUUM ANALYZE")


def fill_events(size: int) -> None:
    """An event for each message, with the message's own time, and its place in the feed."""
    execute(
        "INSERT INTO webhooks_event"
        " (id, client_id, type, conversation_id, sequence, data, created_at)"
        " SELECT m.id, m.client_id, 'message.created', m.conversation_id, m.seq,"
        " jsonb_build_object('message', jsonb_build_object('id', m.id, 'text', m.text)),"
        " m.created_at FROM chats_message m JOIN chats_conversation c ON c.id = m.conversation_id"
        f" WHERE c.metadata @> jsonb_build_object('size', {size})"
    )
    log("events")
    execute(
        "INSERT INTO webhooks_feedentry (event_id, client_id, position)"
        " SELECT e.id, e.client_id, nextval('webhooks_feed_position') FROM webhooks_event e"
        f" JOIN chats_conversation c ON c.id = e.conversation_id"
        f" WHERE c.metadata @> jsonb_build_object('size', {size}) ORDER BY e.id"
    )
    log("feed entries")


def drop_indexes() -> list[str]:
    """Drop the messages' indexes except the primary key; return the statements to recreate them."""
    constraints = fetch(
        "SELECT format('ALTER TABLE chats_message ADD CONSTRAINT %I %s', conname,"
        " pg_get_constraintdef(oid)),"
        " format('ALTER TABLE chats_message DROP CONSTRAINT %I', conname)"
        " FROM pg_constraint WHERE conrelid = 'chats_message'::regclass AND contype = 'u'"
    )
    execute(*(drop for _, drop in constraints))
    indexes = fetch(
        "SELECT pg_get_indexdef(indexrelid), format('DROP INDEX %s', indexrelid::regclass)"
        " FROM pg_index WHERE indrelid = 'chats_message'::regclass AND NOT indisprimary"
    )
    execute(*(drop for _, drop in indexes))
    return [made for made, _ in constraints + indexes]


def pages(
    clients: list[Any], chats: list[Any], drawn: random.Random
) -> dict[str, Callable[[], Any]]:
    """A list page of a chat's messages, for frequently read chats and for any chat."""
    from django.test import Client  # noqa: PLC0415

    from chatplatform.api.pagination import Page  # noqa: PLC0415
    from chats.services.core import messages  # noqa: PLC0415
    from identity.auth import Principal  # noqa: PLC0415
    from identity.services import api_keys  # noqa: PLC0415

    busy = chats[:100]
    made = [api_keys.create(client, name="bench", scope="secret") for client in clients]
    callers = {key.client_id: (Principal(key.client, key=key), secret) for key, secret in made}

    def page(of: list[Any]) -> None:
        chat = drawn.choice(of)
        messages.history_page(callers[chat.client_id][0], chat.pk, Page())

    def answer() -> None:
        chat = drawn.choice(busy)
        browser = Client(headers={"API-KEY": callers[chat.client_id][1]})
        assert browser.get(f"/ai/client/chat/history/{chat.pk}").status_code == 200

    for chat in busy:
        page([chat])
    return {
        "a page of messages, of a hundred chats": lambda: page(busy),
        "the same by the API, in this process": answer,
        "a page of messages, of any chat": lambda: page(chats),
    }


def asked(clients: list[Any]) -> dict[str, Callable[[], Any]]:
    """Each query, for a client that is drawn at random each time."""
    from django.utils import timezone  # noqa: PLC0415

    from chats.models import Conversation  # noqa: PLC0415
    from chats.services.desk import inbox  # noqa: PLC0415
    from reports.schemas.adhoc import SearchAdhocReportParam  # noqa: PLC0415
    from reports.services import adhoc  # noqa: PLC0415
    from webhooks.models import FeedEntry  # noqa: PLC0415
    from webhooks.services import events  # noqa: PLC0415

    drawn = random.Random(7)
    chats = list(
        Conversation.objects.filter(client__in=clients, last_seq=MESSAGES).extra(
            where=["id IN (SELECT id FROM chats_conversation TABLESAMPLE system_rows(2000))"]
        )
    )
    places = {
        client.pk: FeedEntry.objects.for_client(client).order_by("-position")[:150][149].position
        for client in clients
    }
    rare = [text.split()[1] for (text,) in fetch("SELECT text FROM bench_text")]
    first = timezone.localdate() - timedelta(days=29)
    daily = SearchAdhocReportParam(date_from=first, group_by=["day", "channel", "tag"])

    def any_client() -> Any:
        return drawn.choice(clients)

    def end_of_feed() -> None:
        client = any_client()
        events.read_feed(client, places[client.pk])

    def middle_of_feed() -> None:
        client = any_client()
        events.read_feed(client, drawn.randrange(1, places[client.pk]))

    def search(words: str) -> None:
        list(inbox.search(any_client(), words)[:21])

    return pages(clients, chats, drawn) | {
        "the feed, its last 100 events": end_of_feed,
        "the feed, 100 events anywhere": middle_of_feed,
        "the search for a frequent word": lambda: search(drawn.choice(WORDS)),
        "the search for a rare word": lambda: search(drawn.choice(rare)),
        "chats by day, channel and tag, 30 days": lambda: adhoc.search(any_client(), daily),
    }  # fmt: skip


def measure(clients: list[Any]) -> dict[str, float]:
    execute("SET max_parallel_workers_per_gather = 0")  # their time would not be counted
    used = Path(f"/proc/{fetch('SELECT pg_backend_pid()')[0][0]}/schedstat")
    medians = {}
    for name, ask in asked(clients).items():
        rounds, clock = [], []
        for _ in range(ROUNDS + 5):
            began, before = time.perf_counter(), int(used.read_text().split()[0])
            ask()
            rounds.append((int(used.read_text().split()[0]) - before) / 1e6)
            clock.append(1000 * (time.perf_counter() - began))
        medians[name] = statistics.median(rounds[5:])
        medians[name + ", by the clock"] = statistics.median(clock[5:])
        log(f"{name}: {medians[name]:.2f} ms, by the clock {statistics.median(clock[5:]):.2f}")
    return medians


def fill_deliveries(month: Any, clients: list[Any]) -> int:
    """Add a delivery with its attempt and body for each event of a month."""
    from webhooks.models import WebhookConfig  # noqa: PLC0415

    execute("SET session_replication_role = replica")
    for client in clients:
        WebhookConfig.objects.create(
            client=client, url="https://receiver.example/", secret="s" * 40
        )
    of_month = (
        f"FROM months.{month.name} e JOIN webhooks_webhookconfig c ON c.client_id = e.client_id"
    )
    execute(
        f"INSERT INTO webhooks_payload SELECT e.id, e.data::text::bytea {of_month}",
        "INSERT INTO webhooks_delivery (client_id, event_id, config_id, state, due_at, attempts,"
        " created_at)"
        f" SELECT e.client_id, e.id, c.id, 'succeeded', NULL, 1, e.created_at {of_month}",
        "INSERT INTO webhooks_deliveryattempt (client_id, delivery_id, number, http_status,"
        " duration_ms, response_excerpt, created_at) SELECT client_id, id, 1, 200, 20,"
        " repeat('ok ', 60), created_at FROM webhooks_delivery",
        "SET session_replication_role = origin", "VACUUM ANALYZE",
    )  # fmt: skip
    return int(fetch("SELECT count(*) FROM webhooks_delivery")[0][0])


class Ingest(threading.Thread):
    """Announces events, each in its own transaction, as a busy platform does."""

    def __init__(self, client: Any) -> None:
        super().__init__(daemon=True)
        self.client, self.ended, self.at = client, threading.Event(), list[float]()

    def run(self) -> None:
        from django.db import connection  # noqa: PLC0415

        from webhooks.services import announce  # noqa: PLC0415

        while not self.ended.is_set():
            announce(self.client.pk, "message.created", {"message": {"text": "x" * 100}})
            self.at.append(time.perf_counter())
        connection.close()

    def rate(self, begin: float, end: float) -> str:
        inside = [at for at in self.at if begin <= at <= end]
        gaps = [b - a for a, b in zip([begin, *inside], [*inside, end], strict=True)]
        return (
            f"{len(inside) / (end - begin):.0f} a second, at most {1000 * max(gaps):.0f} ms apart"
        )


def drop_months(clients: list[Any]) -> list[str]:
    """Drop a month of deliveries and one of events while others write."""
    from django.conf import settings  # noqa: PLC0415

    from chatplatform import partitions  # noqa: PLC0415
    from webhooks.models import Delivery, DeliveryAttempt, Event, Payload  # noqa: PLC0415
    from webhooks.services import deliveries, events  # noqa: PLC0415

    settings.EVENT_MONTHS = MONTHS - 3
    months = [month for month in partitions.months(Event) if month.rows(Event, "id").exists()]
    of_deliveries = months[1]
    count = fill_deliveries(of_deliveries, clients)
    log(f"{count:,} deliveries")
    writer = Ingest(clients[0])
    writer.start()
    time.sleep(5)
    lines, began = [], time.perf_counter()
    lines.append(f"before: {writer.rate(began - 4, began)}")
    before = datetime.now(UTC) - deliveries.RETENTION
    for model in (Delivery, Payload, DeliveryAttempt):
        one = time.perf_counter()
        dropped = partitions.drop_before(model, before)
        took = time.perf_counter() - one
        lines.append(
            f"{model.__name__}: {dropped} months, {took:.2f} s, {writer.rate(one, one + took)}"
        )
    old = [month for month in partitions.months(Event) if month.ends <= partitions.month_after(
        partitions.month_of(datetime.now(UTC)), -settings.EVENT_MONTHS)]  # fmt: skip
    rows = sum(month.rows(Event, "id").count() for month in old)
    one = time.perf_counter()
    dropped = partitions.drop_before(Event, max(month.ends for month in old))
    took = time.perf_counter() - one
    lines.append(
        f"Event: {dropped} months with {rows:,} rows, {took:.2f} s, {writer.rate(one, one + took)}"
    )
    one = time.perf_counter()
    events.purge_expired()
    took = time.perf_counter() - one
    lines.append(f"their feed entries, row by row: {took:.1f} s, {writer.rate(one, one + took)}")
    time.sleep(5)
    ended = time.perf_counter()
    lines.append(f"after: {writer.rate(ended - 4, ended)}")
    writer.ended.set()
    writer.join()
    return lines


def main() -> None:
    with database(DEBUG="false", ALLOWED_HOSTS="*,127.0.0.1"):
        from reports.services import message_counts  # noqa: PLC0415

        execute("CREATE EXTENSION IF NOT EXISTS tsm_system_rows")
        clients, had, results = set_up(), 0, {}
        for size in SIZES:
            fill(clients, had, size)
            message_counts.update()
            execute("VACUUM ANALYZE reports_chatstats")
            results[size] = measure(clients)
            had = size
            report(results)
        print("\n".join(drop_months(clients)), flush=True)


def report(results: dict[int, dict[str, float]]) -> None:
    (gigabytes,) = fetch("SELECT pg_database_size(current_database()) / 1e9")[0]
    print(f"\n{gigabytes:.1f} GB; load average {os.getloadavg()[0]:.1f}\n")
    print("| CPU of PostgreSQL, ms | " + " | ".join(f"{size:,}" for size in results) + " |")
    print("| --- |" + " ---: |" * len(results))
    for name in next(iter(results.values())):
        print(f"| {name} | " + " | ".join(f"{row[name]:.2f}" for row in results.values()) + " |")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
