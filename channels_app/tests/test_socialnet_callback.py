"""Socialnet Webhook: who may call it, what is stored, and each item once."""

import json
from typing import Any

import pytest

from channels_app.models import InboundCallback, InboundItem, Outcome
from channels_app.services import callbacks, inbound
from channels_app.tests.helpers import OTHER_PAGE, PAGE, event, post_signed, run_waiting
from chatplatform.jobs import leases
from chatplatform.models import Job
from chatplatform.testing import at_once, run_before, run_jobs
from chats.models import Conversation, Message

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agents_answer")]
PATH = "/socialnet/webhook"
HELLO = {"message": {"mid": "m_1", "text": "hello"}}


def test_the_handshake_answers_the_challenge_and_nothing_else(nobody, settings):
    query = {
        "hub.mode": "subscribe", "hub.challenge": "1158201444",
        "hub.verify_token": settings.SOCIALNET_VERIFY_TOKEN,
    }  # fmt: skip
    reply = nobody.get(PATH, query)
    assert (reply.status_code, reply.content) == (200, b"1158201444")
    assert reply["Content-Type"].startswith("text/plain")
    for wrong in ({"hub.verify_token": "wrong"}, {"hub.mode": "unsubscribe"}):
        assert nobody.get(PATH, query | wrong).status_code == 403
    settings.SOCIALNET_VERIFY_TOKEN = ""
    reply = nobody.get(PATH, query | {"hub.verify_token": ""})
    assert (reply.status_code, reply.json()["code"]) == (503, "channel_not_configured")
    assert "SOCIALNET_VERIFY_TOKEN" in reply.json()["detail"]


@pytest.mark.parametrize("signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=abc", "é"])
def test_an_unsigned_callback_is_refused_and_leaves_nothing(nobody, signature):
    headers = {"X-Hub-Signature-256": signature} if signature else {}
    reply = nobody.browser.post(
        PATH, json.dumps(event(HELLO)), content_type="application/json", headers=headers
    )
    assert (reply.status_code, reply.json()["code"]) == (401, "bad_signature")
    assert not InboundCallback.objects.exists()
    assert not Job.objects.exists()


def test_the_signature_is_of_the_bytes_as_they_came(nobody, page, sim, settings):
    raw = rb'{"object":"page","entry":[{"id":"%s","time":1795226400123,"messaging":[{' % (
        PAGE.encode()
    )
    raw += rb'"sender":{"id":"61"},"recipient":{"id":"%s"},"message":{"mid":"m_1",' % PAGE.encode()
    raw += rb'"text":"caf\u00e9 \ud83d\ude00 a\/b"}}]}]}'
    assert post_signed(nobody, PATH, raw).status_code == 200
    run_jobs()
    assert Message.objects.get().text == "café 😀 a/b"
    # The same content in other bytes, under the first signature.
    again = json.dumps(json.loads(raw)).encode()
    signed = post_signed(nobody, PATH, raw).wsgi_request.headers["X-Hub-Signature-256"]
    reply = nobody.browser.post(
        PATH, again, content_type="application/json", headers={"X-Hub-Signature-256": signed}
    )
    assert reply.status_code == 401


def test_without_the_apps_secret_every_callback_is_refused(nobody, settings):
    settings.SOCIALNET_APP_SECRET = ""
    reply = post_signed(nobody, PATH, event(HELLO))
    assert (reply.status_code, reply.json()["code"]) == (503, "channel_not_configured")
    assert reply.json()["setting"] == "SOCIALNET_APP_SECRET"
    assert not InboundCallback.objects.exists()


def test_a_body_that_is_too_large_is_refused(nobody, settings):
    settings.MAX_CALLBACK_BYTES = 100
    assert post_signed(nobody, PATH, event(HELLO)).status_code == 413


def test_the_body_is_stored_before_anything_is_done_with_it(nobody, page):
    assert post_signed(nobody, PATH, event(HELLO)).status_code == 200
    callback = InboundCallback.objects.get()
    assert json.loads(bytes(callback.body)) == event(HELLO)
    assert not Message.objects.exists()
    run_jobs()
    assert Message.objects.get().text == "hello"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b"5", b'"x"', b'{"entry":5}', b'{"entry":[5,null,{}]}',
        b'{"entry":[{"messaging":[5,null,{},{"sender":5}]}]}', b"[" * 100_000,
        b'{"entry":[{"changes":[5,{"field":5}]}]}', b"\xff\xfe", b'{"a":"\\ud800"}',
        b'{"entry":[{"id":"x","messaging":[{"sender":{"id":"1"},"recipient":{"id":"x"},'
        b'"timestamp":1e400}]}]}',
    ],
)  # fmt: skip
def test_whatever_is_signed_is_accepted_and_counted(nobody, page, body):
    assert post_signed(nobody, PATH, body).status_code == 200
    run_jobs()
    callback = InboundCallback.objects.get()
    assert callback.items.count() == callback.item_count
    assert not Job.objects.exclude(state="done").exists()
    assert not Message.objects.exists()


def test_a_broken_item_stops_no_other(nobody, page):
    body = event(HELLO)
    broken: list[dict[str, Any]] = [
        {"message": 5},
        {"message": {"mid": ["x"]}},
        {"new_kind": {"a": 1}},
    ]
    common: dict[str, Any] = {"sender": {"id": "61"}, "recipient": {"id": PAGE}}
    body["entry"][0]["messaging"] += [common | part for part in broken]
    body["entry"][0]["standby"] = [common | HELLO]
    body["entry"][0]["new_field"] = True
    post_signed(nobody, PATH, body)
    run_jobs()
    assert Message.objects.get().text == "hello"
    kinds = InboundItem.objects.filter(outcome=Outcome.UNSUPPORTED).order_by("position")
    assert list(kinds.values_list("kind", flat=True)) == [
        "message", "message", "new_kind", "standby",
    ]  # fmt: skip
    assert InboundCallback.objects.get().item_count == 5


