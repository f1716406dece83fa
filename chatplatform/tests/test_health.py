"""Check Health: each part reports its state, and a part that hangs does not delay the answer."""

import asyncio
import threading

import pytest
from django.db import connection

from chatplatform.web import health
from chatplatform.web.application import THREADS, Application


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
    assert list(parts) == ["database", "broker", "processes", "jobs", "disk"]
    working = {name for name, part in parts.items() if part["status"] == "ok"}
    assert working >= {"database", "broker", "disk"}
    # No worker runs during the tests.
    assert parts["processes"]["detail"].startswith("no sign of life from")
    assert (reply.status_code, reply.json()["status"]) == (503, "failed")


@pytest.mark.django_db(transaction=True)
def test_a_database_without_pgvector_says_so(nobody):
    def finding():
        parts = nobody.get("/health").json()["parts"]
        (part,) = [part for part in parts if part["name"] == "database"]
        assert part["status"] == "ok"
        return part["detail"]

    assert finding() == "answers"
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE bots_passage RENAME TO away")
        try:
            assert "without pgvector" in finding()
        finally:
            cursor.execute("ALTER TABLE away RENAME TO bots_passage")


def test_a_part_that_hangs_does_not_delay_the_answer(nobody, db, frozen, monkeypatch):
    monkeypatch.setattr(health, "LONGEST_SECONDS", 0.3)
    monkeypatch.setattr(health, "CHECKS", (("database", frozen), ("disk", lambda: "has room")))
    for _ in range(3):
        reply = nobody.get("/health")
        assert reply.status_code == 503
        details = {part["name"]: part["detail"] for part in reply.json()["parts"]}
        assert details == {"database": "no answer in 0.3 s", "disk": "has room"}


@pytest.mark.parametrize("path", ["/health/live", "/health"])
def test_it_is_answered_while_every_web_thread_hangs(db, frozen, path):
    application, sent = Application(), []
    for _ in range(THREADS):
        application.threads.submit(frozen)
    scope = {
        "type": "http", "method": "GET", "path": path, "query_string": b"",
        "headers": [(b"host", b"localhost")], "http_version": "1.1",
    }  # fmt: skip

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message)

    asyncio.run(asyncio.wait_for(application.serve(scope, receive, send), 20))
    assert sent[0]["status"] in {200, 503}
    assert b'"status"' in sent[1]["body"]
