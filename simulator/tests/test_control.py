"""The simulator as a tool: its log, its page, its reset, its environment, its command."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from channels_app.testing import simulator
from simulator import defaults
from simulator.client import Client, Refused
from simulator.saving import Saved
from simulator.tests.calls import NOW, NUMBER, OA, PAGE, Platform, caller
from simulator.world import World

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def at():
    with caller() as made:
        yield made


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:9200", 200), ("localhost", 200), ("rebound.example", 421), ("", 421)],
)
def test_it_answers_to_this_machines_names_alone(sim, host, status):
    """A page of another site, whose name comes to lead here, would else read chats and tokens."""
    address = urlsplit(sim.origin)
    with closing(HTTPConnection(address.hostname, address.port)) as connection:
        connection.request("GET", "/control/state", headers={"Host": host})
        assert connection.getresponse().status == status


def test_calls_are_logged_without_secrets(at):
    token = at.sim.token("socialnet")
    secret = defaults.app("socialnet").secret
    path = f"/graph/v26.0/oauth/access_token?client_id=900000001&client_secret={secret}&code=abc"
    at.call("GET", path)
    at.sim.limits(page_size=1)
    at.graph("GET", "me/accounts", token=token)
    at.localapp("GET", "/v2.0/oa/getoa", token="local-secret")
    at.form(
        "/localapp-oauth/v4/oa/access_token", {"refresh_token": "old-secret"}, secret_key="key-1"
    )
    log = str(at.sim.calls())
    for hidden in (secret, token, "abc", "local-secret", "old-secret", "key-1"):
        assert hidden not in log
    exchange, listing = at.sim.calls()[:2]
    assert exchange["query"]["client_secret"] == "***"
    assert (exchange["what"], exchange["channel"], exchange["status"]) == (
        "tokens", "socialnet", 400,
    )  # fmt: skip
    assert listing["headers"]["authorization"] == "***"
    assert len(listing["answer"]["data"]) == 1


def test_calls_are_found_by_what_they_are_about(at):
    token = at.page()
    user_id = at.written(PAGE)
    body = {"recipient": {"id": user_id}, "messaging_type": "RESPONSE", "message": {"text": "Hi"}}
    at.graph("POST", "me/messages", body, token)
    at.graph("GET", "me/accounts", token=token)
    (call,) = at.sim.calls(account=PAGE, what="sends")
    assert (call["body"]["message"], call["path"]) == ({"text": "Hi"}, "/v26.0/me/messages")
    assert call["answer"]["recipient_id"] == user_id
    assert at.sim.calls(channel="chatapp") == []
    assert at.sim.calls(after=call["id"], what="sends") == []
    assert [each["what"] for each in at.sim.calls(latest=1)] == ["lists"]


def test_deliveries_are_logged_with_status_and_time(at):
    at.page()
    at.platform.statuses = [403, 200]
    at.written(PAGE, text="xin chào")
    at.sim.deliver()
    (delivery,) = at.sim.deliveries(channel="socialnet", account=PAGE)
    assert delivery["json"]["entry"][0]["messaging"][0]["message"]["text"] == "xin chào"
    assert delivery["headers"]["X-Hub-Signature-256"].startswith("sha256=")
    assert [each["status"] for each in delivery["attempts"]] == [403, 200]
    assert at.sim.deliveries(channel="chatapp") == []
    at.sim.control("DELETE", "log")
    assert at.sim.deliveries() == at.sim.calls() == []


def test_a_reset_forgets_everything_or_keeps_the_connections(at):
    token = at.page()
    at.written(PAGE)
    at.sim.fault("http_500")
    at.sim.modes(duplicate=3)
    at.sim.reset(keep_connections=True)
    assert at.sim.thread(PAGE, "an")["messages"] == []
    assert at.sim.control("GET", "faults") == []
    assert at.sim.control("GET", "")["modes"]["duplicate"] == 0
    assert at.graph("GET", "me", token=token).json["id"] == PAGE
    at.written(PAGE)
    assert len(at.events()) == 1
    at.sim.reset()
    assert at.graph("GET", "me", token=token).error == (190, None)
    at.written(PAGE)
    assert at.events() == []
    assert at.sim.deliveries() == []


def story() -> tuple[str, list[str]]:
    platform = Platform()
    with simulator(wire=platform, now=NOW, seed=5) as sim:
        sim.subscribe(PAGE)
        token = sim.token("socialnet")
        sim.write_text("socialnet", PAGE, "new customer", "hi")
        sim.deliver()
    return token, [str(body) for body in platform.bodies]


def test_a_seed_and_a_clock_give_the_same_story():
    assert story() == story()


def test_the_clock_stands_still_until_it_is_moved(at):
    assert at.sim.state()["now"] == NOW
    at.sim.advance(90)
    assert at.sim.state()["now"] == NOW + 90


def test_the_page_is_served_with_nothing_from_elsewhere(at):
    page = at.call("GET", "/")
    assert page.status == 200
    assert b"<title>Channel simulator</title>" in page.body
    assert b"http://" not in page.body
    assert b"https://" not in page.body


def test_another_sites_page_cannot_post(at):
    answer = at.call("POST", "/control/reset", b"{}", **{"Content-Type": "text/plain"})
    assert answer.status == 415
    assert at.call("OPTIONS", "/control/reset").status == 501


def test_the_index_says_what_there_is(at):
    index = at.sim.control("GET", "")
    assert "POST /control/act" in index["routes"]
    assert "survey" in index["kinds"]["socialnet"]
    assert "reset_after" in index["faults"]
    with pytest.raises(Refused, match="GET /control/calls"):
        at.sim.control("GET", "dance")


def test_accounts_and_customers_can_be_added_and_changed(at):
    added = at.sim.add_accounts("number", 2, parent="102290129340399", name="Branch")
    assert {each["parent"] for each in added} == {"102290129340399"}
    at.sim.change_account(PAGE, tasks=["ANALYZE"])
    token = at.sim.token("socialnet")
    row = at.graph("GET", "me/accounts?fields=tasks", token=token).json["data"][0]
    assert row["tasks"] == ["ANALYZE"]
    with pytest.raises(Refused, match="name an account"):
        at.sim.change_account(PAGE, id="5")
    at.sim.control("POST", "customers", {"key": "eve", "name": "Eve", "hides_number": True})
    assert at.sim.act(NUMBER, "eve", "text")["user_id"].startswith("VN.")


@pytest.mark.parametrize(
    ("method", "name", "values"),
    [
        ("POST", "modes", {"dance": True}),
        ("POST", "behaviour", {"echo_delay": 1}),
        ("POST", "accounts", {"kind": "shop"}),
        ("POST", "tokens", {"app": "dance"}),
        ("DELETE", "tokens", {"how": "bored"}),
        ("POST", "handshake", {}),
        ("POST", "files", {"data": "?"}),
        ("POST", "act", {"account": PAGE}),
    ],
)
def test_what_the_control_api_cannot_do_is_a_400(at, method, name, values):
    with pytest.raises(Refused):
        at.sim.control(method, name, values)


def test_the_environment_points_a_platform_here():
    filled = defaults.fill_unset(
        {"SOCIALNET_APP_ID": "mine", "EGRESS_ALLOW": "10.0.0.5:80", "CHATAPP_APP_ID": ""},
        "http://127.0.0.1:9200",
    )
    assert "SOCIALNET_APP_ID" not in filled
    assert filled["CHATAPP_APP_ID"] == "900000004"
    assert filled["EGRESS_ALLOW"] == "10.0.0.5:80,127.0.0.1:9200"
    assert filled["SOCIALNET_API_URL"] == "http://127.0.0.1:9200/graph/v26.0"
    assert filled["LOCALAPP_OA_SECRET_KEY"] == defaults.OA_SECRET_KEY


def test_the_simulator_takes_over_the_apps_of_the_environment():
    """What is set wins, and the simulator knows it: two channels may even share an app."""
    environ = {
        "SOCIALNET_APP_ID": "77", "SOCIALNET_APP_SECRET": "s7", "PHOTOAPP_APP_ID": "77",
        "LOCALAPP_OA_SECRET_KEY": "k7",
    }  # fmt: skip
    settings = defaults.settings_from(environ, defaults.Settings("http://platform.test"))
    assert defaults.environment("http://x", settings)["SOCIALNET_APP_SECRET"] == "s7"
    world = World(settings)
    assert world.app_by_key("socialnet") is world.app_by_key("photoapp") is world.apps["77"]
    hooks = {name: hook.url for name, hook in world.apps["77"].hooks.items()}
    assert hooks == {
        "page": "http://platform.test/socialnet/webhook",
        "instagram": "http://platform.test/photoapp/webhook",
    }
    assert settings.oa_secret_key == "k7"


def test_the_bases_can_be_moved():
    settings = defaults.Settings(bases=defaults.Bases(graph="/g", localapp="/l"))
    assert defaults.environment("http://x", settings)["SOCIALNET_API_URL"] == "http://x/g/v26.0"


@pytest.mark.django_db(transaction=True)
def test_callbacks_reach_the_views_of_this_process(sim):
    """Without a wire of the test, the platform under test is this one."""
    assert sim.control("POST", "handshake", {"channel": "localapp"})["url"].endswith("/callback")
    sim.tokens("localapp")
    sim.act(OA, "an", "text")
    sim.deliver(within=1)
    (delivery,) = sim.deliveries()
    assert [attempt["status"] for attempt in delivery["attempts"]] == [200]


def test_the_command_prints_the_environment():
    command = [sys.executable, "-m", "simulator", "--port", "9300", "--environment"]
    printed = subprocess.check_output([*command, "--base", "graph=/g"], cwd=ROOT, text=True)
    lines = dict(line.split("=", 1) for line in printed.splitlines())
    assert lines["SOCIALNET_API_URL"] == "http://127.0.0.1:9300/g/v26.0"
    assert lines["EGRESS_ALLOW"] == "127.0.0.1:9300"


@contextmanager
def process(*options: str) -> Iterator[Client]:
    """The simulator as a process of its own; it must end well."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "simulator", "--port", str(port), *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        try:
            assert started.stdout is not None
            line = started.stdout.readline()
            assert line == f"channel simulator on http://127.0.0.1:{port}/\n"
            yield Client(f"http://127.0.0.1:{port}")
        finally:
            started.terminate()
            assert started.wait(20) == 0


