"""The simulated providers' signatures; other tools computed the expected values."""

import hashlib
import hmac
import json

import pytest

from simulator import defaults, signing
from simulator.tests.calls import OA, PAGE, Caller, caller

# openssl dgst -sha256 -hmac socialnet-app-secret
GRAPH_BODY = (
    '{"object":"page","entry":[{"id":"1048576000001","time":1795226400123,"messaging":[{"sender":'
    '{"id":"6120000000000001"},"recipient":{"id":"1048576000001"},"timestamp":1795226399980,'
    '"message":{"mid":"m_AbC","text":"gr\\u00fc\\u00dfe"}}]}]}'
)
GRAPH_SIGNATURE = "602239f27d1cb21b7ed9306c1a173ef707ea06a01dba0e0cfb8b0f2f76d0ef35"
# printf '%s' "$app_id$body$timestamp$key" | sha256sum
LOCALAPP_BODY = (
    '{"app_id":"2553900000000000001","user_id_by_app":"9791000000000000001",'
    '"event_name":"user_send_text","timestamp":"1795226399980",'
    '"sender":{"id":"6142000000000000001"},"recipient":{"id":"3662000000000000001"},'
    '"message":{"msg_id":"cb31dff1c39642cc1b83","text":"xin chào"}}'
)
LOCALAPP_SIGNATURE = "3260d609ba53e55a8c26c8936cc5226b9e9cebbf096f77bbcff51a67e4a40749"
HEADER_TIME_SIGNATURE = "35870413f5a6f54391de5c7a2eb871fd561ea25ce3165564af86bd9d1fa0f167"
LOCALAPP_ID = "2553900000000000001"


@pytest.fixture
def at():
    with caller() as made:
        made.sim.subscribe(PAGE)
        made.sim.tokens("localapp")
        yield made


def test_graph_bodies_are_signed_by_the_apps_secret():
    headers = signing.graph(GRAPH_BODY, "socialnet-app-secret", "right")
    assert headers == {"X-Hub-Signature-256": f"sha256={GRAPH_SIGNATURE}"}


def test_localapp_bodies_are_hashed_with_the_time_and_the_accounts_key():
    headers = signing.localapp(LOCALAPP_BODY, LOCALAPP_ID, defaults.OA_SECRET_KEY, "right")
    assert headers == {"X-ZEvent-Signature": f"mac={LOCALAPP_SIGNATURE}"}
    bare = signing.localapp(LOCALAPP_BODY, LOCALAPP_ID, defaults.OA_SECRET_KEY, "bare")
    assert bare == {"X-ZEvent-Signature": LOCALAPP_SIGNATURE}
    by_header = signing.localapp(LOCALAPP_BODY, LOCALAPP_ID, defaults.OA_SECRET_KEY, "header_time")
    assert by_header == {
        "X-ZEvent-Timestamp": "1795226399981",
        "X-ZEvent-Signature": f"mac={HEADER_TIME_SIGNATURE}",
    }


def sent(at: Caller, account: str, text: str = "hällo ế") -> tuple[dict[str, str], bytes]:
    at.written(account, text=text)
    at.events()
    _, _, headers, body = at.platform.got[-1]
    return headers, body


def test_what_is_sent_is_what_is_signed(at):
    headers, body = sent(at, PAGE)
    assert b"h\\u00e4llo \\u1ebf" in body
    secret = defaults.app("socialnet").secret.encode()
    right = hmac.new(secret, body, hashlib.sha256).hexdigest()
    assert headers["X-Hub-Signature-256"] == f"sha256={right}"
    headers, body = sent(at, OA)
    assert "hällo ế".encode() in body
    time = json.loads(body)["timestamp"].encode()
    right = hashlib.sha256(
        LOCALAPP_ID.encode() + body + time + defaults.OA_SECRET_KEY.encode()
    ).hexdigest()
    assert headers["X-ZEvent-Signature"] == f"mac={right}"


@pytest.mark.parametrize(
    ("account", "name"), [(PAGE, "X-Hub-Signature-256"), (OA, "X-ZEvent-Signature")]
)
def test_signatures_are_wrong_or_missing_on_demand(at, account, name):
    right = sent(at, account)
    at.sim.modes(signature="wrong")
    wrong = sent(at, account)
    assert len(wrong[0][name]) == len(right[0][name])
    body = wrong[1].decode()
    if account == PAGE:
        as_it_should_be = signing.graph(body, defaults.app("socialnet").secret, "right")
    else:
        as_it_should_be = signing.localapp(body, LOCALAPP_ID, defaults.OA_SECRET_KEY, "right")
    assert wrong[0][name] != as_it_should_be[name]
    at.sim.modes(signature="missing")
    assert name not in sent(at, account)[0]
