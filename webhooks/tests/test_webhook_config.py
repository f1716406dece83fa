"""Get, Create, List, Update and Delete Webhook Config, and Rotate Webhook Secret."""

import base64
import socket
import uuid

import pytest
from django.db import connection

from chatplatform.api import idempotency
from chatplatform.crypto import DecryptionFailed
from chatplatform.testing import at_once, run_jobs
from chatplatform.testing.refused_urls import BLOCKED_URLS
from identity.models import AuditEvent
from identity.testing import make_person
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, WebhookConfig
from webhooks.services import announce, deliveries

PATH = "/webhook/config"
PUBLIC = "https://93.184.215.14/hook"


def test_the_secret_is_shown_once(ann):
    reply = ann.post(PATH, {"url": PUBLIC, "event_types": ["message.created"], "description": "x"})
    assert reply.status_code == 201
    config = reply.json()
    assert config["secret"].startswith("whsec_")
    assert len(base64.b64decode(config["secret"].removeprefix("whsec_"))) == 32
    assert (config["is_active"], config["disabled_reason"]) == (True, None)
    shown = ann.get(PATH).json()
    assert shown == {**config, "secret": None}
    assert ann.get("/webhook/configs").json() == {"items": [shown], "next_cursor": None}
    audited = AuditEvent.objects.get(action="webhook.created")
    assert (audited.user, audited.changes) == (ann.user, {"url": PUBLIC})


@pytest.mark.django_db(transaction=True)
def test_a_process_that_dies_before_the_answer_is_stored_leaves_no_endpoint(ann, monkeypatch):
    def die(*_):
        raise SystemExit

    body, key = {"url": PUBLIC}, {"Idempotency-Key": "one-endpoint"}
    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "_store", die)
        with pytest.raises(SystemExit):
            ann.post(PATH, body, **key)
    assert not WebhookConfig.objects.exists()
    made = [ann.post(PATH, body, **key) for _ in range(2)]
    assert made[0].json()["secret"] == made[1].json()["secret"]
    assert WebhookConfig.objects.count() == 1


def test_the_audit_log_holds_no_token_of_the_receiver(ann):
    """It stands in the query."""
    made = ann.post(PATH, {"url": f"{PUBLIC}?token=quokka"})
    assert made.json()["url"] == f"{PUBLIC}?token=quokka"
    changed = ann.put(f"{PATH}/{made.json()['id']}", {"url": f"{PUBLIC}?token=numbat"})
    assert changed.status_code == 200
    rows = AuditEvent.objects.filter(action__startswith="webhook.").order_by("pk")
    assert [row.changes["url"] for row in rows] == [PUBLIC, [PUBLIC, PUBLIC]]


def test_the_secret_is_stored_encrypted_and_bound_to_its_row(ann, client_a, make_endpoint):
    secret = ann.post(PATH, {"url": PUBLIC}).json()["secret"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM webhooks_webhookconfig")
        (stored,) = cursor.fetchone()
        assert secret not in stored
        assert stored.startswith("v1:")
        other = make_endpoint(client_a)
        cursor.execute(
            "UPDATE webhooks_webhookconfig SET secret = %s WHERE id = %s", [stored, other.pk]
        )
    with pytest.raises(DecryptionFailed):
        _ = WebhookConfig.objects.get(pk=other.pk).secret


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": ""},
        {"url": "http://93.184.215.14/hook"},
        {"url": PUBLIC, "event_types": ["no.such"]},
        {"url": PUBLIC, "event_types": "message.created"},
        {"url": PUBLIC, "description": "x" * 201},
        {"url": "https://93.184.215.14/" + "x" * 2000},
    ],
)
def test_wrong_body(ann, body):
    assert ann.post(PATH, body).status_code == 422
    assert not WebhookConfig.objects.exists()


@pytest.mark.parametrize("url", [url for url in BLOCKED_URLS if len(url) < 2000])
def test_a_private_address_is_refused(ann, url):
    for target in (url, url.replace("http:", "https:", 1)):
        reply = ann.post(PATH, {"url": target})
        if target.startswith("https://93.184.215.14") and target == PUBLIC:
            continue
        assert reply.status_code == 422, target
    assert not WebhookConfig.objects.exists()