def test_a_state_file_keeps_connections_and_threads_for_the_next_process(tmp_path):
    state = str(tmp_path / "state")
    with process("--state", state, "--callback-base", "http://127.0.0.1:9") as sim:
        token = sim.token("socialnet", PAGE)
        sim.subscribe(PAGE)
        first = sim.write_text("socialnet", PAGE, "an", "hi")
    with process("--state", state, "--callback-base", "http://127.0.0.1:9") as sim:
        kept = [each["value"] for each in sim.control("GET", "tokens")]
        assert kept[-1] == token
        assert sim.token("socialnet") not in kept
        again = sim.write_text("socialnet", PAGE, "an", "hi again")
        assert again["user_id"] == first["user_id"]
        assert again["message_id"] != first["message_id"]
        texts = [each["text"] for each in sim.thread(PAGE, "an")["messages"]]
        assert texts == ["hi", "hi again"]
        assert sim.state()["skipped"] == {}


def test_a_state_of_another_version_is_not_read(tmp_path):
    path = tmp_path / "state"
    path.write_bytes(b"0" * 64 + b"\n" + b"anything")
    with caller() as made:
        saved = Saved(made.sim.simulator, path)
        saved.load()
        assert made.sim.control("GET", "tokens") == []
        saved.save()
        assert path.stat().st_mode & 0o777 == 0o600
        assert b"anything" not in path.read_bytes()
