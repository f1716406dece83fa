"""Faults of the simulated providers: their form, and the accounts and calls that they affect."""

import json
import time
from http.client import HTTPConnection, IncompleteRead

import pytest

from simulator.client import Refused
from simulator.tests.calls import NUMBER, OA, OTHER_PAGE, PAGE, PHOTO, Caller, caller
from simulator.world import Json


@pytest.fixture
def at():
    with caller() as made:
        yield made


def send(at: Caller, account: str = PAGE):
    """A send to a customer who has written to this account."""
    user_id = at.written(account)
    body: Json
    text = {"text": "Hello"}
    if account == OA:
        token = at.sim.tokens("localapp")["access_token"]
        body = {"recipient": {"user_id": user_id}, "message": text}
        return at.localapp("POST", "/v3.0/oa/message/cs", body, token)
    if account == NUMBER:
        body = {"messaging_product": "whatsapp", "to": user_id, "type": "text",
                "text": {"body": "Hello"}}  # fmt: skip
        return at.graph("POST", f"{NUMBER}/messages", body, at.sim.token("chatapp"))
    token = at.sim.token("photoapp" if account == PHOTO else "socialnet", account)
    body = {"recipient": {"id": user_id}, "messaging_type": "RESPONSE", "message": text}
    return at.graph("POST", "me/messages", body, token)


def count(at: Caller, account: str = PAGE) -> int:
    return len(at.sim.replies(account, "an"))


@pytest.mark.parametrize("status", [500, 502, 503])
def test_pages_of_html(at, status):
    at.sim.fault(f"http_{status}")
    answer = send(at)
    assert answer.status == status
    assert answer.headers["Content-Type"] == "text/html"
    assert b"<h1>" in answer.body
    assert count(at) == 0
    assert send(at).status == 200


def test_too_many_with_and_without_a_time(at):
    at.sim.fault("http_429")
    at.sim.fault("http_429_retry_after", secs=7)
    first, second = send(at), send(at)
    assert (first.status, first.headers["Retry-After"]) == (429, None)
    assert (second.status, second.headers["Retry-After"]) == (429, "7")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (1, 500), (2, 503), (4, 400), (17, 400), (32, 400), (613, 400), (80006, 400), (80007, 400),
        (130429, 400), (131056, 400), (190, 401), (200, 403), (10, 403), (368, 403), (131000, 500),
    ],
)  # fmt: skip
def test_codes_have_their_status(at, code, status):
    at.sim.fault("code", code=code)
    answer = send(at, NUMBER)
    assert (answer.status, answer.error) == (status, (code, None))
    assert count(at, NUMBER) == 0


def test_a_code_may_have_another_subcode_and_status(at):
    at.sim.fault("code", code=4, subcode=99, status=429, message="Slow down")
    answer = send(at)
    assert (answer.status, answer.error) == (429, (4, 99))
    assert "Slow down" in answer.json["error"]["message"]


def test_codes_of_localapp_come_with_200(at):
    at.sim.fault("code", code=-32)
    answer = send(at, OA)
    assert (answer.status, answer.json["error"]) == (200, -32)
    assert "data" not in answer.json


@pytest.mark.parametrize(
    ("account", "window", "gone"),
    [
        (PAGE, (10, 2018278), (551, 1545041)),
        (PHOTO, (10, 2534022), (551, 1545041)),
        (NUMBER, (131047, None), (131026, None)),
    ],
)
def test_windows_and_recipients_have_the_channels_codes(at, account, window, gone):
    at.sim.fault("window_closed", account=account)
    at.sim.fault("recipient_gone", account=account)
    assert send(at, account).error == window
    assert send(at, account).error == gone
    assert send(at, account).status == 200


def test_windows_and_recipients_of_localapp(at):
    at.sim.fault("window_closed", channel="localapp")
    at.sim.fault("recipient_gone", channel="localapp")
    assert [send(at, OA).json["error"] for _ in range(3)] == [-230, -213, 0]


def test_an_error_in_a_200(at):
    at.sim.fault("error_in_200", code=2)
    answer = send(at)
    assert (answer.status, answer.error) == (200, (2, None))
    assert count(at) == 0


def test_an_error_although_it_was_sent(at):
    at.sim.fault("sent_but_error")
    assert send(at).error == (1, 1357046)
    assert count(at) == 1


@pytest.mark.parametrize(("kind", "accepted"), [("reset_before", 0), ("reset_after", 1)])
def test_connections_break_before_and_after_it_was_accepted(at, kind, accepted):
    at.sim.fault(kind, what="sends")
    with pytest.raises(ConnectionResetError):
        send(at)
    assert count(at) == accepted
    call = at.sim.calls(fault=kind)[0]
    assert (call["status"], call["account"]) == (0, PAGE)


def test_a_body_is_cut_short_with_its_connection(at):
    at.sim.fault("cut", what="sends")
    with pytest.raises(IncompleteRead):
        send(at)
    assert count(at) == 1


def test_a_body_is_cut_short_although_its_length_is_right(at):
    at.sim.fault("truncated", what="sends")
    answer = send(at)
    with pytest.raises(json.JSONDecodeError):
        assert answer.json
    assert count(at) == 1


def test_slow_answers_are_accepted_and_hanging_ones_are_not(at):
    for kind, accepted in (("slow", 1), ("hang", 1)):
        at.sim.fault(kind, what="sends", secs=30)
        user_id, token = at.written(PAGE), at.sim.token("socialnet", PAGE)
        body = {"recipient": {"id": user_id}, "messaging_type": "RESPONSE",
                "message": {"text": "Hello"}}  # fmt: skip
        connection = HTTPConnection(at.sim.host_port, timeout=0.3)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        connection.request("POST", "/graph/v26.0/me/messages", json.dumps(body).encode(), headers)
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()
        assert count(at) == accepted
    started_at = time.monotonic()
    assert send(at).status == 200
    assert time.monotonic() - started_at < 10


def test_a_fault_waits_for_its_turn_and_ends(at):
    at.sim.fault("http_500", what="sends", after=1, times=2)
    assert [send(at).status for _ in range(4)] == [200, 500, 500, 200]


def test_a_fault_without_an_end_goes_on_until_it_is_cleared(at):
    at.sim.fault("http_500", times=0)
    assert [send(at).status for _ in range(3)] == [500, 500, 500]
    at.sim.clear_faults()
    assert send(at).status == 200


def test_a_fault_is_for_its_account_channel_and_kind_of_call(at):
    at.sim.fault("http_500", account=OTHER_PAGE, times=0)
    at.sim.fault("http_502", channel="chatapp", times=0)
    at.sim.fault("http_503", channel="socialnet", what="lists", times=0)
    assert send(at).status == 200
    assert send(at, OTHER_PAGE).status == 500
    assert send(at, NUMBER).status == 502
    assert at.graph("GET", "me/accounts", token=at.sim.token("socialnet")).status == 503
    assert at.graph("GET", "me/accounts", token=at.sim.token("photoapp")).status == 200


def test_tokens_can_fail_too(at):
    at.sim.fault("http_503", channel="localapp", what="tokens")
    answer = at.form("/localapp-oauth/v4/oa/access_token", {"app_id": "2553900000000000001"})
    assert answer.status == 503


@pytest.mark.parametrize("values", [{"kind": "flood"}, {"kind": "code"}, {"kind": "slow", "x": 1}])
def test_an_unknown_fault_is_refused(at, values):
    with pytest.raises(Refused):
        at.sim.control("POST", "faults", values)
    assert at.sim.simulator.faults == []
