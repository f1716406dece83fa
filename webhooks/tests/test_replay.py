"""Replay Webhook Event and Replay Webhook Events: the same id and body, new attempts."""

import uuid
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from chatplatform.models import Job
from chatplatform.testing import idle_transaction, run_jobs
from webhooks.models import Delivery, DeliveryState, Event, Payload, WebhookConfig
from webhooks.services import announce, deliveries

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/webhook/events/{}/replay"


def path_of(event):
    return PATH.format(f"evt_{event.pk.hex}")


@pytest.fixture
def delivered(client_a, listening, deliver):
    event = announce(client_a.pk, "message.created", {"b": 1, "a": "Grüße"})
    deliver()
    return event


def test_the_same_id_and_the_same_bytes(ann, delivered, receiver, listening, deliver):
    reply = ann.post(path_of(delivered))
    assert reply.status_code == 200
    (sent,) = reply.json()["deliveries"]
    assert (sent["status"], sent["attempt"]) == ("pending", 1)
    deliver()
    assert [headers["webhook-id"] for headers, _ in receiver.got] == [reply.json()["id"]] * 2
    assert receiver.got[0][1] == receiver.got[1][1]
    assert len(receiver.verify(listening.secret)) == 2
    (again,) = ann.get("/webhook/events").json()["items"][0]["deliveries"]
    assert [attempt["attempt"] for attempt in again["attempts"]] == [1, 2]
    assert again["status"] == "succeeded"


def test_a_replay_restarts_the_attempts(ann, delivered, receiver, deliver, make_due):
    receiver.script = "status:500"
    Delivery.objects.update(state=DeliveryState.GAVE_UP, attempts=10)
    assert ann.post(path_of(delivered)).status_code == 200
    for _ in range(10):
        deliver()
        make_due()
    row = Delivery.objects.get()
    assert (row.attempts, row.state, row.due_at) == (20, DeliveryState.GAVE_UP, None)


def test_an_event_that_was_deleted_meanwhile_is_not_queued(delivered, client_a, listening):
    stale = Event.objects.get()
    stale.delete()
    stale.pk = delivered.pk
    assert not Payload.objects.exists()
    deliveries._queue([stale], listening.pk)
    assert not Delivery.objects.exists()
    assert not Payload.objects.exists(), "nobody would ever delete its body"


def test_a_replay_waits_for_who_deletes_its_event(delivered, listening):
    with idle_transaction(lambda: Event.objects.select_for_update().get()), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '100ms'")
        with pytest.raises(OperationalError):
            deliveries._queue([delivered], listening.pk)


def test_to_an_endpoint_created_later(ann, client_a, make_endpoint, make_receiver, deliver):
    event = announce(client_a.pk, "message.created", {"a": 1})
    late = make_receiver()
    config = make_endpoint(client_a, url=late.url)
    assert ann.post(path_of(event)).status_code == 200
    deliver()
    assert late.verify(config.secret)[0]["id"] == late.ids[0] == f"evt_{event.pk.hex}"


def test_only_to_endpoints_that_take_the_type(ann, client_a, make_endpoint):
    event = announce(client_a.pk, "message.created", {})
    make_endpoint(client_a, event_types=["message.read"])
    off = make_endpoint(client_a, is_active=False)
    for query in ("", f"?config_id={off.pk}"):
        reply = ann.post(path_of(event) + query)
        assert (reply.status_code, reply.json()["code"]) == (409, "endpoint_disabled")
    assert not Delivery.objects.exists()
    assert not Payload.objects.exists()


def test_a_delivery_in_flight_is_left_alone(ann, client_a, endpoint):
    event = announce(client_a.pk, "message.created", {})
    lease, until = uuid.uuid4(), timezone.now() + timedelta(seconds=20)
    Delivery.objects.update(lease_token=lease, due_at=until, attempts=1)
    assert ann.post(path_of(event)).status_code == 200
    row = Delivery.objects.get()
    assert (row.lease_token, row.due_at, row.attempts_before_replay) == (lease, until, 0)


def test_another_clients_event_and_endpoint(ann, ben, cara, client_a, client_b, make_endpoint):
    event, theirs = announce(client_a.pk, "message.created", {}), make_endpoint(client_b)
    make_endpoint(client_a)
    assert cara.post(path_of(event)).status_code == 404
    assert ben.post(path_of(event)).status_code == 403
    assert ann.post(path_of(event) + f"?config_id={theirs.pk}").status_code == 404
    body = {"created_from": "2026-01-01T00:00:00Z", "config_id": str(theirs.pk)}
    assert ann.post("/webhook/replay", body).status_code == 404
    assert not Delivery.objects.exists()


class TestRange:
    def ask(self, caller, **body):
        start = (timezone.now() - timedelta(days=1)).isoformat()
        return caller.post("/webhook/replay", {"created_from": start, **body})

    def test_deliveries_that_gave_up(self, ann, client_a, endpoint):
        announced = [announce(client_a.pk, "message.created", {}) for _ in range(4)]
        gone = [event.pk for event in announced[:2]]
        Delivery.objects.filter(event__in=gone).update(state=DeliveryState.GAVE_UP, due_at=None)
        Delivery.objects.exclude(event__in=gone).update(state=DeliveryState.SUCCEEDED, due_at=None)
        reply = self.ask(ann)
        assert reply.status_code == 202
        assert reply.json()["config_id"] == str(endpoint.pk)
        assert run_jobs() == 1
        assert set(
            Delivery.objects.filter(due_at__isnull=False).values_list("event_id", flat=True)
        ) == set(gone)

    def test_events_missed_while_the_endpoint_was_off(self, ann, client_a, endpoint, monkeypatch):
        monkeypatch.setattr("webhooks.services.deliveries._BATCH", 2)
        WebhookConfig.objects.update(is_active=False)
        missed = [announce(client_a.pk, "message.created", {}).pk for _ in range(5)]
        announce(client_a.pk, "message.read", {})
        WebhookConfig.objects.update(is_active=True, event_types=["message.created"])
        assert self.ask(ann, state="missing").status_code == 202
        run_jobs()
        queued = Delivery.objects.order_by("id").values_list("event_id", flat=True)
        assert list(queued) == missed
        assert Payload.objects.count() == 5
        Job.objects.update(state="queued", attempts=0)
        run_jobs()
        assert Delivery.objects.count() == 5, "a job may run twice"

    def test_only_the_range_and_type(self, ann, client_a, endpoint):
        old = announce(client_a.pk, "message.created", {})
        Event.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=2))
        new = announce(client_a.pk, "message.created", {})
        announce(client_a.pk, "message.read", {})
        Delivery.objects.update(state=DeliveryState.SUCCEEDED, due_at=None)
        self.ask(ann, state="all", type="message.created")
        run_jobs()
        assert Delivery.objects.get(due_at__isnull=False).event_id == new.pk

    @pytest.mark.parametrize(
        "body",
        [{}, {"created_from": "2020-01-01T00:00:00Z"}, {"created_from": "2999-01-01T00:00:00Z"},
         {"created_from": "now"}, {"created_from": "2026-01-01T00:00:00Z", "state": "lost"}],
    )  # fmt: skip
    def test_wrong_body(self, ann, endpoint, body):
        assert ann.post("/webhook/replay", body).status_code == 422
        assert not Job.objects.exists()

    def test_an_endpoint_that_is_off_is_refused(self, ann, client_a, make_endpoint):
        make_endpoint(client_a, is_active=False)
        assert self.ask(ann).json()["code"] == "endpoint_disabled"
        assert not Job.objects.exists()
