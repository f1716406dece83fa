"""The worker that delivers, as a real process without a broker."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from chatplatform.jobs.stop_event import Stop
from chatplatform.jobs.worker_process import run_loop
from chatplatform.testing.web_process import database_url, free_port
from webhooks.models import Delivery, DeliveryState, Event, WebhookConfig
from webhooks.services import announce, deliveries, dispatcher

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


@contextmanager
def worker(receiver, **environment):
    """A worker of the queue `webhook` on this test's database; its broker does not answer."""
    command = [
        sys.executable, "-m", "celery", "--quiet", "-A", "chatplatform", "worker",
        "-n", "worker-webhook@%h", "--pool", "threads", "--concurrency", "2", "-Q", "webhook",
    ]  # fmt: skip
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings",
        "DATABASE_URL": database_url(),
        "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0",
        "SECRET_KEY": django_settings.SECRET_KEY,
        "EGRESS_ALLOW": receiver.host_port,
        **environment,
    }
    process = subprocess.Popen(command, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until(condition):
    """Wait for as long as a test may last: how fast the machine is decides nothing."""
    while not condition():
        time.sleep(0.02)


@pytest.mark.parametrize("shutdown", ["warm", "soft"])
def test_it_delivers_without_a_broker_and_finishes_on_shutdown(
    client_a, listening, receiver, shutdown
):
    announce(client_a.pk, "message.created", {"n": 1})
    remap = {"REMAP_SIGTERM": "SIGQUIT"} if shutdown == "soft" else {}
    with worker(receiver, **remap) as process:
        wait_until(lambda: Delivery.objects.filter(state=DeliveryState.SUCCEEDED).exists())
        assert process.poll() is None, "it ended without a broker"
        receiver.script = "late"
        announce(client_a.pk, "message.created", {"n": 2})
        wait_until(lambda: len(receiver.got) == 2)
        process.send_signal(signal.SIGTERM)
        receiver.release.set()
        process.wait()
    assert Delivery.objects.filter(state=DeliveryState.SUCCEEDED).count() == 2


def test_a_failing_loop_is_restarted(monkeypatch, caplog):
    stop, called = Stop(), []

    def fail(stop_event):
        called.append(stop_event)
        if len(called) == 3:
            stop.set()
        raise ValueError("our own failure")

    monkeypatch.setattr("chatplatform.jobs.worker_process.PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("webhooks.services.dispatcher.run", fail)
    run_loop("webhooks.services.dispatcher.run", stop)
    assert called == [stop] * 3
    assert len(caplog.records) == 3


def test_an_idle_dispatcher_waits_until_a_delivery_is_signalled(
    client_a, listening, receiver, monkeypatch
):
    stop = Stop()
    monkeypatch.setattr(dispatcher, "_seconds_to_next", lambda: 3600)
    thread = threading.Thread(target=dispatcher.run, args=(stop,))
    started_at = stop.turned_at
    thread.start()
    try:
        for number in (1, 2):
            announce(client_a.pk, "message.created", {"n": number})
            wait_until(lambda: not Delivery.objects.exclude(state=DeliveryState.SUCCEEDED).exists())
        deliveries.replay(Event.objects.latest("id"), listening)
        wait_until(lambda: len(receiver.got) == 3)
        assert stop.turned_at > started_at, "it counts as hanging"
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()
    assert len(receiver.got) == 3


def test_an_idle_dispatcher_does_not_look_while_an_endpoint_is_paused(client_a, listening):
    announce(client_a.pk, "message.created", {"n": 1})
    assert dispatcher._seconds_to_next() == dispatcher._WATCH_SECONDS
    WebhookConfig.objects.update(paused_until=timezone.now() + timedelta(seconds=4.5))
    assert dispatcher._WATCH_SECONDS < dispatcher._seconds_to_next() < 4.5
    WebhookConfig.objects.update(paused_until=timezone.now() + timedelta(hours=1))
    assert dispatcher._seconds_to_next() == dispatcher._IDLE_SECONDS
