"""Test Webhook, on the real web server: the receiver's answer, and the limit on tests."""

import http.client
import json
import threading
import time
from contextlib import closing

import pytest
from django.db import connection

from webhooks.models import Delivery, Event, WebhookConfig
from webhooks.services.dispatcher import Dispatcher

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def running_dispatcher(db):
    """Delivers until the test ends."""
    stop = threading.Event()

    def work():
        dispatcher = Dispatcher(threads=8)
        while not stop.is_set():
            dispatcher.tick()
            dispatcher.woken.wait(0.02)
        dispatcher.drain(0.5)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join(20)


def post(port, person, path="/webhook/test"):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", path, headers=person.headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())


@pytest.mark.full
def test_the_receivers_answer_is_returned(web_port, ann, listening, receiver, running_dispatcher):
    status, _, body = post(web_port, ann)
    assert status == 200
    assert (body["status"], body["http_status"], body["response_excerpt"]) == (
        "succeeded", 200, "ok",
    )  # fmt: skip
    assert body["duration_ms"] >= 0
    (event,) = receiver.verify(listening.secret)
    assert (event["type"], event["id"]) == ("webhook.test", body["event_id"])


def test_only_to_this_endpoint_even_if_it_is_off(
    web_port, ann, client_a, make_endpoint, make_receiver, running_dispatcher
):
    on, off = make_receiver(), make_receiver("status:503")
    make_endpoint(client_a, url=on.url)
    second = make_endpoint(client_a, url=off.url, is_active=False)
    status, _, body = post(web_port, ann, f"/webhook/test?config_id={second.pk}")
    assert (status, body["status"], body["http_status"]) == (200, "gave_up", 503)
    assert (len(on.got), len(off.got)) == (0, 1)
    assert Delivery.objects.get().due_at is None
    second.refresh_from_db()
    assert second.consecutive_failures == 0, "a test does not affect the endpoint's health"


def test_twenty_concurrent_tests_of_a_slow_receiver(
    web_port, ann, listening, receiver, running_dispatcher
):
    receiver.script = "hang"
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(post(web_port, ann))) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    ends_at = time.monotonic() + 12  # the slow one ends after 15 seconds
    while len(answers) < 19 and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert [status for status, _, _ in answers] == [429] * 19
    assert {headers["Retry-After"] for _, headers, _ in answers} == {"15"}
    assert answers[0][2]["code"] == "too_many_requests"
    with closing(http.client.HTTPConnection("127.0.0.1", web_port, timeout=5)) as monitor:
        monitor.request("GET", "/health/live")
        # Within the socket's five seconds, while the receiver still hangs.
        assert monitor.getresponse().status == 200, "the web threads are free"
    receiver.release.set()
    for thread in threads:
        thread.join(20)
    assert sorted(status for status, _, _ in answers) == [200] + [429] * 19
    assert len(receiver.got) == 1


def test_six_a_minute(ann, listening):
    for _ in range(6):
        assert ann.post("/webhook/test").status_code == 200
        Delivery.objects.update(due_at=None)
    assert ann.post("/webhook/test").status_code == 429
    assert Event.objects.count() == 6


def test_only_admins_of_the_client(ann, ben, cara, endpoint):
    assert ben.post("/webhook/test").status_code == 403
    assert cara.post("/webhook/test").status_code == 404
    assert cara.post(f"/webhook/test?config_id={endpoint.pk}").status_code == 404
    WebhookConfig.objects.all().delete()
    assert ann.post("/webhook/test").status_code == 404
    assert not Event.objects.exists()
