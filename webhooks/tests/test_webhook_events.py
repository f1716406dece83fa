"""Get Webhook Events and Get Webhook Event: the log, newest first."""

import uuid
from typing import Any

import pytest
from django.utils.timezone import now

from chatplatform.api.pagination import encode_cursor
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, FeedEntry
from webhooks.services import announce

PATH = "/webhook/events"
NEWEST = ["-position"]


def ids(reply):
    assert reply.status_code == 200, reply.content
    return [item["id"] for item in reply.json()["items"]]


def test_events_with_their_deliveries(ann, client_a, endpoint):
    chat = uuid.uuid4()
    first = announce(client_a.pk, "message.created", {"n": 1}, conversation_id=chat, sequence=1)
    second = announce(client_a.pk, "thing.done", {})
    row = Delivery.objects.get(event_id=first.pk)
    DeliveryAttempt.objects.create(
        client=client_a, delivery=row, number=1, http_status=500, duration_ms=12,
        error="bad_status", response_excerpt="no",
    )  # fmt: skip
    Delivery.objects.filter(pk=row.pk).update(attempts=1, state=DeliveryState.FAILED)
    reply = ann.get(PATH)
    assert ids(reply) == [f"evt_{second.pk.hex}", f"evt_{first.pk.hex}"]
    item = reply.json()["items"][1]
    assert (item["type"], item["data"], item["client_id"]) == (
        "message.created", {"n": 1}, client_a.pk,
    )  # fmt: skip
    assert (item["conversation_id"], item["sequence"]) == (str(chat), 1)
    (sent,) = item["deliveries"]
    assert sent["config_id"] == str(endpoint.pk)
    assert (sent["attempt"], sent["status"], sent["error"]) == (1, "failed", "bad_status")
    assert (sent["http_status"], sent["duration_ms"], sent["response_excerpt"]) == (500, 12, "no")
    assert sent["next_attempt_at"]
    assert [attempt["attempt"] for attempt in sent["attempts"]] == [1]
    assert ann.get(f"{PATH}/{item['id']}").json() == item


def test_an_unknown_type_is_refused_as_an_endpoints_is(ann, endpoint):
    replies = [
        ann.get(PATH, {"type": "no.such"}),
        ann.post("/webhook/replay", {"type": "no.such", "created_from": now().isoformat()}),
        ann.post("/webhook/config", {"url": endpoint.url, "event_types": ["no.such"]}),
    ]
    for reply in replies:
        assert reply.status_code == 422
        assert "There is no event type 'no.such'." in reply.json()["detail"][0]["msg"]


def test_filters(ann, client_a, endpoint, make_endpoint):
    chat = uuid.uuid4()
    first_event = announce(client_a.pk, "message.created", {}, conversation_id=chat, sequence=1)
    second_event = announce(client_a.pk, "message.read", {})
    Delivery.objects.filter(event_id=second_event.pk).update(
        state=DeliveryState.GAVE_UP, due_at=None
    )
    first, second = f"evt_{first_event.pk.hex}", f"evt_{second_event.pk.hex}"
    assert ids(ann.get(PATH, {"type": "message.created"})) == [first]
    assert ids(ann.get(PATH, {"conversation_id": str(chat)})) == [first]
    assert ids(ann.get(PATH, {"state": "gave_up"})) == [second]
    assert ids(ann.get(PATH, {"state": "pending"})) == [first]
    assert ids(ann.get(PATH, {"config_id": str(endpoint.pk)})) == [second, first]
    assert ids(ann.get(PATH, {"config_id": str(uuid.uuid4())})) == []
    assert ids(ann.get(PATH, {"created_from": second_event.created_at.isoformat()})) == [second]
    assert ids(ann.get(PATH, {"created_to": second_event.created_at.isoformat()})) == [first]


@pytest.mark.parametrize(
    "query",
    [{"order": "up"}, {"state": "lost"}, {"conversation_id": "x"}, {"created_from": "yesterday"},
     {"cursor": "x"}, {"cursor": encode_cursor(FeedEntry, NEWEST, [1, 2])},
     {"cursor": encode_cursor(FeedEntry, NEWEST, ["a"])}],
)  # fmt: skip
def test_wrong_query(ann, query):
    assert ann.get(PATH, query).status_code == 422


def test_only_admins_and_only_their_clients_events(ann, ben, cara, client_a):
    event = announce(client_a.pk, "message.created", {})
    assert ben.get(PATH).status_code == 403
    assert ids(cara.get(PATH)) == []
    for wrong in (f"evt_{event.pk.hex}", f"evt_{uuid.uuid4().hex}", "evt_", event.pk.hex, "x"):
        assert cara.get(f"{PATH}/{wrong}").status_code == 404
    assert ann.get(f"{PATH}/evt_{event.pk.hex}").status_code == 200


def test_pages_newest_first(ann, client_a):
    announced = [f"evt_{announce(client_a.pk, 't.t', {}).pk.hex}" for _ in range(5)]
    seen, cursor = [], None
    while True:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        reply = ann.get(PATH, query)
        seen += ids(reply)
        announce(client_a.pk, "t.t", {})
        cursor = reply.json()["next_cursor"]
        if cursor is None:
            break
    assert seen == announced[::-1]


def test_an_event_in_a_list_is_the_event_itself(ann, client_a, endpoint, make_endpoint):
    other = make_endpoint(client_a)
    words = '\\"\n\x1f\u2028👋 ' * 5
    chat = uuid.uuid4()
    written: list[dict[str, Any]] = [
        {},
        {"words": words, "numbers": [1e-7, 1.5, 2**53], "nothing": None, "nested": {"a": [{}]}},
        {"words": "x" * 19_300},
        {"words": "x" * 30_000},
        # As PostgreSQL writes it, it is too long; as we send it, it is not.
        {"many": [0] * 9_000},
    ]
    for number, data in enumerate(written, start=1):
        announce(client_a.pk, "thing.done", data, conversation_id=chat, sequence=number)
    announce(client_a.pk, "thing.done", {"n": 1})
    first, *others = Delivery.objects.order_by("pk")
    for number, (status, error) in enumerate([(500, "bad_status"), (None, "timeout")], start=1):
        DeliveryAttempt.objects.create(
            client=client_a, delivery=first, number=number, http_status=status, duration_ms=12,
            error=error, response_excerpt=words,
        )  # fmt: skip
    changes = {"attempts": 2, "state": DeliveryState.FAILED, "lease_token": uuid.uuid4()}
    Delivery.objects.filter(pk=first.pk).update(**changes)
    Delivery.objects.filter(pk=others[0].pk).update(due_at=None, state=DeliveryState.GAVE_UP)
    items = ann.get(PATH).json()["items"]
    assert len(items) == 6
    assert {entry["config_id"] for entry in items[0]["deliveries"]} == {
        str(endpoint.pk),
        str(other.pk),
    }
    assert [item["is_thin"] for item in reversed(items)] == [
        False,
        False,
        False,
        True,
        False,
        False,
    ]
    assert [item["data"] for item in reversed(items)] == [*written, {"n": 1}]
    for item in items:
        one = ann.get(f"{PATH}/{item['id']}").json()
        assert item == one
        assert list(item) == list(one)
        for made, own in zip(item["deliveries"], one["deliveries"], strict=True):
            assert list(made) == list(own)
            assert [list(entry) for entry in made["attempts"]] == [
                list(entry) for entry in own["attempts"]
            ]