def test_plain_http_only_to_hosts_in_egress_allow(ann, settings):
    settings.EGRESS_ALLOW = ["127.0.0.1:9099"]
    assert ann.post(PATH, {"url": "http://127.0.0.1:9099/x"}).status_code == 201
    assert ann.post(PATH, {"url": "http://127.0.0.1:9098/x"}).status_code == 422
    settings.EGRESS_ALLOW = ["webhook=127.0.0.1:9099", "model=127.0.0.1:9098"]
    assert ann.post(PATH, {"url": "http://127.0.0.1:9099/x"}).status_code == 201
    assert ann.post(PATH, {"url": "http://127.0.0.1:9098/x"}).status_code == 422


def test_a_host_that_later_resolves_to_loopback_is_blocked(
    ann, client_a, deliver, receiver, monkeypatch
):
    places = ["93.184.215.14"]
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, port, **_: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (places[0], port))],
    )
    assert ann.post(PATH, {"url": "https://moving.example/hook"}).status_code == 201
    places[0] = "127.0.0.1"
    announce(client_a.pk, "message.created", {})
    deliver()
    row = Delivery.objects.get()
    assert row.state == DeliveryState.FAILED
    assert DeliveryAttempt.objects.get().error == "blocked_destination"
    assert receiver.got == []


def test_an_agent_may_not(ann, ben, endpoint):
    paths = [PATH, f"{PATH}/rotate-secret", f"{PATH}/{endpoint.pk}", "/webhook/configs"]
    for call in (ben.get, ben.post, ben.put, ben.delete):
        assert {call(path).status_code for path in paths} <= {403, 405}
    assert WebhookConfig.objects.get().secret == endpoint.secret
    assert make_person(ann.client, "viewer", "Vic").get(PATH).status_code == 403


def test_another_clients_endpoint_is_a_404(cara, endpoint):
    for reply in (
        cara.get(PATH),
        cara.get(PATH, {"config_id": str(endpoint.pk)}),
        cara.put(f"{PATH}/{endpoint.pk}", {"url": PUBLIC}),
        cara.delete(f"{PATH}/{endpoint.pk}"),
        cara.post(f"{PATH}/rotate-secret?config_id={endpoint.pk}"),
        cara.post(f"{PATH}/rotate-secret"),
        cara.get(PATH, {"config_id": str(uuid.uuid4())}),
    ):
        assert reply.status_code == 404
    assert cara.get("/webhook/configs").json()["items"] == []
    config = WebhookConfig.objects.get()
    assert (config.url, config.secret, config.deleted_at) == (endpoint.url, endpoint.secret, None)


def test_the_oldest_endpoint_or_the_one_with_the_id(ann, client_a, make_endpoint):
    first, second = make_endpoint(client_a), make_endpoint(client_a)
    assert ann.get(PATH).json()["id"] == str(first.pk)
    assert ann.get(PATH, {"config_id": str(second.pk)}).json()["id"] == str(second.pk)
    pages = [ann.get("/webhook/configs", {"limit": 1}).json()]
    pages.append(
        ann.get("/webhook/configs", {"limit": 1, "cursor": pages[0]["next_cursor"]}).json()
    )
    assert [page["items"][0]["id"] for page in pages] == [str(first.pk), str(second.pk)]


