"""Localapp Callback: who may call it, and what it is answered."""

import hashlib
import json
import random
from typing import Any

import pytest
from django.conf import settings as project

from channels_app.models import InboundCallback, InboundItem, Outcome
from channels_app.tests.helpers import OA
from channels_app.tests.test_mutated_callbacks import mutate
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Message

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/localapp/callback"
USER = "6142000000000000001"
FILE = {"type": "file", "payload": {"name": "a.pdf", "size": "5", "checksum": "x"}}
PLACE = {"type": "location", "payload": {"coordinates": {"latitude": "1.5", "longitude": "2"}}}
# Event names and messages that are then changed by chance.
EVENTS: list[tuple[str, Any]] = [
    ("user_send_text", {"msg_id": "m1", "text": "hello", "quote_msg_id": "m0"}),
    ("user_send_file", {"msg_id": "m2", "attachments": [FILE]}),
    ("user_send_location", {"msg_id": "m3", "attachments": [PLACE, FILE]}),
    ("oa_send_text", {"msg_id": "m4", "text": "elsewhere"}),
    ("user_received_message", {"msg_id": "m4"}),
    ("user_seen_message", {"msg_ids": ["m4", "m5"]}),
    ("user_reacted_message", {"msg_id": "m1", "react_icon": "/-heart"}),
]


@pytest.fixture(autouse=True)
def agents_answer(bot):
    """No bot's reply stands between the customer's messages."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)


def event(name="user_send_text", message=None, **more):
    return {
        "app_id": project.LOCALAPP_APP_ID, "event_name": name, "timestamp": "1795226399980",
        "sender": {"id": USER}, "recipient": {"id": OA},
        "message": message or {"msg_id": "cb31dff1c39642cc1b83", "text": "hello"}, **more,
    }  # fmt: skip


def signature(raw, *, time="1795226399980", key=None):
    parts = (project.LOCALAPP_APP_ID, raw.decode(), time, key or project.LOCALAPP_OA_SECRET_KEY)
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def post(person, body, **headers):
    """A callback; signed as the provider does, unless headers are given."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = headers or {"X-ZEvent-Signature": f"mac={signature(raw)}"}
    return person.browser.post(PATH, raw, content_type="application/json", headers=headers)


def test_a_text_becomes_a_message(nobody, oa):
    assert post(nobody, event(message={"msg_id": "a1", "text": "xin chào ế"})).status_code == 200
    assert not Message.objects.exists()
    run_jobs()
    assert Message.objects.get().text == "xin chào ế"


@pytest.mark.parametrize("body", [b"", b"{}", b'{"oa_id": "1"}', b'{"event_name": ""}'])
def test_the_check_of_the_address_is_answered_and_leaves_nothing(nobody, settings, body):
    settings.LOCALAPP_OA_SECRET_KEY = ""
    reply = nobody.browser.post(PATH, body, content_type="application/json")
    assert reply.status_code == 200
    assert not InboundCallback.objects.exists()


@pytest.mark.parametrize("prefix", ["mac=", ""])
@pytest.mark.parametrize("in_header", [False, True])
def test_forms_of_the_signature(nobody, oa, prefix, in_header):
    raw = json.dumps(event()).encode()
    headers = {"X-ZEvent-Signature": prefix + signature(raw)}
    if in_header:
        time = "1795226400000"
        headers = {
            "X-ZEvent-Signature": prefix + signature(raw, time=time), "X-ZEvent-Timestamp": time,
        }  # fmt: skip
    assert post(nobody, raw, **headers).status_code == 200
    run_jobs()
    assert Message.objects.count() == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Other": "1"},
        {"X-ZEvent-Signature": "mac="},
        {"X-ZEvent-Signature": "mac=" + "0" * 64},
        {"X-ZEvent-Signature": "é"},
        {"X-ZEvent-Timestamp": "1"},
    ],
)
def test_an_unsigned_callback_is_refused_and_leaves_nothing(nobody, oa, headers):
    reply = post(nobody, event(), **headers)
    assert (reply.status_code, reply.json()["code"]) == (401, "bad_signature")
    assert not InboundCallback.objects.exists()


