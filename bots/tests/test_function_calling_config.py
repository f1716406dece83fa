"""Get and Upsert Function Calling Config."""

import copy
import json
import socket
import threading
from typing import Any

import pytest

from bots.models import Function, FunctionCalling
from identity.models import AuditEvent

pytestmark = pytest.mark.django_db

ORDER: dict[str, Any] = {
    "name": "get_order",
    "description": "Says where an order is.",
    "parameters": {
        "type": "object",
        "properties": {"order_id": {"type": "string", "maxLength": 20}},
        "required": ["order_id"],
        "additionalProperties": False,
    },
    "http": {"method": "GET", "url": "https://127.0.0.1:8443/orders/{order_id}"},
    "secret_headers": {"Authorization": "Bearer very-secret-token"},
}


@pytest.fixture(autouse=True)
def _egress(settings):
    # An address that needs no resolver, in EGRESS_ALLOW during the tests.
    settings.EGRESS_ALLOW = ["127.0.0.1:8443", "127.0.0.1:9443"]


def path(bot):
    return f"/function-calling/{bot.pk}"


def config(*functions, **more):
    return {"is_enabled": True, "functions": list(functions), **more}


def order(**changes):
    function = copy.deepcopy(ORDER)
    function["http"] |= changes.pop("http", {})
    function |= changes
    return {name: value for name, value in function.items() if value is not ...}


def test_off_by_default(ann, bot):
    assert ann.get(path(bot)).json() == {
        "is_enabled": False,
        "max_calls_per_reply": 5,
        "functions": [],
        "is_available": False,
        "unavailable_reason": "The extractive engine calls no functions: set a model of your own,"
        " or LLM_BASE_URL and LLM_MODEL.",
        "updated_at": None,
    }


def test_stored_and_shown_without_secrets(ann, ben, bot):
    reply = ann.post(path(bot), config(ORDER, max_calls_per_reply=3))
    assert reply.status_code == 200, reply.content
    shown = ben.get(path(bot))
    assert shown.json() == reply.json()
    assert b"very-secret" not in shown.content
    (function,) = shown.json()["functions"]
    assert function == {
        **{name: ORDER[name] for name in ("name", "description", "parameters")},
        "http": {**ORDER["http"], "headers": {}, "timeout_seconds": 10, "body_template": ""},
        "secret_header_names": ["Authorization"],
        "requires_approval": "none",
    }
    row = Function.objects.get()
    assert json.loads(row.secret_headers) == ORDER["secret_headers"]
    stored = Function.objects.values_list("secret_headers", flat=True).get()
    assert "very-secret" not in str(stored)


def test_available_with_a_model(ann, bot, settings):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    shown = ann.get(path(bot)).json()
    assert (shown["is_available"], shown["unavailable_reason"]) == (True, None)


@pytest.mark.parametrize(
    ("method", "approval"),
    [("GET", "none"), *((method, "customer") for method in ("POST", "PUT", "PATCH", "DELETE"))],
)
def test_the_customer_approves_changes_unless_something_else_is_said(ann, bot, method, approval):
    left_out, said = order(http={"method": method}), {"requires_approval": "none", "name": "said"}
    reply = ann.post(path(bot), config(left_out, {**left_out, **said}))
    assert reply.status_code == 200, reply.content
    asked = [function["requires_approval"] for function in reply.json()["functions"]]
    assert asked == [approval, "none"]


def test_everything_is_replaced_and_audited(ann, bot):
    ann.post(path(bot), config(ORDER, order(name="other")))
    stored = Function.objects.get(name="get_order").pk
    ann.post(path(bot), config(order(description="New."), order(name="third")))
    assert set(Function.objects.values_list("name", flat=True)) == {"get_order", "third"}
    row = Function.objects.get(pk=stored)
    assert row.description == "New."
    event = AuditEvent.objects.latest("id")
    assert (event.action, event.subject) == ("function_calling.updated", f"bot:{bot.pk}")
    assert event.changes == {
        "is_enabled": True,
        "added": ["third"],
        "kept": ["get_order"],
        "removed": ["other"],
        "secrets_replaced": ["get_order", "third"],
    }
    assert "secret-token" not in json.dumps(event.changes)


def test_secrets_that_are_left_out_stay(ann, bot):
    ann.post(path(bot), config(ORDER))
    reply = ann.post(path(bot), config(order(secret_headers=...)))
    assert reply.json()["functions"][0]["secret_header_names"] == ["Authorization"]
    assert json.loads(Function.objects.get().secret_headers) == ORDER["secret_headers"]


def test_empty_secrets_are_removed(ann, bot):
    ann.post(path(bot), config(ORDER))
    reply = ann.post(path(bot), config(order(secret_headers={})))
    assert reply.json()["functions"][0]["secret_header_names"] == []


def test_secrets_are_not_sent_to_another_host(ann, bot):
    ann.post(path(bot), config(ORDER))
    moved = order(secret_headers=..., http={"url": "https://127.0.0.1:9443/{order_id}"})
    reply = ann.post(path(bot), config(moved))
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "functions", 0, "secret_headers"]
    assert Function.objects.get().url == ORDER["http"]["url"]


def test_secrets_go_over_https_only(ann, bot):
    plain = {"url": "http://8.8.8.8/{order_id}"}
    reply = ann.post(path(bot), config(order(http=plain)))
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "functions", 0, "secret_headers"]
    assert not Function.objects.exists()
    assert ann.post(path(bot), config(order(http=plain, secret_headers={}))).status_code == 200
    named = {"url": "http://127.0.0.1:8443/{order_id}"}
    assert ann.post(path(bot), config(order(http=named))).status_code == 200


