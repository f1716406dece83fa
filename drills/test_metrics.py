"""Prometheus on a running platform: panels have figures, counts are right, each alert fires."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from shutil import which

import psycopg
import pytest
import redis

from chatplatform.testing import s3
from drills.draw_panels import draw, panels, queries
from drills.platform import DemoShop, demo_shop, wait_until
from drills.prometheus import Prometheus, free_ports
from local.data_dir import read_urls
from local.parts import PARTS

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(which("prometheus") is None, reason="needs prometheus"),
]
WINDOW = "20s"
# Alerts about what takes hours or is not a process's fault; test_deploy.py has series for most.
SLOW = {
    "BackupIsOld", "BrokerCannotSave", "CertificateExpires", "ClockIsWrong", "DiskFillsUp",
    "DiskIsFull", "MailFails",
}  # fmt: skip
QUESTION = "How many days do I have to return an unused item?"
PICTURE = (
    "Requests a second", "Time of a request", "Open streams", "Replies a second",
    "Wait for a reply", "Attempts at deliveries a second", "Wait of the oldest due job",
    "Processor seconds a second", "Memory",
)  # fmt: skip


class Broken:
    """A platform and the faults that make its alerts fire; each fault is repaired afterwards."""

    def __init__(self, shop: DemoShop, files: s3.S3Server) -> None:
        self.shop, self.files = shop, files
        self.urls, self.sql = read_urls(shop.data), shop.sql

    def ask_in(self, count: int) -> None:
        """Send customers' messages without waiting for replies."""
        chats = [self.shop.open_chat() for _ in range(count)]
        for chat in chats:
            self.shop.ask(chat, text=QUESTION, reply="async")

    def read_histories(self, count: int, chat: str) -> list[int]:
        """Send requests of sixteen readers at once; return their statuses."""

        def read(_: int) -> int:
            path = f"/ai/client/chat/history/{chat}"
            return self.shop.client.get(path, headers=self.shop.key).status_code

        with ThreadPoolExecutor(16) as pool:
            return list(pool.map(read, range(count)))

    @contextmanager
    def frozen(self, word: str) -> Iterator[None]:
        assert self.shop.kill(word, signal.SIGSTOP), word
        try:
            yield
        finally:
            self.shop.kill(word, signal.SIGCONT)

    @contextmanager
    def late_job(self) -> Iterator[None]:
        """A job of another release, which no worker can run."""
        self._add_job("drill.unknown", "queued", "now() - interval '10 minutes'")
        yield
        self.sql("DELETE FROM chatplatform_job WHERE name = 'drill.unknown'")

    @contextmanager
    def dead_job(self) -> Iterator[None]:
        self._add_job("drill.dead", "dead", "now()")
        yield
        self.sql("DELETE FROM chatplatform_job WHERE name = 'drill.dead'")

    def _add_job(self, name: str, state: str, due: str) -> None:
        self.sql(
            "INSERT INTO chatplatform_job (name, args, state, progress, last_error, trace_id,"
            f" due_at) VALUES (%s, '{{\"names\": []}}', %s, 0, '', '', {due})", name, state,
        )  # fmt: skip

    @contextmanager
    def late_relay(self) -> Iterator[None]:
        with self.frozen("manage.py relay"):
            for _ in range(20):
                self._add_job("chatplatform.remove_files", "queued", "now()")
            time.sleep(8)
        yield

    @contextmanager
    def failing_database(self) -> Iterator[None]:
        chat, statuses = self.shop.open_chat(), list[int]()
        for _ in range(4):
            self.shop.kill("postgres")
            statuses += self.read_histories(30, chat)
            time.sleep(3)  # Prometheus sees growth only between two scrapes
        assert 503 in statuses
        yield

    @contextmanager
    def slow_database(self) -> Iterator[None]:
        chat = self.shop.open_chat()
        with ThreadPoolExecutor(1) as pool:
            with self.frozen("postgres"):
                reading = pool.submit(self.read_histories, 16, chat)
                time.sleep(3)
            reading.result()
        yield

    @contextmanager
    def failing_model(self) -> Iterator[None]:
        self.shop.model.play("500")
        self.ask_in(6)
        yield
        self.shop.model.play("ok")

    @contextmanager
    def slow_replies(self) -> Iterator[None]:
        # A frozen worker would not do: it would count them before the next scrape.
        self.shop.model.play("slow:22")
        self.ask_in(6)
        yield
        self.shop.model.play("ok")

    @contextmanager
    def late_delivery(self) -> Iterator[None]:
        with self.frozen("-n worker-webhook@"):
            self.sql("UPDATE webhooks_webhookconfig SET is_active = true, paused_until = NULL")
            self.sql(
                "UPDATE webhooks_delivery SET due_at = now() - interval '10 minutes',"
                " lease_token = NULL WHERE id = (SELECT max(id) FROM webhooks_delivery)"
            )
            yield

    @contextmanager
    def failing_deliveries(self) -> Iterator[None]:
        self.sql("UPDATE webhooks_webhookconfig SET is_active = true, paused_until = NULL")
        self.ask_in(6)
        yield

    @contextmanager
    def kept_credits(self) -> Iterator[None]:
        self.sql(
            "INSERT INTO identity_creditentry (client_id, kind, amount, balance_after, reference,"
            " is_open, created_at) SELECT min(id), 'reserve', -5, 0, 'drill', true,"
            " now() - interval '2 hours' FROM identity_client"
        )
        yield
        self.sql("UPDATE identity_creditentry SET is_open = false WHERE reference = 'drill'")

    @contextmanager
    def failing_files(self) -> Iterator[None]:
        self.files.mode = "error"
        path = f"/ai/client/chat/files/{self.shop.open_chat()}/"
        for _ in range(8):
            reply = self.shop.client.post(
                path, headers=self.shop.key, data={"message": "x", "reply": "none"},
                files={"files": ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(32))},
            )  # fmt: skip
            assert reply.status_code == 503, reply.text
            time.sleep(1)  # Prometheus sees growth only between two scrapes
        yield
        self.files.mode = "ok"

    @contextmanager
    def rows_without_month(self) -> Iterator[None]:
        self.sql(
            "INSERT INTO webhooks_deliveryattempt (client_id, delivery_id, number,"
            " response_excerpt, created_at) SELECT min(id), 0, 1, '', '2041-03-01'"
            " FROM identity_client"
        )
        yield
        self.sql("DELETE FROM webhooks_deliveryattempt WHERE created_at = '2041-03-01'")

    @contextmanager
    def many_connections(self) -> Iterator[None]:
        limit = int(self.sql("SHOW max_connections")[0][0])
        (used,) = self.sql("SELECT count(*) FROM pg_stat_activity")[0]
        with ExitStack() as stack:
            for _ in range(int(limit * 0.93) - used):
                stack.enter_context(psycopg.connect(self.urls["DATABASE_URL"]))
            yield

    @contextmanager
    def full_broker(self) -> Iterator[None]:
        with redis.Redis.from_url(self.urls["REDIS_URL"]) as client:
            before = client.config_get("maxmemory")["maxmemory"]
            client.config_set("maxmemory", int(client.info("memory")["used_memory"] * 1.15))
            yield
            client.config_set("maxmemory", before)


