"""Deliveries to real sockets: signing, retries, limits, and what the receiver gets."""

import socket
import threading
import time
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection, transaction
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from chatplatform import signatures
from chatplatform.testing import make_month, run_before, run_jobs, written_at
from identity.services import move_freeze
from webhooks import transport
from webhooks.models import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    Payload,
    WebhookConfig,
)
from webhooks.services import announce, deliveries, endpoints
from webhooks.services.dispatcher import LEASE_SECONDS, Dispatcher
from webhooks.transport import RETRY_DELAYS, Fault, Outcome

pytestmark = pytest.mark.django_db(transaction=True)


def attempts(**filters):
    return list(DeliveryAttempt.objects.filter(**filters).order_by("delivery_id", "number"))


def seconds_until(moment):
    return (moment - timezone.now()).total_seconds()


def test_the_official_library_verifies_it(client_a, listening, receiver, deliver):
    event = announce(client_a.pk, "message.created", {"message": {"text": "Grüße 👋 \\/"}})
    deliver()
    (body,) = receiver.verify(listening.secret)
    assert body["id"] == receiver.ids[0] == f"evt_{event.pk.hex}"
    assert body["data"] == event.data
    assert receiver.got[0][0]["content-type"] == "application/json"
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.due_at) == (DeliveryState.SUCCEEDED, 1, None)
    (attempt,) = attempts()
    assert (attempt.number, attempt.http_status, attempt.error) == (1, 200, None)
    assert attempt.response_excerpt == "ok"


def test_of_a_frozen_client_they_wait(client_a, listening, receiver, deliver, dispatcher):
    announce(client_a.pk, "message.created", {})
    move_freeze.freeze(client_a, by=None)
    assert not dispatcher.tick()
    assert Delivery.objects.get().attempts == 0
    move_freeze.unfreeze(client_a, by=None)
    deliver()
    assert len(receiver.got) == 1


def test_the_library_refuses_changed_requests(client_a, listening, receiver, deliver):
    announce(client_a.pk, "message.created", {"n": 1})
    deliver()
    headers, body = receiver.got[0]
    hook = Webhook(listening.secret)
    assert hook.verify(body, headers)
    wrong = [
        (hook, body.replace(b"1", b"2", 1), headers),
        (hook, body, {**headers, "webhook-id": "evt_" + "0" * 32}),
        (Webhook(signatures.new_secret()), body, headers),
    ]
    for verifier, sent, sent_headers in wrong:
        with pytest.raises(WebhookVerificationError):
            verifier.verify(sent, sent_headers)


@pytest.mark.parametrize(
    ("age", "is_taken"), [(-298, True), (298, True), (-303, False), (303, False)]
)
def test_signatures_expire(age, is_taken):
    secret, body, at = signatures.new_secret(), b'{"a":1}', int(time.time()) + age
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(at),
        "webhook-signature": signatures.sign(secret, event_id="evt_1", timestamp=at, body=body),
    }
    if is_taken:
        assert Webhook(secret).verify(body, headers) == {"a": 1}
    else:
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body, headers)


def test_both_secrets_sign_after_a_rotation(client_a, ann, listening, receiver, deliver):
    old = listening.secret
    new = endpoints.rotate_secret(listening, by=ann.user).secret
    announce(client_a.pk, "message.created", {})
    deliver()
    assert receiver.verify(old) == receiver.verify(new)
    assert len(receiver.got[0][0]["webhook-signature"].split(" ")) == 2
    WebhookConfig.objects.update(previous_secret_until=timezone.now() - timedelta(seconds=1))
    announce(client_a.pk, "message.created", {})
    deliver()
    headers, body = receiver.got[1]
    assert Webhook(new).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(body, headers)


@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("status:500", (500, Fault.BAD_STATUS)),
        ("status:404", (404, Fault.BAD_STATUS)),
        ("redirect", (301, Fault.REDIRECT)),
        ("close", (None, Fault.CONNECTION_FAILED)),
        ("hang", (None, Fault.TIMEOUT)),
        ("drip", (None, Fault.TIMEOUT)),
    ],
)
def test_a_bad_answer_is_retried(listening, receiver, deliver, settings, script, result):
    if Fault.TIMEOUT in result:
        settings.WEBHOOK_TIMEOUT_SECONDS = 0.4
    receiver.script = script
    announce(listening.client_id, "message.created", {})
    started_at = timezone.now()
    deliver()
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.lease_token) == (DeliveryState.FAILED, 1, None)
    assert row.due_at
    assert row.due_at - started_at > timedelta(seconds=3.5)
    assert seconds_until(row.due_at) < 6.5
    (attempt,) = attempts()
    assert (attempt.http_status, attempt.error) == result
    assert receiver.landed == 0, "a redirect was followed"
    listening.refresh_from_db()
    assert listening.consecutive_failures == 1
    assert listening.failing_since is not None