def test_the_apps_secret_and_other_apps_sign_nothing(nobody, oa, settings):
    raw = json.dumps(event()).encode()
    wrong = signature(raw, key=settings.LOCALAPP_APP_SECRET)
    assert post(nobody, raw, **{"X-ZEvent-Signature": wrong}).status_code == 401
    assert post(nobody, event(app_id="1")).status_code == 401
    raw = json.dumps(event()).encode()
    signed = {"X-ZEvent-Signature": signature(raw)}
    assert post(nobody, raw.replace(b"hello", b"hallo"), **signed).status_code == 401
    assert not InboundCallback.objects.exists()


def test_without_the_key_events_are_refused(nobody, settings):
    headers = {"X-ZEvent-Signature": signature(json.dumps(event()).encode())}
    settings.LOCALAPP_OA_SECRET_KEY = ""
    reply = post(nobody, event(), **headers)
    assert (reply.status_code, reply.json()["setting"]) == (503, "LOCALAPP_OA_SECRET_KEY")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (event("user_submit_info"), "user_submit_info"),
        (event("follow", oa_id=OA), "follow"),
        (event("anonymous_send_text"), "anonymous_send_text"),
        (event(message={"msg_id": ["x"]}), "malformed"),
        (event("user_received_message", {"text": "x"}), "user_received_message"),
        (event(sender=None), "user_send_text"),
    ],
)
def test_what_chats_do_not_show_is_counted(nobody, oa, body, kind):
    assert post(nobody, body).status_code == 200
    run_jobs()
    item = InboundItem.objects.get()
    assert item.outcome in {Outcome.UNSUPPORTED, Outcome.UNKNOWN_ACCOUNT}
    assert item.kind in {kind, ""}
    assert not Message.objects.exists()
    assert not Job.objects.exclude(state="done").exists()


def test_an_event_is_processed_once_and_a_list_is_taken_apart(nobody, oa):
    second = event(message={"msg_id": "b2", "text": "second"}, x_new={"deep": True})
    for _ in range(2):
        post(nobody, [event(), second, event()])
    run_jobs()
    assert Message.objects.count() == 2
    outcomes = list(InboundItem.objects.order_by("id").values_list("outcome", flat=True))
    assert sorted(outcomes) == ["duplicate"] * 4 + ["processed"] * 2


@pytest.mark.parametrize("signing", ["right", "bare", "header_time"])
def test_a_crowd_in_any_order_with_doubles_is_every_message_once(localapp, oa, signing):
    localapp.sim.modes(
        hold=True, duplicate=1, shuffle=True, unknown_fields=True, missing_optional=True,
        signature=signing,
    )  # fmt: skip
    for number in range(20):
        localapp.sim.act(OA, ("an", "binh")[number % 2], "text", text=f"no {number}")
    localapp.sim.release()
    localapp.sim.deliver()
    run_jobs()
    texts = Message.objects.filter(sender_type="customer").values_list("text", flat=True)
    assert sorted(texts) == sorted(f"no {number}" for number in range(20))
    assert InboundItem.objects.filter(outcome="processed").count() == 20
    assert InboundItem.objects.filter(outcome="duplicate").count() == 20


def bodies(seed, count):
    """Events with a few values replaced, removed or doubled."""
    chance = random.Random(seed)
    for _ in range(count):
        body = mutate(event(*chance.choice(EVENTS)), chance)
        # What these say would be refused as not signed.
        yield body | {"app_id": project.LOCALAPP_APP_ID, "timestamp": "1795226399980"}


def test_mutated_bodies_are_accepted_and_counted(nobody, oa):
    for body in bodies(20261122, 100):
        assert post(nobody, body).status_code == 200, body
    while run_jobs():
        pass
    failed = Job.objects.filter(name="channels_app.process_callback").exclude(state="done")
    assert [job.last_error for job in failed] == []
    promised = sum(InboundCallback.objects.values_list("item_count", flat=True))
    assert InboundItem.objects.count() == promised == 100


@pytest.mark.parametrize("signing", ["wrong", "missing"])
def test_a_provider_that_signs_wrong_is_refused(localapp, oa, signing):
    localapp.sim.modes(signature=signing)
    localapp.write("hello")
    assert not InboundCallback.objects.exists()