def test_at_most_ten(ann, client_a, make_endpoint):
    configs = [make_endpoint(client_a) for _ in range(10)]
    reply = ann.post(PATH, {"url": PUBLIC})
    assert (reply.status_code, reply.json()["code"]) == (409, "too_many_endpoints")
    assert ann.delete(f"{PATH}/{configs[0].pk}").status_code == 204
    assert ann.post(PATH, {"url": PUBLIC}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_at_most_ten_even_concurrently(ann, client_a, make_endpoint):
    for _ in range(9):
        make_endpoint(client_a)
    replies = at_once(*[lambda: ann.post(PATH, {"url": PUBLIC})] * 4)
    assert sorted(reply.status_code for reply in replies) == [201, 409, 409, 409]


def test_an_update_keeps_the_secret(ann, endpoint):
    reply = ann.put(f"{PATH}/{endpoint.pk}", {"url": PUBLIC, "event_types": ["message.read"]})
    assert reply.status_code == 200
    assert reply.json()["url"] == PUBLIC
    assert reply.json()["secret"] is None
    config = WebhookConfig.objects.get()
    assert (config.url, config.event_types, config.secret) == (
        PUBLIC,
        ["message.read"],
        endpoint.secret,
    )


def test_a_field_left_out_keeps_its_value(ann, endpoint):
    kept = {"url": PUBLIC, "event_types": ["message.created"], "description": "The shop's"}
    path = f"{PATH}/{endpoint.pk}"
    assert ann.put(path, {**kept, "is_active": False}).status_code == 200
    before = ann.get(PATH).json()
    for body in ({}, {"event_types": ["message.created"]}, {"url": PUBLIC}, {"description": "x"}):
        reply = ann.put(path, body)
        assert reply.status_code == 200
        before |= body
        assert reply.json() == before
    on = ann.put(path, {"is_active": True}).json()
    assert (on["url"], on["event_types"], on["is_active"]) == (PUBLIC, kept["event_types"], True)


def test_what_was_read_can_be_sent_back_and_the_secret_is_the_platforms(ann, endpoint):
    before = ann.put(f"{PATH}/{endpoint.pk}", {"url": PUBLIC}).json()
    assert ann.get(PATH).json() == before
    assert ann.put(f"{PATH}/{endpoint.pk}", before | {"secret": "whsec_mine"}).json() == before
    assert WebhookConfig.objects.get().secret == endpoint.secret
    other = ann.put(f"{PATH}/{endpoint.pk}", before | {"id": str(uuid.uuid4())})
    assert other.status_code == 422
    assert other.json()["detail"][0]["loc"] == ["body", "id"]


def test_switched_off_and_on_again(ann, client_a, endpoint):
    announce(client_a.pk, "message.created", {})
    off = ann.put(f"{PATH}/{endpoint.pk}", {"url": PUBLIC, "is_active": False}).json()
    assert (off["is_active"], off["disabled_reason"]) == (False, "by_hand")
    assert off["disabled_at"]
    run_jobs()
    row = Delivery.objects.get()
    assert (row.state, row.due_at) == (DeliveryState.GAVE_UP, None)
    announce(client_a.pk, "message.created", {})
    assert Delivery.objects.count() == 1
    again = ann.put(f"{PATH}/{endpoint.pk}", {"url": PUBLIC, "is_active": False}).json()
    assert again["disabled_at"] == off["disabled_at"]
    WebhookConfig.objects.update(consecutive_failures=9, disabled_reason="failing")
    on = ann.put(f"{PATH}/{endpoint.pk}", {"is_active": True}).json()
    assert (on["is_active"], on["disabled_reason"], on["failing_since"]) == (True, None, None)
    assert WebhookConfig.objects.get().consecutive_failures == 0


def test_a_long_backlog_is_given_up_by_a_job(ann, client_a, endpoint, monkeypatch):
    monkeypatch.setattr(deliveries, "_BATCH", 2)
    for number in range(5):
        announce(client_a.pk, "message.created", {"n": number})
    assert ann.put(f"{PATH}/{endpoint.pk}", {"url": PUBLIC, "is_active": False}).status_code == 200
    assert not DeliveryAttempt.objects.exists(), "the request leaves it to the job"
    assert run_jobs() == 1
    assert Delivery.objects.filter(state=DeliveryState.GAVE_UP, due_at=None).count() == 5
    assert set(DeliveryAttempt.objects.values_list("error", flat=True)) == {"endpoint_disabled"}


def test_switched_on_again_before_the_job_nothing_is_given_up(ann, client_a, endpoint):
    announce(client_a.pk, "message.created", {})
    for is_active in (False, True):
        ann.put(f"{PATH}/{endpoint.pk}", {"url": PUBLIC, "is_active": is_active})
    assert run_jobs() == 1
    row = Delivery.objects.get()
    assert (row.state, row.due_at is None) == (DeliveryState.PENDING, False)


def test_deleted(ann, client_a, endpoint):
    announce(client_a.pk, "message.created", {})
    assert ann.delete(f"{PATH}/{endpoint.pk}").status_code == 204
    assert ann.delete(f"{PATH}/{endpoint.pk}").status_code == 404
    assert ann.get(PATH).status_code == 404
    run_jobs()
    assert Delivery.objects.get().state == DeliveryState.GAVE_UP
    announce(client_a.pk, "message.created", {})
    assert Delivery.objects.count() == 1


def test_rotated(ann, endpoint):
    reply = ann.post(f"{PATH}/rotate-secret")
    assert reply.status_code == 200
    assert reply.json()["secret"] not in {None, endpoint.secret}
    assert reply.json()["previous_secret_until"]
    config = WebhookConfig.objects.get()
    assert (config.secret, config.previous_secret) == (reply.json()["secret"], endpoint.secret)
    assert ann.get(PATH).json()["secret"] is None
    assert AuditEvent.objects.get(action="webhook.secret_rotated").changes == {}