@contextmanager
def running(folder: Path) -> Iterator[tuple[Broken, Prometheus]]:
    port = free_ports(len(PARTS))
    own = {
        "METRICS_PORT": str(port),
        "WEBHOOK_RETRY_SCALE": "1000",
        # There is no replica at this address: the platform works without it.
        "DATABASE_REPLICA_URL": "postgres://nobody@127.0.0.1:9/nothing",
    }
    with s3.running() as files, demo_shop(folder, **own, **files.environ) as shop:
        prometheus = Prometheus(folder / "prometheus", metrics_port=port, window=WINDOW)
        try:
            yield Broken(shop, files), prometheus
        finally:
            prometheus.stop()


COUNTED = {
    "requests": 'chatplatform_requests_total{route=~".*history.*", status="200"}',
    "replies": "chatplatform_reply_seconds_count",
    "jobs": 'chatplatform_job_runs_total{name="chats.generate_reply", outcome="done"}',
    "attempts": "chatplatform_delivery_seconds_count",
}
_DONE = (
    "SELECT count(*) FROM chatplatform_job WHERE name = 'chats.generate_reply' AND state = 'done'"
)


def check_counts(prometheus: Prometheus, broken: Broken) -> None:
    """Check that Prometheus's counts since the start equal the stored and the sent ones."""

    def difference() -> dict[str, float]:
        counted = {name: prometheus.value(f"sum({metric})") for name, metric in COUNTED.items()}
        done = broken.sql(_DONE)[0][0]
        sent = broken.sql("SELECT count(*) FROM webhooks_deliveryattempt")[0][0]
        stored = {"requests": 200, "replies": done, "jobs": done, "attempts": sent}
        return {name: counted[name] - stored[name] for name in COUNTED}

    assert set(broken.read_histories(200, broken.shop.open_chat())) == {200}
    broken.ask_in(30)
    wait_until(lambda: broken.sql(_DONE)[0][0] >= 30, what="thirty replies")
    try:
        wait_until(lambda: not any(difference().values()), what="true counts", seconds=40)
    except AssertionError:
        raise AssertionError(f"off by {difference()}") from None
    print("200 requests, thirty replies and what was delivered are counted truly")


