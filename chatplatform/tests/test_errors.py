"""Every error is answered as JSON in the documented shape, with the request's id."""

import re

import pytest
from django.db import connection

from chatplatform.api.request_context import RequestIdFilter

UNHANDLED = "chatplatform.api.errors"


def is_error(reply, status, code):
    body = reply.json()
    assert reply.status_code == status
    assert reply["Content-Type"] == "application/json"
    assert set(body) >= {"detail", "code", "request_id"}
    assert isinstance(body["detail"], str)
    assert body["detail"]
    assert body["code"] == code
    assert body["request_id"] == reply["X-Request-ID"]
    return True


def is_invalid(reply):
    assert reply.status_code == 422
    assert reply["Content-Type"] == "application/json"
    assert reply["X-Request-ID"]
    (error,) = reply.json()["detail"]
    assert set(error) == {"loc", "msg", "type"}
    return error


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("path", ["/no/such/path", "/ai/bot/x", "/ai/bot/-1", "/%00", "/é"])
def test_404_of_an_unknown_path(nobody, settings, debug, path):
    settings.DEBUG = debug
    assert is_error(nobody.get(path), 404, "not_found")
    assert is_error(nobody.post(path, {}), 404, "not_found")


def test_405_names_what_is_allowed(ann):
    reply = ann.put("/ai/bot", {})
    assert is_error(reply, 405, "method_not_allowed")
    assert {"GET", "POST"} <= set(reply["Allow"].split(", "))


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PATCH", "NONSENSE"])
def test_405_of_unserved_methods(ann, nobody, method):
    for caller in (ann, nobody):
        reply = caller.browser.generic(method, "/ai/bot", headers=caller.headers)
        assert is_error(reply, 405, "method_not_allowed")
        assert method not in reply["Allow"].split(", ")


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("host", ["evil.example", "a b", "good.example:x", "\u00e9", "["])
@pytest.mark.parametrize("path", ["/openapi.json", "/no/such/path", "/admin/login/"])
def test_400_of_an_unknown_host(nobody, settings, debug, host, path):
    settings.ALLOWED_HOSTS, settings.DEBUG = ["good.example"], debug
    assert is_error(nobody.get(path, Host=host), 400, "bad_request")


def test_an_allowed_host_is_served(nobody, settings):
    settings.ALLOWED_HOSTS = ["good.example"]
    assert nobody.get("/openapi.json", Host="good.example:8000").status_code == 200


def test_health_is_answered_to_any_host(nobody, settings):
    settings.ALLOWED_HOSTS = ["good.example"]
    assert nobody.get("/health/live", Host="127.0.0.1:8000").status_code == 200


def test_413_of_a_large_body(ann):
    reply = ann.post("/ai/bot", '{"bot_name": "' + "x" * 2_000_000 + '"}')
    assert is_error(reply, 413, "too_large")


def test_415_of_another_media_type(ann):
    reply = ann.browser.post(
        "/ai/bot", "bot_name: Helper", content_type="application/yaml", headers=ann.headers
    )
    assert is_error(reply, 415, "unsupported_media_type")


def test_422_of_bad_json_says_where(ann):
    error = is_invalid(ann.post("/ai/bot", '{"bot_name": oops}'))
    assert error["loc"] == ["body", 13]
    assert error["type"] == "json_invalid"


def test_422_of_a_wrong_field_says_which(ann):
    error = is_invalid(ann.post("/ai/bot", {"bot_name": ["Helper"]}))
    assert error["loc"] == ["body", "bot_name"]
    assert error["type"] == "string_type"


@pytest.mark.parametrize(
    ("query", "type_", "says"),
    [({"q": "x" * 201}, "string_too_long", "String should have at most 200 characters"),
     ({"q": ""}, "string_too_short", "String should have at least 1 character")],
)  # fmt: skip
def test_422_of_a_text_counts_characters(ann, query, type_, says):
    error = is_invalid(ann.get("/ai/chats", query))
    assert (error["loc"], error["type"], error["msg"]) == (["query", "q"], type_, says)


@pytest.mark.undocumented
@pytest.mark.parametrize("debug", [False, True])
def test_500_hides_the_cause(ann, settings, monkeypatch, caplog, debug):
    def broken(*args, **kwargs):
        raise RuntimeError("secret of the inside")

    settings.DEBUG = debug
    monkeypatch.setattr("bots.services.bots.list_for_client", broken)
    reply = ann.get("/ai/bot")
    assert is_error(reply, 500, "internal_error")
    assert b"inside" not in reply.content
    (record,) = [record for record in caplog.records if record.name == UNHANDLED]
    assert record.exc_info
    assert "secret of the inside" in str(record.exc_info[1])


def test_503_while_the_database_is_away(transactional_db, ann, monkeypatch):
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", "1")
        reply = ann.get("/ai/bot")
    connection.close()
    assert is_error(reply, 503, "unavailable")
    assert int(reply["Retry-After"]) > 0
    assert ann.get("/ai/bot").status_code == 200


@pytest.mark.parametrize("request_id", ["abc-123", "a" * 128, "trace:1/2+3=_."])
def test_request_id_of_the_caller_is_kept(nobody, request_id):
    reply = nobody.get("/no/such/path", **{"X-Request-ID": request_id})
    assert reply["X-Request-ID"] == request_id
    assert reply.json()["request_id"] == request_id


@pytest.mark.parametrize(
    "request_id", ["", "a" * 129, "a b", "a\nb: c", "<b>", "\u00e9", '"', "a\n"]
)
def test_hostile_request_id_is_replaced(nobody, request_id):
    reply = nobody.get("/no/such/path", **{"X-Request-ID": request_id})
    assert re.fullmatch(r"[0-9a-f-]{36}", reply["X-Request-ID"])
    assert reply.json()["request_id"] == reply["X-Request-ID"]


@pytest.mark.parametrize(("path", "status"), [("/ai/bot", 401), ("/no/such/path", 404)])
def test_the_log_line_of_a_refusal_has_its_id(nobody, caplog, path, status):
    caplog.handler.addFilter(RequestIdFilter())
    assert nobody.get(path, **{"X-Request-ID": "look-for-me-1"}).status_code == status
    (line,) = [record for record in caplog.records if record.name == "django.request"]
    assert (line.request_id, line.levelname) == ("look-for-me-1", "WARNING")
    assert line.getMessage().endswith(f": {path}")


def test_request_ids_differ(nobody):
    assert nobody.get("/health/live")["X-Request-ID"] != nobody.get("/health/live")["X-Request-ID"]


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "latin-1"])
def test_400_of_a_form_in_another_encoding(nobody, charset):
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    reply = nobody.browser.generic("POST", "/identity/token2", b"username=a", content_type=kind)
    assert is_error(reply, 400, "bad_request")
