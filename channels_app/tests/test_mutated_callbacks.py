"""Signed callbacks with anything in them: accepted, counted, and no job fails."""

import pytest

from channels_app.models import InboundCallback, InboundItem, Outcome
from channels_app.tests import strange
from channels_app.tests.chatapp import message, of_chatapp
from channels_app.tests.helpers import CONNECTED, event, of_localapp, of_photoapp, post_signed
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Message

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
BODIES = 25
TOO_LONG = "x" * 301


@pytest.mark.parametrize(("channel", "connected"), CONNECTED.items())
def test_mutated_bodies_are_accepted_and_counted(request, bot, ann, channel, connected):
    request.getfixturevalue(connected)
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    strange.run(ann, channel, BODIES)


@pytest.mark.parametrize(
    ("connected", "path", "body"),
    [
        ("page", "/socialnet/webhook", event({"message": {"mid": "m_1"}}, user=TOO_LONG)),
        ("page", "/socialnet/webhook", event({"reaction": {"mid": TOO_LONG, "action": "react"}})),
        ("account", "/photoapp/webhook", of_photoapp({"read": {"mid": TOO_LONG}})),
        ("number", "/chatapp/webhook", of_chatapp(messages=[message(**{"from": "8" * 301})])),
        ("oa", "/localapp/callback", of_localapp(message={"msg_id": TOO_LONG})),
        ("oa", "/localapp/callback", of_localapp(sender={"id": TOO_LONG})),
    ],
)
def test_an_id_that_is_too_long_is_nobodys(request, ann, connected, path, body):
    request.getfixturevalue(connected)
    assert post_signed(ann, path, body).status_code == 200
    run_jobs()
    item = InboundItem.objects.get()
    assert item.outcome in {Outcome.UNSUPPORTED, Outcome.UNKNOWN_ACCOUNT}
    assert not Message.objects.exists()
    assert not Job.objects.exclude(state="done").exists()


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 600 + b"]" * 600, b"[" * 100_000, b'{"entry": ' * 200 + b"1" + b"}" * 200,
        b'{"object": "page", "entry": [{"id": "1048576000001", "messaging": [{"sender": {"id":'
        b' "6120000000000001"}, "recipient": {"id": "1048576000001"}, "timestamp": NaN,'
        b' "message": {"mid": "m_1", "text": "hi", "referral": {"ref": 1e999}}}]}]}',
        b"", b"\xff", b"1",
    ],
)  # fmt: skip
def test_json_of_any_form_is_answered(ann, page, raw):
    assert post_signed(ann, "/socialnet/webhook", raw).status_code == 200
    run_jobs()
    assert InboundCallback.objects.count() == 1
    assert not Job.objects.exclude(state="done").exists()


def test_a_place_beyond_the_earth_says_that_it_cannot_be_shown(ann, page):
    far = {"type": "location", "payload": {"coordinates": {"lat": "1e999", "long": 2}}}
    post_signed(ann, "/socialnet/webhook", event({"message": {"mid": "m", "attachments": [far]}}))
    run_jobs()
    (line,) = Message.objects.get(sender_type="customer").metadata["lines"]
    assert line == {"kind": "unsupported", "text": "location"}