def check_panels(prometheus: Prometheus) -> None:
    def empty() -> list[str]:
        return [
            panel["title"]
            for panel in panels()
            if not any(
                prometheus.series(query, seconds=60) for query, _ in queries(panel, window=WINDOW)
            )
        ]

    try:
        # A rate needs two scrapes.
        wait_until(lambda: not empty(), what="figures in every panel", seconds=20)
    except AssertionError:
        raise AssertionError(f"no figures: {empty()}") from None


def _unexpected(prometheus: Prometheus) -> set[str]:
    """The alerts that fire although their cause is gone."""
    return prometheus.firing() - {"DeliveriesFail", "ReplicaIsBehind"}


def test_panels_counts_and_alerts(tmp_path: Path) -> None:
    with running(tmp_path) as (broken, prometheus):
        shop, started_at = broken.shop, time.monotonic()
        check_counts(prometheus, broken)
        with shop.client.stream("GET", "/ai/chat/events", headers=shop.owner()):
            wait_until(lambda: prometheus.value("sum(chatplatform_streams)") == 1, what="a stream")
        check_panels(prometheus)
        ways: dict[str, AbstractContextManager[None]] = {
            "ProcessGone": broken.frozen("beat --schedule"),
            "JobsWait": broken.late_job(),
            "JobsAreDead": broken.dead_job(),
            "RelayIsLate": broken.late_relay(),
            "RepliesFail": broken.failing_model(),
            "RepliesAreSlow": broken.slow_replies(),
            "DeliveriesFail": broken.failing_deliveries(),
            "DeliveriesWait": broken.late_delivery(),
            "CreditsStayReserved": broken.kept_credits(),
            "FileStoreIsAway": broken.failing_files(),
            "RowsHaveNoMonth": broken.rows_without_month(),
            "ConnectionsRunOut": broken.many_connections(),
            "BrokerIsFull": broken.full_broker(),
            "BrokerIsAway": broken.frozen("valkey-server"),
            "RequestsAreSlow": broken.slow_database(),
            "RequestsFail": broken.failing_database(),
            "DatabaseIsAway": broken.frozen("postgres"),
            "ReplicaIsBehind": nullcontext(),
        }
        assert set(ways) | SLOW == set(prometheus.alerts)
        for alert, way in ways.items():
            with way:
                wait_until(lambda: alert in prometheus.firing(), what=alert, seconds=60)  # noqa: B023
            print(f"{alert} fired {time.monotonic() - started_at:.0f} s after the start")
        try:
            wait_until(lambda: not _unexpected(prometheus), what="silence", seconds=120)
        except AssertionError:
            raise AssertionError(f"still firing: {_unexpected(prometheus)}") from None
        if picture := os.environ.get("PANELS_PICTURE"):
            seconds = time.monotonic() - started_at
            draw(prometheus, list(PICTURE), Path(picture), seconds=seconds, window=WINDOW)
