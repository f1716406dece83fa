"""Reports are read from the replica while it is close enough, and else from the primary."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connections
from django.utils import timezone

from chatplatform import replica
from chatplatform.jobs import infrastructure_metrics
from chatplatform.web import health
from chats.testing import make_chat
from reports.services import chat_sql

pytestmark = pytest.mark.django_db(transaction=True)
SEARCH = "/report/adhoc/search"


@pytest.fixture
def second(monkeypatch):
    """The same database once more, as if it were its replica; `lag` sets how far it is behind."""
    monkeypatch.setitem(connections.databases, "replica", connections.databases["default"])
    connections["replica"] = connections.create_connection("replica")
    # Tests may open connections of the database "default" alone.
    connections["replica"].alias = "default"
    monkeypatch.setattr(replica, "_lag", replica._Lag())
    monkeypatch.setattr(replica, "LAG_TTL_SECONDS", 0)

    def lag(seconds):
        monkeypatch.setattr(replica, "measure", lambda: seconds)

    yield lag
    connections["replica"].close()
    del connections["replica"]


@pytest.fixture
def read_from(monkeypatch):
    """The databases that reports were read from."""
    names, real = [], chat_sql._cursor

    def noted(alias, *more, **options):
        names.append(alias)
        return real(alias, *more, **options)

    monkeypatch.setattr(chat_sql, "_cursor", noted)
    return names


def total(person):
    reply = person.post(SEARCH, {})
    assert reply.status_code == 200
    return reply.json()["totals"]["chats"]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, "replica"), (30, "replica"), (31, "default"), (None, "default")]
)
def test_it_is_read_while_it_is_close(ann, bot, second, read_from, seconds, expected):
    make_chat(bot)
    second(seconds)
    assert total(ann) == 1
    assert set(read_from) == {expected}


def test_without_a_replica_nobody_asks_for_one(ann, bot, read_from, monkeypatch):
    monkeypatch.setattr(replica, "measure", lambda: pytest.fail("asked"))
    make_chat(bot)
    assert total(ann) == 1
    assert set(read_from) == {"default"}
    assert "replica" not in {name for name, _ in health.CHECKS}


def test_a_replica_that_fails_in_a_report_is_left_alone_for_a_while(
    ann, bot, second, read_from, monkeypatch
):
    make_chat(bot)
    second(0.0)
    monkeypatch.setattr(replica, "LAG_TTL_SECONDS", 60)

    def break_off():
        raise OperationalError("canceling statement due to conflict with recovery")

    monkeypatch.setattr(connections["replica"], "cursor", break_off)
    for _ in range(2):
        assert total(ann) == 1
    assert read_from.count("replica") == 1
    assert replica.alias() == "default"


def test_a_server_that_is_frozen_is_not_waited_for(second, monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(replica, "measure", lambda: over.wait(60) and 0.0)
    monkeypatch.setattr(replica, "LAG_TIMEOUT_SECONDS", 0.1)
    assert [replica.alias() for _ in range(3)] == ["default"] * 3
    over.set()


def test_a_server_that_is_no_replica_is_not_read(second):
    # Measured: the second connection goes to the primary itself.
    assert replica.measure() is None


def test_its_lag_is_shown(ann, second):
    second(7.0)
    assert health._replica() == "7.0 s behind"
    found = {row.metric.name: row.value for row in infrastructure_metrics.read()}
    assert found["chatplatform_replica_lag_seconds"] == 7
    shown = replica.as_of()
    behind = timezone.now() - shown
    assert timedelta(seconds=7) <= behind < timedelta(seconds=60)
    second(99.0)
    assert health._replica() == "99.0 s behind: reports use the primary database"
    second(None)
    assert health._replica() == "Not responding: reports use the primary database"
    assert timezone.now() - replica.as_of() < timedelta(seconds=60)
    found = {row.metric.name: row.value for row in infrastructure_metrics.read()}
    assert found["chatplatform_replica_up"] == 0
    assert "chatplatform_replica_lag_seconds" not in found