def test_an_endpoint_where_nobody_listens_says_so(client_a, listening, deliver, settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host_port = f"127.0.0.1:{taken.getsockname()[1]}"
        settings.EGRESS_ALLOW = [host_port]
        WebhookConfig.objects.update(url=f"http://{host_port}/")
        announce(client_a.pk, "message.created", {})
        deliver()
    assert Delivery.objects.get().state == DeliveryState.FAILED
    assert attempts()[0].error == Fault.CONNECTION_REFUSED


def test_a_long_answer_is_a_success(client_a, listening, receiver, deliver):
    receiver.script = "long"
    announce(client_a.pk, "message.created", {})
    deliver()
    assert Delivery.objects.get().state == DeliveryState.SUCCEEDED
    assert attempts()[0].response_excerpt == "x" * 1000


def test_all_attempts_of_three_days(client_a, listening, receiver, deliver, make_due):
    receiver.script = "status:500"
    announce(client_a.pk, "message.created", {"n": 1})
    waits = []
    for _ in RETRY_DELAYS:
        started_at = timezone.now()
        deliver()
        due = Delivery.objects.get().due_at
        waits.append((due - started_at).total_seconds() if due else 0)
        make_due()
    assert waits.pop() == 0
    for wait, step in zip(waits, RETRY_DELAYS[1:], strict=True):
        assert 0.8 * step <= wait <= 1.2 * step + 5
    deliver()
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == (DeliveryState.GAVE_UP, 10)
    assert [attempt.number for attempt in attempts()] == list(range(1, 11))
    assert len(set(receiver.ids)) == 1
    assert len({body for _, body in receiver.got}) == 1, "every attempt sends the same bytes"
    assert len(receiver.verify(listening.secret)) == 10


def test_jitter_and_scale(settings):
    failed = Outcome(Fault.TIMEOUT)
    waits = [transport.seconds_until_retry(3, failed) or 0 for _ in range(200)]
    assert 0.8 * 1800 <= min(waits) < 1750
    assert 1850 < max(waits) <= 1.2 * 1800
    settings.WEBHOOK_RETRY_SCALE = 1000
    assert (transport.seconds_until_retry(9, failed) or 0) <= 104
    assert transport.seconds_until_retry(10, failed) is None


def test_retry_after_is_honoured(client_a, listening, receiver, deliver):
    receiver.script = "busy:120"
    for number in range(3):
        announce(client_a.pk, "message.created", {"n": number})
    deliver()
    assert len(receiver.got) <= 2, "the whole endpoint is paused"
    due = Delivery.objects.filter(attempts=1).values_list("due_at", flat=True)[0]
    assert 118 < seconds_until(due) < 121
    listening.refresh_from_db()
    assert 100 < seconds_until(listening.paused_until) < 121


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("120", 120), ("0", 0), ("999999999", 86_400), ("soon", None), ("-1", None), ("", None),
     ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400)],
)  # fmt: skip
def test_values_of_retry_after(header, seconds):
    assert transport.parse_retry_after({"retry-after": header}) == seconds


def test_410_switches_the_endpoint_off(
    client_a, ann, listening, receiver, deliver, django_capture_on_commit_callbacks
):
    receiver.script = "status:410"
    for number in range(5):
        announce(client_a.pk, "message.created", {"n": number})
    deliver()
    assert run_jobs() == 2  # give up, and mail Ann
    listening.refresh_from_db()
    assert (listening.is_active, listening.disabled_reason) == (False, "gone")
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.GAVE_UP}
    errors = {attempt.error for attempt in attempts()}
    assert errors == {Fault.GONE, Fault.ENDPOINT_DISABLED}
    sent = len(receiver.got)
    announce(client_a.pk, "message.created", {})
    deliver()
    assert len(receiver.got) == sent <= 2
    assert Delivery.objects.count() == 5


@pytest.mark.full
def test_a_flapping_endpoint_gets_everything_with_the_same_ids(
    client_a, listening, receiver, deliver, make_due
):
    receiver.script = "flap"
    announced = [announce(client_a.pk, "message.created", {"n": n}) for n in range(20)]
    for _ in range(10):
        deliver()
        if not make_due():
            break
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.SUCCEEDED}
    assert set(receiver.ids) == {f"evt_{event.pk.hex}" for event in announced}
    listening.refresh_from_db()
    assert listening.consecutive_failures == 0
    assert listening.failing_since is None