def test_an_item_is_processed_once_however_often_it_comes(nobody, page):
    body = event(HELLO)
    body["entry"][0]["messaging"] *= 2
    for _ in range(3):
        post_signed(nobody, PATH, body)
    run_jobs()
    assert Message.objects.count() == 1
    outcomes = list(
        InboundItem.objects.order_by("callback", "position").values_list("outcome", flat=True)
    )
    assert outcomes == ["processed"] + ["duplicate"] * 5


def test_a_body_that_comes_many_times_at_once_is_one_message(nobody, page):
    raw = json.dumps(event(HELLO)).encode()
    replies = at_once(*[lambda: post_signed(nobody, PATH, raw) for _ in range(10)])
    assert [reply.status_code for reply in replies] == [200] * 10
    run_jobs()
    assert Message.objects.filter(sender_type="customer").count() == 1
    assert Conversation.objects.count() == 1


@pytest.mark.full
def test_two_workers_with_one_item_store_one_message(nobody, page):
    post_signed(nobody, PATH, event(HELLO))
    # A second job for the item runs between the first one's look and its transaction.
    Job.objects.filter(name="channels_app.process_items").update(ordering_key=None)
    first = Job.objects.get(name="channels_app.process_items")
    second = Job.objects.get(pk=first.pk)
    second.pk = None
    second.save()
    with run_before("channels_app.services.inbound.prepare_handler", lambda: leases.run(second.pk)):
        leases.run(first.pk)
    run_jobs()
    assert Message.objects.filter(sender_type="customer").count() == 1
    assert InboundItem.objects.get().outcome == Outcome.PROCESSED


def test_a_job_that_runs_twice_counts_once(nobody, page):
    post_signed(nobody, PATH, event(HELLO))
    for _ in range(2):
        Job.objects.filter(name="channels_app.process_items").update(state="queued")
        run_jobs()
    assert Message.objects.count() == InboundItem.objects.count() == 1
    assert InboundItem.objects.get().outcome == Outcome.PROCESSED


def test_an_item_that_fails_is_tried_again_and_holds_up_no_other(nobody, page, monkeypatch):
    body = event(HELLO)
    other = event({"message": {"mid": "m_2", "text": "second"}}, user="6120000000000002")
    body["entry"][0]["messaging"] += other["entry"][0]["messaging"]
    post_signed(nobody, PATH, body)
    with monkeypatch.context() as broken:
        real = inbound._store_message

        def fail_first(*args, **kwargs):
            if args[3].content.text == "hello":
                raise RuntimeError("a fault")
            return real(*args, **kwargs)

        broken.setattr(inbound, "_store_message", fail_first)
        run_jobs()
    assert list(Message.objects.values_list("text", flat=True)) == ["second"]
    run_waiting()
    assert set(Message.objects.values_list("text", flat=True)) == {"hello", "second"}


def test_accounts_of_one_body_are_told_apart(nobody, page):
    body = event(HELLO)
    body["entry"] += event({"message": {"mid": "m_2", "text": "x"}})["entry"]
    body["entry"][1]["id"] = OTHER_PAGE
    body["entry"][1]["messaging"][0]["recipient"]["id"] = OTHER_PAGE
    post_signed(nobody, PATH, body)
    run_jobs()
    assert Message.objects.get().text == "hello"
    unknown = InboundItem.objects.get(outcome=Outcome.UNKNOWN_ACCOUNT)
    assert unknown.account_id == OTHER_PAGE


def test_events_of_a_page_that_was_given_up_are_ignored(socialnet, page, ann):
    assert ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE}).status_code == 200
    post_signed(ann, PATH, event(HELLO))
    run_jobs()
    assert not Message.objects.exists()
    assert InboundItem.objects.get().outcome == Outcome.UNKNOWN_ACCOUNT


@pytest.mark.full
def test_a_crowd_in_any_order_with_doubles_is_every_message_once(socialnet, page):
    socialnet.sim.modes(
        hold=True, batch=100, duplicate=1, shuffle=True, unknown_fields=True, strangers=True
    )
    for number in range(40):
        socialnet.sim.act(PAGE, ("an", "binh", "chris")[number % 3], "text", text=f"no {number}")
    socialnet.sim.release()
    socialnet.sim.deliver()
    run_jobs()
    texts = Message.objects.filter(sender_type="customer").values_list("text", flat=True)
    assert sorted(texts) == sorted(f"no {number}" for number in range(40))
    assert Conversation.objects.count() == 3
    counted = InboundItem.objects.count()
    assert counted == sum(InboundCallback.objects.values_list("item_count", flat=True))
    assert InboundItem.objects.filter(outcome="processed").count() == 40
    assert InboundItem.objects.filter(outcome="duplicate").count() >= 40


def test_old_callbacks_are_deleted(nobody, page, settings):
    post_signed(nobody, PATH, event(HELLO))
    run_jobs()
    callbacks.delete_old()
    assert InboundCallback.objects.count() == 1
    settings.CALLBACK_RETENTION_DAYS = 0
    callbacks.delete_old()
    assert not InboundCallback.objects.exists()
    assert not InboundItem.objects.exists()
    assert Message.objects.count() == 1