def wrong(**changes):
    return order(**changes)


@pytest.mark.parametrize(
    ("function", "field"),
    [
        (wrong(name="a b"), "name"),
        (wrong(name="x" * 65), "name"),
        (wrong(name="ok\n"), "name"),
        (wrong(description=" "), "description"),
        (wrong(parameters={}), "parameters"),
        (wrong(parameters={"type": "array"}), "parameters"),
        (wrong(parameters={"type": "object", "properties": 5}), "parameters"),
        (wrong(parameters={"type": "object", "$ref": "https://evil.example/x"}), "parameters"),
        (wrong(parameters={"type": "object", "allOf": [{"$ref": "#"}]}), "parameters"),
        (wrong(parameters={"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}),
         "parameters"),
        (wrong(parameters={"type": "object", "properties": {"chat.id": {}}}), "parameters"),
        (wrong(http={"method": "TRACE"}), "method"),
        (wrong(http={"url": "https://127.0.0.1:8443/{unknown}"}), "url"),
        (wrong(http={"url": "https://{order_id}/x"}), "url"),
        (wrong(http={"url": "https://127.0.0.1:8443/x#y"}), "url"),
        (wrong(http={"url": "/relative"}), "url"),
        (wrong(http={"headers": {"Host": "evil"}}), "headers"),
        (wrong(http={"headers": {"Content-Length": "1"}}), "headers"),
        (wrong(http={"headers": {"Transfer-Encoding": "chunked"}}), "headers"),
        (wrong(http={"headers": {"X": "a\r\nHost: evil"}}), "headers"),
        (wrong(http={"headers": {"X y": "a"}}), "headers"),
        (wrong(http={"headers": {"authorization": "x"}}), "secret_headers"),
        (wrong(secret_headers={"X": "\u00e9"}), "secret_headers"),
        (wrong(http={"timeout_seconds": 0}), "timeout_seconds"),
        (wrong(http={"timeout_seconds": 31}), "timeout_seconds"),
        (wrong(http={"body_template": "{}"}), "body_template"),
        (wrong(http={"method": "POST", "body_template": "{"}), "body_template"),
        (wrong(http={"method": "POST", "body_template": '{"a": {{other}}}'}), "body_template"),
        (wrong(http={"method": "POST", "body_template": '{"{{order_id}}": 1}'}), "body_template"),
        (wrong(requires_approval="boss"), "requires_approval"),
    ],
)  # fmt: skip
def test_a_wrong_function_changes_nothing(ann, bot, function, field):
    reply = ann.post(path(bot), config(function))
    assert reply.status_code == 422, reply.content
    assert field in reply.json()["detail"][0]["loc"]
    assert not Function.objects.exists()
    assert not FunctionCalling.objects.exists()
    assert not AuditEvent.objects.filter(action="function_calling.updated").exists()


@pytest.mark.parametrize(
    ("code", "urls"),
    [
        (
            "private_address",
            [
                "http://127.0.0.1/x", "http://127.0.0.1:6379/", "http://localhost/x",
                "http://[::1]/x", "http://169.254.169.254/latest", "http://10.0.0.1/",
                "http://0x7f000001/", "http://2130706433/", "http://[::ffff:127.0.0.1]/",
                "http://100.64.0.1/",
            ],
        ),
        ("not_an_address", ["file:///etc/x", "gopher://127.0.0.1/"]),
        ("with_user", ["http://user@127.0.0.1:8443/"]),
        (
            "not_public",
            ["http://127.1/", "http://127.0.0.1:8443\\@evil/", "http://no-such-name.invalid/"],
        ),
    ],
)  # fmt: skip
def test_addresses_that_nobody_may_reach_are_refused(ann, bot, code, urls):
    for url in urls:
        reply = ann.post(path(bot), config(order(http={"url": url})))
        assert reply.status_code == 422, url
        (error,) = reply.json()["detail"]
        assert error["loc"] == ["body", "functions", 0, "http", "url"]
        assert error["type"] == code, url
    assert not Function.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"is_enabled": True},
        {"functions": []},
        config(max_calls_per_reply=0),
        config(max_calls_per_reply=11),
        config(ORDER, ORDER),
        config(*[order(name=f"f{n}") for n in range(21)]),
        config(unknown=1),
    ],
)
def test_a_wrong_body(ann, bot, body):
    assert ann.post(path(bot), body).status_code == 422
    assert not FunctionCalling.objects.exists()


def test_twenty_functions_keep_their_order(ann, bot):
    names = [f"f{n}" for n in range(20)]
    reply = ann.post(path(bot), config(*[order(name=name) for name in names]))
    assert [item["name"] for item in reply.json()["functions"]] == names


def test_the_names_of_all_functions_are_resolved_side_by_side(ann, bot, monkeypatch):
    together, real, private = threading.Barrier(20), socket.getaddrinfo, set()

    def resolve(host, port, *args, **options):
        if not host.endswith(".example"):
            return real(host, port, *args, **options)
        together.wait(4)  # each waits for all others, for less than all may take
        address = "10.0.0.1" if host in private else "93.184.216.34"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    functions = [
        order(name=f"f{number}", http={"url": f"https://shop{number}.example/orders/{{order_id}}"})
        for number in range(20)
    ]
    assert ann.post(path(bot), config(*functions)).status_code == 200
    private.update({"shop7.example", "shop9.example"})
    reply = ann.post(path(bot), config(*functions, max_calls_per_reply=3))
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "functions", 7, "http", "url"]
    assert FunctionCalling.objects.get().max_calls_per_reply == 5