def test_the_breaker_opens_and_a_success_closes_it(
    client_a, listening, receiver, deliver, make_due
):
    receiver.script = "status:500"
    for number in range(20):
        announce(client_a.pk, "message.created", {"n": number})
    deliver()
    assert 5 <= len(receiver.got) <= 6, "the rest waits"
    listening.refresh_from_db()
    assert listening.paused_until > timezone.now()
    receiver.script = "fine"
    make_due()
    deliver()
    assert Delivery.objects.filter(state=DeliveryState.SUCCEEDED).count() == 20
    listening.refresh_from_db()
    assert (listening.paused_until, listening.consecutive_failures) == (None, 0)


def test_at_most_two_in_flight_to_an_endpoint(client_a, listening, receiver, settings):
    receiver.script = "hang"
    settings.WEBHOOK_TIMEOUT_SECONDS = 60
    for number in range(6):
        announce(client_a.pk, "message.created", {"n": number})
    dispatchers = [Dispatcher(threads=8), Dispatcher(threads=8)]
    for _ in range(3):
        for dispatcher in dispatchers:
            dispatcher.tick()
    assert Delivery.objects.filter(lease_token__isnull=False).count() == 2
    assert sum(len(dispatcher._in_flight) for dispatcher in dispatchers) == 2
    receiver.release.set()
    for dispatcher in dispatchers:
        dispatcher.drain(20)
    assert len(receiver.got) == 2


@pytest.mark.full
def test_two_concurrent_dispatchers_deliver_once(client_a, make_endpoint, make_receiver):
    receivers = [make_receiver() for _ in range(4)]
    for receiver in receivers:
        make_endpoint(client_a, url=receiver.url)
    announced = [announce(client_a.pk, "message.created", {"n": n}) for n in range(50)]

    def work():
        dispatcher = Dispatcher(threads=8)
        ends_at = time.monotonic() + 60
        while Delivery.objects.filter(due_at__isnull=False).exists():
            assert time.monotonic() < ends_at
            dispatcher.tick()
            dispatcher.woken.wait(0.01)
        dispatcher.drain(1)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    expected = sorted(f"evt_{event.pk.hex}" for event in announced)
    assert all(sorted(receiver.ids) == expected for receiver in receivers)
    assert DeliveryAttempt.objects.count() == 200


@pytest.mark.full
def test_slow_endpoints_do_not_delay_others(
    client_a, make_endpoint, make_receiver, dispatcher, settings
):
    settings.WEBHOOK_TIMEOUT_SECONDS = 60
    good = make_receiver()
    for script in ("hang", "drip", "hang", "drip", "hang"):
        make_endpoint(client_a, url=make_receiver(script).url)
    make_endpoint(client_a, url=good.url)
    started_at = time.monotonic()
    for number in range(40):
        announce(client_a.pk, "message.created", {"n": number})
    while len(good.got) < 40:
        # None of the slow endpoints has ended by then.
        assert time.monotonic() - started_at < 50, f"only {len(good.got)} came"
        dispatcher.tick()
        dispatcher.woken.wait(0.01)


def test_an_attempt_of_a_dead_dispatcher_is_interrupted_and_repeated(
    client_a, listening, receiver, deliver
):
    announce(client_a.pk, "message.created", {})
    dead = Dispatcher(threads=2)
    requests: list[transport.DeliveryRequest] = []
    with patch.object(dead, "_start", requests.append):
        dead.tick()
    assert len(requests) == 1
    deliver()
    assert receiver.got == [], "its lease still runs"
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    deliver()
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == (DeliveryState.SUCCEEDED, 2)
    assert [(attempt.number, attempt.error) for attempt in attempts()] == [
        (1, "interrupted"),
        (2, None),
    ]
    # The dead dispatcher continues later: its result is discarded.
    with transaction.atomic():
        dead._record([(requests[0], Outcome(Fault.TIMEOUT))])
    assert Delivery.objects.get().state == DeliveryState.SUCCEEDED
    assert len(attempts()) == 2
    dead.drain(0)


def test_an_eleventh_attempt_is_not_made(client_a, listening, receiver, deliver):
    announce(client_a.pk, "message.created", {})
    Delivery.objects.update(attempts=9)
    dead = Dispatcher(threads=2)
    with patch.object(dead, "_start"):
        dead.tick()
    assert Delivery.objects.get().attempts == 10
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    deliver()
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.due_at) == (DeliveryState.GAVE_UP, 10, None)
    assert row.lease_token is None
    assert [(attempt.number, attempt.error) for attempt in attempts()] == [(10, "interrupted")]
    assert receiver.got == []
    dead.drain(0)
    assert deliveries.retry(row)
    deliver()
    assert len(receiver.got) == 1, "a manual retry starts over"
    assert Delivery.objects.get().attempts == 11


