"""The simulator as a tool: its names, its log, its environment, its process."""

import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from simulator import defaults
from simulator.client import Client, Refused
from simulator.tests.calls import PAGE, caller

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "simulator", "--port"]


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:9200", 200), ("localhost", 200), ("rebound.example", 421), ("", 421)],
)
def test_it_answers_to_this_machines_names_alone(host, status):
    """Otherwise another site could read chats and tokens by DNS rebinding."""
    with caller() as at:
        address = urlsplit(at.sim.origin)
        with closing(HTTPConnection(address.netloc)) as connection:
            connection.request("GET", "/control/state", headers={"Host": host})
            assert connection.getresponse().status == status


def test_calls_are_logged_without_secrets():
    with caller() as at:
        token, secret = at.sim.token("socialnet"), defaults.app("socialnet").secret
        path = "oauth/access_token?client_id=900000001&code=abc&client_secret="
        at.graph("GET", path + secret)
        at.graph("GET", "me/accounts", token=token)
        at.localapp("GET", "/v2.0/oa/getoa", token="local-secret")
        form = {"refresh_token": "old-secret"}
        at.form("/localapp-oauth/v4/oa/access_token", form, secret_key="key-1")
        calls = at.sim.calls()
    for hidden in (secret, token, "abc", "local-secret", "old-secret", "key-1"):
        assert hidden not in str(calls)
    exchange, listing = calls[:2]
    assert exchange["query"]["client_secret"] == listing["headers"]["authorization"] == "***"
    assert (exchange["what"], exchange["channel"], exchange["status"]) == (
        "tokens", "socialnet", 400,
    )  # fmt: skip


def test_a_page_of_another_site_cannot_control_it():
    with caller() as at:
        assert at.form("/control/act", {"account": "1"}).status == 415


@pytest.mark.parametrize(
    ("method", "name", "values", "word"),
    [
        ("POST", "act", {"account": PAGE, "user": "an", "kind": "dance"}, "known: ad, "),
        ("POST", "clock", {"advance": "soon"}, "'soon'"),
        ("GET", "calls", {"latest": "all"}, "'all'"),
        ("POST", "handshake", {"channel": "pigeon"}, "'pigeon'"),
    ],
)
def test_what_it_cannot_do_is_a_400_that_says_why(method, name, values, word):
    with caller() as at, pytest.raises(Refused, match=word):
        at.sim.control(method, name, values)


def test_it_lists_what_it_knows():
    with caller() as at:
        known = at.sim.control("GET", "")
    assert "POST /control/act" in known["routes"]
    assert "postback" in known["kinds"]["socialnet"]
    assert known["modes"]["hold"] is False
    assert known["behaviour"]["read"] == 1.0


@pytest.mark.full
def test_the_process_serves_until_it_is_stopped_and_prints_the_environment():
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = str(probe.getsockname()[1])
    printed = subprocess.check_output([*COMMAND, port, "--environment"], cwd=ROOT, text=True)
    lines = dict(line.split("=", 1) for line in printed.splitlines())
    assert lines["SOCIALNET_API_URL"] == f"http://127.0.0.1:{port}/graph/v26.0"
    assert lines["EGRESS_ALLOW"] == f"127.0.0.1:{port}"
    with subprocess.Popen([*COMMAND, port], cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        try:
            assert started.stdout is not None
            origin = f"http://127.0.0.1:{port}"
            assert started.stdout.readline() == f"channel simulator on {origin}/\n"
            assert Client(origin).state()["waiting"] == 0
        finally:
            started.terminate()
            assert started.wait(20) == 0
