"""Metrics: counts of every process of a group, on a port of their own."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from celery import Celery
from django.conf import settings as django_settings
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from chatplatform import cpu_slots, jobs
from chatplatform.jobs import infrastructure_metrics, leases, relay
from chatplatform.models import Job, JobState
from chatplatform.observing import host, metrics
from chatplatform.observing.process_slots import Slots
from chatplatform.testing import in_thread, run_jobs, written_at
from chatplatform.testing.metrics_scraping import scrape_until
from chatplatform.testing.web_process import database_url, wait_until_idle, web
from chatplatform.tests.job_work import NAME as WORK
from chatplatform.web import health
from local.data_dir import make_data_dir
from local.os_processes import free_port
from local.valkey import Valkey
from webhooks.models import Event
from webhooks.services import announce

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
NAME = "chatplatform.remove_files"
WAIT_SECONDS = 1.0


def status_of(port, path, method="GET"):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status
    except urllib.error.HTTPError as exc:
        return exc.code


def test_requests_are_counted_and_never_shown_on_the_site(ann):
    metrics_port = free_port()

    def holds_both(seen):
        return len(seen.by("process_resident_bytes", "slot")) == 2

    with ExitStack() as first:
        port = first.enter_context(web(METRICS_PORT=str(metrics_port)))
        # First: the process has not declared any job when it is asked.
        training_may_wait_for_an_hour(port)
        for _ in range(3):
            assert status_of(port, "/health/live") == 200
        assert [status_of(port, path) for path in ("/metrics", "/nowhere")] == [404, 404]
        assert status_of(port, "/health/live", method="BREW") == 405
        seen = scrape_until(metrics_port, lambda seen: seen.total("requests_total") >= 8)
        streams_are_counted_while_they_are_open(port, metrics_port, ann)
        wait_until_idle(port)
        with web(METRICS_PORT=str(metrics_port)) as later:
            scrape_until(metrics_port, holds_both)
            assert status_of(later, "/health/live") == 200
            wait_until_idle(later)
            first.close()
            # Another process of the group serves when the first has ended.
            both = scrape_until(metrics_port, lambda seen: not holds_both(seen))
    live = {"route": "health/live"}
    assert seen.total("requests_total", **live, method="GET", status="200") == 3
    assert seen.total("requests_total", **live, method="other", status="405") == 1
    assert seen.total("requests_total", route="none", status="404") == 2
    assert seen.total("request_seconds_count", **live) == 4
    assert seen.total("process_resident_bytes", slot="0") > 1e6
    assert seen.total("disk_size_bytes", holds="data") > 1e6
    assert both.total("requests_total", **live, status="200") == 4
    # What is read of the database is served by the relay alone, once.
    assert seen.total("database_up") == seen.total("jobs") == 0


def training_may_wait_for_an_hour(port):
    def finding(minutes):
        due = timezone.now() - timedelta(minutes=minutes)
        Job.objects.update_or_create(name=NAME, defaults={"due_at": due})
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/health")
            parts = json.load(connection.getresponse())["parts"]
        (part,) = [part for part in parts if part["name"] == "jobs"]
        return part["status"], part["detail"]

    assert finding(50) == ("ok", "1 job waiting")
    time.sleep(health.CACHE_SECONDS)
    status, detail = finding(70)
    assert status == "failed"
    assert detail.startswith("1 train job waiting, the oldest for 420")


def streams_are_counted_while_they_are_open(port, metrics_port, ann):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", "/ai/chat/events", headers=ann.headers)
        assert connection.getresponse().status == 200
        scrape_until(
            metrics_port, lambda seen: seen.by("streams", "route") == {"ai/chat/events": 1}
        )
    seen = scrape_until(metrics_port, lambda seen: seen.by("streams", "route") == {})
    assert seen.total("requests_total", route="ai/chat/events", status="200") == 1
    assert seen.total("request_seconds_count", route="ai/chat/events") == 0


def test_nothing_is_loaded_without_a_port():
    code = (
        "import sys, chatplatform.asgi; from chatplatform.observing import metrics, tracing;"
        "assert not {'prometheus_client', 'opentelemetry.exporter'} & set(sys.modules);"
        "assert metrics.REQUESTS.made is None and not tracing.is_on()"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "chatplatform.settings"}
    env = env | {"METRICS_PORT": "0", "DATABASE_URL": database_url()}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


@contextmanager
def bulk_worker(broker, metrics_port):
    """A worker with two children, each of which is replaced after two jobs."""
    command = [
        sys.executable, "-m", "celery", "--quiet", "-A", "chatplatform", "worker",
        "--without-gossip", "--without-mingle", "--without-heartbeat", "-n", "worker-bulk@%h",
        "--pool", "prefork", "--concurrency", "2", "-Q", "train", "--loglevel", "warning",
        "--max-tasks-per-child", "2",
    ]  # fmt: skip
    own = {
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings",
        "DATABASE_URL": database_url(),
        "REDIS_URL": broker.url,
        "SECRET_KEY": django_settings.SECRET_KEY,
        "METRICS_PORT": str(metrics_port),
    }
    process = subprocess.Popen(command, env={**os.environ, **own})
    try:
        yield
    finally:
        process.kill()
        process.wait(5)


@pytest.mark.drill
def test_jobs_of_all_children_are_counted_also_of_those_that_were_replaced(tmp_path):
    broker, metrics_port = Valkey(make_data_dir(tmp_path / "broker")), free_port()
    broker.start()
    sender = Celery(broker=broker.url, set_as_current=False)
    try:
        for _ in range(9):
            jobs.enqueue(NAME, client_id=None, names=[])
        with bulk_worker(broker, metrics_port), sender.connection_for_write() as connection:
            for job_id in Job.objects.values_list("pk", flat=True):
                kwargs = {"job_id": job_id}
                sender.send_task(NAME, kwargs=kwargs, queue="train", connection=connection)
            seen = scrape_until(
                metrics_port, lambda seen: seen.total("job_runs_total", name=NAME) >= 9
            )
    finally:
        broker.stop(secs=3)
    assert seen.total("job_runs_total", name=NAME, queue="train", outcome="done") == 9
    assert seen.total("job_seconds_count", name=NAME, queue="train") == 9
    # The worker and two children; a new child may come before the old one has gone.
    assert set(seen.by("process_cpu_seconds_total", "slot")) <= {"0", "1", "2", "3", "4"}


def test_jobs_are_counted_by_how_they_end(counts, work):
    failures = iter([RuntimeError("once"), jobs.GiveUp("never")])

    def fail(**_):
        raise next(failures)

    work.act = fail
    jobs.enqueue(WORK, client_id=None, dedupe_key="a")
    run_jobs()
    assert counts().by("job_runs_total", "outcome") == {"retried": 1}
    Job.objects.update(due_at=Now())
    run_jobs()
    work.act = lambda **_: None
    jobs.enqueue(WORK, client_id=None)
    run_jobs()
    seen = counts()
    assert seen.by("job_runs_total", "outcome") == {"retried": 1, "dead": 1, "done": 1}
    assert seen.by("job_seconds_count", "queue") == {"reply": 3}


def test_the_wait_for_a_slot_is_not_part_of_a_jobs_time(counts, work):
    jobs.enqueue(WORK, client_id=1)
    job = Job.objects.get()
    with cpu_slots.hold(1, "reply"):
        waiting, _ = in_thread(lambda: leases.run(job.pk))
        time.sleep(WAIT_SECONDS)
        assert waiting.is_alive()
    waiting.join()
    seen = counts()
    assert seen.total("job_seconds_count", name=WORK) == 1
    assert seen.total("job_seconds_sum", name=WORK) < WAIT_SECONDS / 2


def test_the_wait_for_the_relay_is_that_of_jobs_without_an_ordering_key(counts):
    jobs.enqueue(NAME, client_id=None, names=[])
    jobs.enqueue(NAME, client_id=None, ordering_key="a", names=[])
    assert len(relay.take_due()) == 2
    assert counts().total("relay_seconds_count") == 1


def test_the_backlog_is_read(ann):
    for made in (JobState.QUEUED, JobState.RUNNING, JobState.DEAD, JobState.DONE):
        Job.objects.create(name=NAME, state=made)
    Job.objects.create(name="of.another_release")
    found = {(row.metric.name.removeprefix("chatplatform_"), row.labels): row.value
             for row in infrastructure_metrics.read()}  # fmt: skip
    for state in ("queued", "running", "dead"):
        assert found["jobs", ("train", NAME, state)] == 1
    assert ("jobs", ("train", NAME, "done")) not in found
    assert found["jobs", ("unknown", "of.another_release", "queued")] == 1
    assert found["job_oldest_seconds", ("train",)] >= 0
    assert found["job_oldest_seconds", ("reply",)] == 0
    assert found["database_up", ()] == found["broker_up", ()] == 1
    assert found["database_connections", ("active",)] >= 1
    assert found["database_connection_limit", ()] > 1
    assert found["database_bytes", ()] > 1_000_000
    assert found["broker_saves", ()] == 1
    assert abs(found["clock_skew_seconds", ()]) < 5


def test_each_host_shows_its_disks_its_clock_and_its_backup(settings, tmp_path):
    def found():
        return {(row.metric.name.removeprefix("chatplatform_"), *row.labels): row.value
                for row in host.read()}  # fmt: skip

    settings.DATA_DIR = tmp_path
    seen = found()
    assert abs(seen["clock_seconds",] - time.time()) < 5
    assert 0 < seen["disk_free_bytes", "data"] <= seen["disk_size_bytes", "data"]
    assert ("backup_timestamp_seconds",) not in seen
    (tmp_path / "last-backup").touch()
    assert abs(found()["backup_timestamp_seconds",] - time.time()) < 60


def test_a_job_that_waits_for_an_older_one_of_its_key_is_not_late(work, nobody, monkeypatch):
    monkeypatch.setattr(health, "CACHE_SECONDS", 0)

    def late(**values):
        due = timezone.now() - timedelta(minutes=10)
        return Job.objects.create(name=WORK, due_at=due, **values)

    def oldest():
        rows = [row for row in infrastructure_metrics.read() if row.metric is metrics.JOB_OLDEST]
        (found,) = [row.value for row in rows if row.labels == ("reply",)]
        parts = {part["name"]: part for part in nobody.get("/health").json()["parts"]}
        return round(found / 60), parts["jobs"]["detail"].partition(", the oldest for ")[0]

    first = Job.objects.create(
        name=WORK, ordering_key="a", state=JobState.RUNNING,
        lease_until=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    late(ordering_key="a")
    assert oldest() == (0, "0 jobs waiting")
    # The first one is to be tried again, and not yet.
    Job.objects.filter(pk=first.pk).update(
        state=JobState.QUEUED, due_at=timezone.now() + timedelta(hours=1)
    )
    assert oldest() == (0, "0 jobs waiting")
    first.delete()
    assert oldest() == (10, "1 reply job waiting")
    late()
    assert oldest() == (10, "2 reply jobs waiting")


def test_a_job_that_no_relay_takes_back_is_late():
    gone = timezone.now() - timedelta(minutes=10)
    Job.objects.create(name="of.another_release", state=JobState.RUNNING, lease_until=gone)
    assert relay.sweep() == 0
    found = {
        row.labels: row.value
        for row in infrastructure_metrics.read()
        if row.metric is metrics.JOB_OLDEST
    }
    assert round(found["unknown",] / 60) == 10


def test_rows_of_months_that_nobody_made_are_counted(client_a):
    def rows():
        found = [row for row in infrastructure_metrics.read() if row.metric is metrics.DEFAULT_ROWS]
        return {labels[0].removeprefix("webhooks_"): value for _, value, labels in found}

    def wait_for(expected):
        connection.close()  # the server counts a session's rows when it ends, at the latest
        while rows() != expected:
            time.sleep(0.05)

    before = dict.fromkeys(("event", "payload", "delivery", "deliveryattempt"), 0)
    wait_for(before)
    with written_at(datetime(2041, 3, 15, tzinfo=UTC)):
        announce(client_a.pk, "thing.done", {})
    wait_for(before | {"event": 1})
    Event.objects.all().delete()
    wait_for(before)


def test_a_broker_that_is_away_is_a_reading(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    found = {row.metric.name: row.value for row in infrastructure_metrics.read()}
    assert found["chatplatform_broker_up"] == 0
    assert found["chatplatform_database_up"] == 1


def test_a_slot_belongs_to_one_process_and_is_taken_over_after_its_death(tmp_path):
    freed: list[int] = []
    slots = Slots(tmp_path, freed.append)
    assert slots.current() == slots.current() == 0
    ready, stop = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.write(ready[1], bytes([slots.current()]))
        os.read(stop[0], 1)
        os._exit(0)
    assert os.read(ready[0], 1) == b"\x01"
    assert dict(slots.running()) == {0: os.getpid(), 1: child}
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    freed.clear()
    assert dict(slots.running()) == {0: os.getpid()}
    assert freed == [1]
