"""Check Health: each part reports its state, and a part that hangs does not delay the answer."""

import asyncio
import threading
import time

import pytest
from django.db import connection

from chatplatform.live import valkey
from chatplatform.observing import host
from chatplatform.web import health
from chatplatform.web.asgi_application import Application
from chatplatform.web.thread_limits import THREADS


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """Each request checks anew."""
    monkeypatch.setattr(health, "CACHE_SECONDS", 0)


@pytest.fixture
def frozen():
    """A check that does not answer before the test has ended."""
    over = threading.Event()

    def ask():
        over.wait(60)
        return "answers"

    yield ask
    over.set()


def test_each_part_reports_its_state(nobody, db):
    reply = nobody.get("/health")
    parts = {part["name"]: part for part in reply.json()["parts"]}
    assert list(parts) == ["database", "broker", "processes", "jobs", "disk", "clock"]
    working = {name for name, part in parts.items() if part["status"] == "ok"}
    assert working >= {"database", "broker", "disk", "clock"}
    # No worker runs during the tests.
    assert parts["processes"]["detail"].startswith("Not running: ")
    assert (reply.status_code, reply.json()["status"]) == (503, "failed")


@pytest.mark.django_db(transaction=True)
def test_a_database_without_pgvector_says_so(nobody):
    def finding():
        parts = nobody.get("/health").json()["parts"]
        (part,) = [part for part in parts if part["name"] == "database"]
        assert part["status"] == "ok"
        return part["detail"]

    assert finding() == "Responding"
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE bots_passage RENAME TO away")
        try:
            assert "no pgvector" in finding()
        finally:
            cursor.execute("ALTER TABLE away RENAME TO bots_passage")


@pytest.mark.full
def test_a_part_that_hangs_does_not_delay_the_answer(nobody, db, frozen, monkeypatch):
    monkeypatch.setattr(health, "LONGEST_SECONDS", 0.3)
    monkeypatch.setattr(health, "CHECKS", (("database", frozen), ("disk", lambda: "has room")))
    for _ in range(3):
        reply = nobody.get("/health")
        assert reply.status_code == 503
        details = {part["name"]: part["detail"] for part in reply.json()["parts"]}
        assert details == {"database": "No response in 0.3 s", "disk": "has room"}


def test_a_finding_answers_whoever_asks_meanwhile(nobody, db, monkeypatch):
    asked = []

    def check():
        asked.append(1)
        return "has room"

    monkeypatch.setattr(health, "CHECKS", (("disk", check),))
    nobody.get("/health")
    monkeypatch.setattr(health, "CACHE_SECONDS", 600)
    assert {nobody.get("/health").status_code for _ in range(20)} == {200}
    assert len(asked) == 1
    monkeypatch.setattr(health, "CACHE_SECONDS", 0)
    nobody.get("/health")
    assert len(asked) == 2


@pytest.mark.parametrize("path", ["/health/live", "/health"])
def test_it_is_answered_while_every_web_thread_hangs(db, frozen, path):
    application = Application()
    for _ in range(THREADS):
        application.threads.submit(frozen)
    assert_answered(application, path)


@pytest.mark.parametrize("path", ["/health/live", "/health/live/"])
def test_live_is_answered_while_check_health_is_flooded(db, frozen, monkeypatch, path):
    monkeypatch.setattr(health, "LONGEST_SECONDS", 60)
    monkeypatch.setattr(health, "CHECKS", (("database", frozen),))
    application = Application()

    async def flooded():
        flood = [asyncio.ensure_future(answer(application, "/health")) for _ in range(50)]
        await asyncio.sleep(0)
        assert (await answer(application, path))[0]["status"] == 200
        assert not any(item.done() for item in flood)
        for item in flood:
            item.cancel()

    try:
        asyncio.run(asyncio.wait_for(flooded(), 20))
    finally:
        application.health.shutdown(wait=False, cancel_futures=True)


def assert_answered(application, path):
    sent = asyncio.run(asyncio.wait_for(answer(application, path), 20))
    assert sent[0]["status"] in {200, 503}
    assert b'"status"' in sent[1]["body"]


async def answer(application, path):
    """What the web process sends for a GET."""
    sent = []
    scope = {
        "type": "http", "method": "GET", "path": path, "query_string": b"",
        "headers": [(b"host", b"localhost")], "http_version": "1.1",
    }  # fmt: skip

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message)

    await application.serve(scope, receive, send)
    return sent


@pytest.mark.parametrize("full", ["data", "media"])
def test_a_full_disk_is_named_also_one_of_files_alone(nobody, db, full, monkeypatch):
    room = {"data": 5_000_000_000, "media": 5_000_000_000} | {full: 7_000_000}
    disks = [(name, free, 10_000_000_000) for name, free in room.items()]
    monkeypatch.setattr(host, "disks", lambda: iter(disks))
    parts = {part["name"]: part for part in nobody.get("/health").json()["parts"]}
    assert parts["disk"]["status"] == "failed"
    assert parts["disk"]["detail"] == f"Only 7 MB free for {full}"


def test_the_disks_are_those_that_files_are_written_to(settings, tmp_path):
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media" / "not-yet"
    settings.MEDIA_BUCKET = ""
    assert [name for name, free, size in host.disks() if 0 < free < size] == ["data", "media"]
    settings.MEDIA_BUCKET = "files"
    assert [name for name, *_ in host.disks()] == ["data"]


@pytest.mark.parametrize(("seconds", "status"), [(20, "ok"), (3600, "failed"), (-3600, "failed")])
def test_a_wrong_clock_is_found(nobody, db, seconds, status, monkeypatch):
    now = time.time()
    monkeypatch.setattr("chatplatform.observing.host.time.time", lambda: now + seconds)
    parts = {part["name"]: part for part in nobody.get("/health").json()["parts"]}
    assert parts["clock"]["status"] == status


def test_a_broker_that_cannot_write_is_found():
    assert valkey.can_save({"aof_last_write_status": "ok", "rdb_last_bgsave_status": "ok"})
    for state in ("aof_last_write_status", "rdb_last_bgsave_status"):
        assert not valkey.can_save({state: "err"})
