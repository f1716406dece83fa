"""Localapp Callback: who may call it, and what it is answered."""

import json

import pytest

from channels_app.models import InboundCallback, InboundItem, Outcome
from channels_app.tests.helpers import OA
from channels_app.tests.helpers import localapp_signature as signature
from channels_app.tests.helpers import of_localapp as event
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Message

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agents_answer")]
PATH = "/localapp/callback"


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


def test_a_kind_with_a_long_name_is_counted_under_its_beginning(nobody, oa):
    assert post(nobody, event("user_" + "x" * 300, {"msg_id": "1"})).status_code == 200
    run_jobs()
    item = InboundItem.objects.get()
    assert (item.outcome, item.kind) == (Outcome.UNSUPPORTED, "user_" + "x" * 55)
    assert not Message.objects.exists()


@pytest.mark.full
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
        (event("user_submit_info", {"msg_id": "1"}), "user_submit_info"),
        (event("follow", {"msg_id": "1"}, oa_id=OA), "follow"),
        (event("anonymous_send_text"), "anonymous_send_text"),
        (event(message={"msg_id": ["x"]}), "user_send_text"),
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


IMAGE = {"msg_id": "1", "attachments": [{"type": "image", "payload": {"url": "https://x.example"}}]}
GROUP, CUSTOMER = {"id": "9001"}, {"id": "6142000000000000001"}


@pytest.mark.parametrize(
    ("body", "is_shown"),
    [
        (event("user_send_poll"), True),
        (event("user_send_poll", IMAGE), True),
        (event("user_reacted_message"), False),
        (event("user_send_group_text", oa_id=OA, recipient=GROUP), False),
        (event("group_said", oa_id=OA, recipient=GROUP), False),
        (event("oa_send_group_text", sender={"id": OA}, recipient=GROUP), False),
        (event("oa_send_consent", sender={"id": OA}, recipient=CUSTOMER), False),
        (event("oa_send_consent", sender={"id": OA}, recipient=CUSTOMER, oa_id=OA), False),
    ],
)
def test_content_for_the_account_is_a_message_whatever_the_events_name(nobody, oa, body, is_shown):
    assert post(nobody, body).status_code == 200
    run_jobs()
    assert Message.objects.filter(sender_type="customer").exists() == is_shown


def test_an_event_is_processed_once_and_a_list_is_taken_apart(nobody, oa):
    second = event(message={"msg_id": "b2", "text": "second"}, x_new={"deep": True})
    for _ in range(2):
        post(nobody, [event(), second, event()])
    run_jobs()
    assert Message.objects.count() == 2
    outcomes = list(InboundItem.objects.order_by("id").values_list("outcome", flat=True))
    assert sorted(outcomes) == ["duplicate"] * 4 + ["processed"] * 2


@pytest.mark.full
@pytest.mark.parametrize("signing", ["right", "bare", "header_time"])
def test_a_crowd_in_any_order_with_doubles_is_every_message_once(localapp, oa, signing):
    localapp.sim.modes(
        hold=True, duplicate=1, shuffle=True, unknown_fields=True, missing_optional=True,
        signature=signing,
    )  # fmt: skip
    for number in range(6):
        localapp.sim.act(OA, ("an", "binh")[number % 2], "text", text=f"no {number}")
    localapp.sim.release()
    localapp.sim.deliver()
    run_jobs()
    texts = Message.objects.filter(sender_type="customer").values_list("text", flat=True)
    assert sorted(texts) == [f"no {number}" for number in range(6)]
    assert InboundItem.objects.filter(outcome="processed").count() == 6
    assert InboundItem.objects.filter(outcome="duplicate").count() == 6


@pytest.mark.parametrize("signing", ["wrong", "missing"])
def test_a_provider_that_signs_wrong_is_refused(localapp, oa, signing):
    localapp.sim.modes(signature=signing)
    localapp.write("hello")
    assert not InboundCallback.objects.exists()
