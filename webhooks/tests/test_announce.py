"""announce(): stored with the change, numbered without gaps, queued for active endpoints."""

import uuid
from datetime import timedelta

import orjson
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatplatform.live import pubsub
from webhooks.models import Delivery, Event, Payload, WebhookConfig
from webhooks.services import announce


def test_an_event_is_stored(client_a):
    chat = uuid.uuid4()
    event = announce(client_a.pk, "thing.done", {"a": 1}, conversation_id=chat, sequence=1)
    stored = Event.objects.get(pk=event.pk)
    assert (stored.client_id, stored.type, stored.data) == (client_a.pk, "thing.done", {"a": 1})
    assert (stored.conversation_id, stored.sequence) == (chat, 1)
    assert stored.created_at == event.created_at


def test_a_rollback_announces_nothing(client_a, endpoint):
    with transaction.atomic():
        announce(client_a.pk, "thing.done", {})
        transaction.set_rollback(True)
    assert Event.objects.count() == Delivery.objects.count() == Payload.objects.count() == 0


def test_nothing_is_queued_without_an_endpoint(client_a, client_b, make_endpoint):
    make_endpoint(client_b)
    make_endpoint(client_a, is_active=False)
    make_endpoint(client_a, event_types=["message.read"])
    with CaptureQueriesContext(connection) as captured:
        announce(client_a.pk, "message.created", {})
    assert Delivery.objects.count() == Payload.objects.count() == 0
    assert len(captured) == 1


def test_each_endpoint_that_takes_the_type_gets_the_same_bytes(client_a, make_endpoint):
    every, some = make_endpoint(client_a), make_endpoint(client_a, event_types=["message.created"])
    make_endpoint(client_a, event_types=["message.read"])
    event = announce(client_a.pk, "message.created", {"message": {"text": "Grüße 👋"}})
    queued = Delivery.objects.filter(event_id=event.pk)
    assert {delivery.config_id for delivery in queued} == {every.pk, some.pk}
    assert {(row.state, row.attempts, row.is_test) for row in queued} == {("pending", 0, False)}
    body = orjson.loads(bytes(Payload.objects.get().body))
    assert body == {
        "id": f"evt_{event.pk.hex}",
        "type": "message.created",
        "timestamp": event.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "client_id": client_a.pk,
        "conversation_id": None,
        "sequence": None,
        "is_thin": False,
        "data": {"message": {"text": "Grüße 👋"}},
    }


def test_a_long_event_is_sent_thin(client_a, endpoint):
    event = announce(client_a.pk, "message.created", {"message": {"text": "x" * 21_000}})
    body = bytes(Payload.objects.get().body)
    assert len(body) < 1000
    assert orjson.loads(body)["is_thin"] is True
    assert orjson.loads(body)["data"] is None
    assert Event.objects.get(pk=event.pk).data["message"]["text"] == "x" * 21_000


def test_a_deleted_endpoint_gets_nothing(client_a, endpoint):
    WebhookConfig.objects.filter(pk=endpoint.pk).update(is_active=False)
    announce(client_a.pk, "message.created", {})
    assert not Delivery.objects.exists()


def test_dispatchers_are_not_signalled_while_every_endpoint_is_paused(
    client_a, endpoint, make_endpoint, monkeypatch
):
    signalled = []
    monkeypatch.setattr(pubsub, "signal_on_commit", lambda *names: signalled.append(names[1:]))
    announce(client_a.pk, "message.created", {})
    WebhookConfig.objects.update(paused_until=timezone.now() + timedelta(minutes=1))
    announce(client_a.pk, "message.created", {})
    announce(client_a.pk, "webhook.test", {}, only_to=endpoint.pk)
    make_endpoint(client_a)
    announce(client_a.pk, "message.created", {})
    assert signalled == [("deliveries",), (), ("deliveries",), ("deliveries",)]
    assert Delivery.objects.count() == 5