def test_a_slow_attempt_keeps_its_lease(client_a, listening, receiver, dispatcher, make_due):
    receiver.script = "hang"
    announce(client_a.pk, "message.created", {})
    dispatcher.tick()
    other = Dispatcher(threads=2)
    for _ in range(3):
        make_due()  # the lease ends now
        dispatcher._renewed_at -= LEASE_SECONDS / 4  # so long ago that it is renewed
        dispatcher.tick()
        other.tick()
        assert Delivery.objects.get().attempts == 1
    make_due()
    other.tick()
    assert Delivery.objects.get().attempts == 2, (
        "the lease was not renewed, so the other dispatcher took it"
    )
    receiver.release.set()
    for working in (dispatcher, other):
        working.drain(20)
    assert len(receiver.got) == 2


def test_a_stopping_dispatcher_hands_back_unfinished_deliveries(client_a, listening, receiver):
    receiver.script = "hang"
    announce(client_a.pk, "message.created", {})
    stopping = Dispatcher(threads=2)
    stopping.tick()
    stopping.drain(0.1)
    assert seconds_until(Delivery.objects.get().due_at) <= 0
    receiver.release.set()


def test_a_delivery_given_up_while_it_is_sent_stays_so(
    client_a, ann, listening, receiver, dispatcher
):
    announce(client_a.pk, "message.created", {})

    def delete():
        endpoints.delete(listening, by=ann.user)
        assert run_jobs() == 1

    with run_before("webhooks.services.delivery_outcomes.next_state", delete):
        dispatcher.tick()
        dispatcher.woken.wait(30)
        dispatcher.tick()
    assert Delivery.objects.get().state == DeliveryState.GAVE_UP


def test_secrets_are_redacted_from_excerpts():
    secret = signatures.new_secret()
    excerpt = transport.make_excerpt(
        f'{{"echo": "{secret}", "Authorization": "Bearer abc.def", "api_key":"k-1", n: 5,'
        f" token=xyz; hello\x00".encode(),
        [secret],
    )
    for hidden in (secret, secret[6:], "abc.def", "k-1", "xyz", "\x00"):
        assert hidden not in excerpt
    assert "hello" in excerpt
    assert "n: 5" in excerpt
    assert len(transport.make_excerpt(b"\xff" * 5000)) == 1000


def test_an_unreadable_secret_does_not_stop_other_endpoints(
    client_a, listening, receiver, make_endpoint, deliver
):
    broken = make_endpoint(client_a, url=receiver.url)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE webhooks_webhookconfig SET secret = 'v1:s1:AAAA' WHERE id = %s", [broken.pk]
        )
    announce(client_a.pk, "message.created", {})
    deliver()
    assert len(receiver.verify(listening.secret)) == 1
    row = Delivery.objects.get(config_id=broken.pk)
    assert (row.state, row.log.get().error) == (DeliveryState.FAILED, Fault.INTERRUPTED)


def test_an_old_event_keeps_its_body_while_its_delivery_waits(
    client_a, listening, receiver, deliver, make_due
):
    receiver.script = "status:500"
    long_ago = timezone.now() - deliveries.RETENTION - timedelta(days=31)
    make_month(long_ago, Delivery, Payload)
    with written_at(long_ago):
        event = announce(client_a.pk, "message.created", {"n": 1})
    deliver()
    Delivery.objects.update(created_at=long_ago)
    deliveries.purge_expired()
    receiver.script = "fine"
    assert make_due() == 1
    deliver()
    assert Delivery.objects.get().state == DeliveryState.SUCCEEDED
    assert receiver.ids == [f"evt_{event.pk.hex}"] * 2
    assert receiver.got[0][1] == receiver.got[1][1]
    deliveries.purge_expired()
    assert not Delivery.objects.exists()
    assert not Payload.objects.exists(), "no delivery needs it any more"


def test_idle_connections_are_closed_beyond_the_limit(
    client_a, make_endpoint, make_receiver, dispatcher, monkeypatch
):
    monkeypatch.setattr("webhooks.services.dispatcher.MAX_CLIENTS", 4)
    slow = make_receiver("late")
    clients = []

    def send_to_new_endpoint(receiver):
        config = make_endpoint(client_a, url=receiver.url)
        announce(client_a.pk, "message.created", {}, only_to=config.pk)
        ends_at = time.monotonic() + 60
        # Only the slow request stays in flight.
        while not receiver.got or len(dispatcher._in_flight) > 1:
            assert time.monotonic() < ends_at
            dispatcher.tick()
            dispatcher.woken.wait(0.02)
        clients.append(dispatcher._clients[config.pk].client)

    for receiver in (slow, *(make_receiver() for _ in range(3))):
        send_to_new_endpoint(receiver)
    assert not any(client.is_closed for client in clients)
    send_to_new_endpoint(make_receiver())
    assert [client.is_closed for client in clients] == [False, True, True, True, False], (
        "the first is in use, the last is the newest"
    )
    assert len(dispatcher._clients) == 2
    slow.release.set()
    dispatcher.drain(30)
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.SUCCEEDED}
