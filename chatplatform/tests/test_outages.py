"""A broker or database that is away is a line a minute, and never a traceback."""

import io
import logging
import logging.config
import traceback

import django.db
import kombu.exceptions
import psycopg
import pytest
import redis
from django.conf import settings

from chatplatform.observing import outage_logging


@pytest.fixture
def said(monkeypatch):
    """The lines that a process of a real site would print."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(outage_logging, "_logged_at", {})
    monkeypatch.setattr(outage_logging, "_began", {})
    before = logging.getLogger().handlers[:], logging.getLogger().level
    logging.config.dictConfig(settings.LOGGING)
    yield lambda: stream.getvalue().splitlines()
    logging.getLogger().handlers, logging.getLogger().level = before


def fail(exc, logger, text="Message Error: %s\n%s"):
    try:
        raise exc
    except type(exc):
        logging.getLogger(logger).exception(text, exc, traceback.format_stack())


def of_database(state):
    class Failed(psycopg.OperationalError):
        sqlstate = state

    failed = django.db.OperationalError("no connection")
    failed.__cause__ = Failed()
    return failed


@pytest.mark.parametrize(
    ("exc", "logger", "kind"),
    [
        (redis.ConnectionError("Error 111"), "celery.beat", "broker"),
        (redis.TimeoutError("late"), "chatplatform.live.pubsub", "broker"),
        (kombu.exceptions.OperationalError("away"), "chatplatform.jobs.relay", "broker"),
        (ConnectionRefusedError(111, "refused"), "celery.worker.consumer.consumer", "broker"),
        (of_database(None), "chatplatform.jobs.relay", "database"),
        (of_database("57P01"), "celery.app.trace", "database"),
        (of_database("53300"), "django.request", "database"),
        (of_database(None), "chatplatform.replica", "replica"),
    ],
)
def test_an_outage_is_a_line_a_minute_and_one_at_its_end(exc, logger, kind, said, monkeypatch):
    for _ in range(50):
        fail(exc, logger)
        logging.getLogger(logger).warning("it is away, trying again: %s", exc)
    assert len(said()) == 1
    assert str(exc) in said()[0]
    monkeypatch.setitem(outage_logging._logged_at, kind, outage_logging._logged_at[kind] - 61)
    for _ in range(50):
        fail(exc, logger)
    assert len(said()) == 2
    outage_logging.report_recovery(kind)
    outage_logging.report_recovery(kind)
    assert len(said()) == 3
    assert f"the {kind} responds again" in said()[2]
    fail(exc, logger)
    assert len(said()) == 4


def test_critical_lines_about_an_outage_are_all_said_without_a_traceback(said):
    away = redis.ConnectionError("Error 111")
    for _ in range(2):
        fail(away, "celery.beat")
        logging.getLogger("celery.worker").critical("Unrecoverable error", exc_info=away)
    assert ["Unrecoverable" in line for line in said()] == [False, True, True]


@pytest.mark.parametrize(
    ("exc", "logger"),
    [
        (of_database("57014"), "chatplatform.jobs.leases"),  # a statement that took too long
        (of_database("40P01"), "django.request"),  # a deadlock
        (ConnectionRefusedError(111, "refused"), "identity.services.mails"),
        (ConnectionResetError(104, "reset"), "chatplatform.jobs.leases"),  # a job's own server
        (TimeoutError("late"), "celery.app.trace"),
        (FileNotFoundError(2, "no such file"), "chatplatform.jobs.worker_process"),
        (ValueError("wrong"), "celery.app.trace"),
    ],
)
def test_other_faults_keep_their_traceback_and_are_all_said(exc, logger, said):
    for _ in range(2):
        fail(exc, logger, "failed: %s %s")
    assert "\n".join(said()).count("Traceback (most recent call last)") == 2
