"""Guards over every served operation: who may call it, and what it answers to a wrong request."""

import itertools
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core import signing

from bots.testing import make_bot
from chatplatform.api.operation import PUBLIC, Access, Form, OperationViewSet
from chatplatform.tests.owners import *  # noqa: F403
from chatplatform.tests.served import (
    ACCEPTED,
    ALL,
    CLOSED,
    MISSING,
    WITH_BODY,
    WITH_ID,
    WITH_QUERY,
    Served,
    callers,
    for_each,
    media_type_of,
    raw_call,
    send,
    undone,
)
from identity.testing import Person, make_key

PUBLIC_BECAUSE = {
    ("POST", "/identity/register-trial"): "a company that registers has no credential yet",
    ("POST", "/identity/confirm-registration"): "the mailed token and a password; tries count",
    ("POST", "/identity/resend-registration"): "a company that registers has no credential yet",
    ("POST", "/identity/token2"): "signing in returns the credential; failures are counted",
    ("GET", "/ai/attachment/{attachment_id}"): "the link's signature is the credential",
    ("POST", "/identity/forgot-password"): "a forgotten password leaves no other credential",
    ("POST", "/identity/verify-reset-token"): "the mailed token is the credential; tries count",
    ("POST", "/identity/reset-password"): "the mailed token is the credential; tries count",
    ("GET", "/socialnet/webhook"): "the provider shows the word that was agreed on",
    ("POST", "/socialnet/webhook"): "the provider's signature is the credential",
    ("GET", "/photoapp/webhook"): "the provider shows the word that was agreed on",
    ("POST", "/photoapp/webhook"): "the provider's signature is the credential",
    ("GET", "/localapp/callback"): "the state is signed, and good once",
    ("POST", "/localapp/callback"): "the provider's signature is the credential",
    ("GET", "/chatapp/webhook"): "the provider shows the word that was agreed on",
    ("POST", "/chatapp/webhook"): "the provider's signature is the credential",
    ("POST", "/telegram/webhook/{account_id}"): "the account's own secret is the credential",
    ("POST", "/identity/subscription/payments"): "the provider's signature is the credential",
    ("GET", "/health"): "for monitors; it names no hosts and no clients",
    ("GET", "/health/live"): "for monitors; it shows only that the process answers",
}

# Refused to the owner too, because the rows of `rows_of` prevent it.
PROBED_BECAUSE = {
    ("POST", "/localapp/callback"): "the provider checks the address by any body without an event"
}
CONFLICT_BECAUSE = {
    ("DELETE", "/ai/bot/{bot_id}"): "a bot with conversations is not deleted",
    ("PUT", "/ai/chat/{chat_id}/messages/{message_id}"): "the message is not the caller's",
    ("DELETE", "/ai/chat/{chat_id}/messages/{message_id}"): "the message is not the caller's",
    ("POST", "/ai/{bot_id}/golden-runs/{run_id}/discard"): "the run holds back no document",
    ("POST", "/ai/{bot_id}/train/document/{document_id}/discard"): "no change is held back",
    ("POST", "/function-calling/{bot_id}/mcp-servers"): "no MCP server answers there",
    ("POST", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}/refresh"): (
        "no MCP server answers there"
    ),
    ("GET", "/chatapp/{client_id}/templates/{bot_id}"): "the bot's number is given up here",
    ("POST", "/chatapp/{client_id}/templates/{bot_id}"): "the bot's number is given up here",
}

# `operation()` declares these, so that the document and the guards see them.
REPLACED_BY_OPERATION = {
    "authentication_classes", "content_negotiation_class", "filter_backends", "filterset_class",
    "get_object", "get_queryset", "metadata_class", "pagination_class", "parser_classes",
    "perform_create", "perform_update", "permission_classes", "queryset", "renderer_classes",
    "schema", "serializer_class", "throttle_classes", "throttle_scope", "versioning_class",
}  # fmt: skip

DEEP = 100_000
MALFORMED = {
    "bad JSON": b'{"name": ',
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "list instead of object": b"[]",
    "string instead of object": b'"hello"',
    "null": b"null",
    "NUL": b'{"name": "a\\u0000b"}',
    "NUL as a key": b'{"a\\u0000b": 1}',
    "lone surrogate": b'{"name": "\\ud800"}',
    "nested arrays": b"[" * DEEP + b"]" * DEEP,
    "nested objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "empty": b"",
    "huge integer": b'{"id": ' + b"9" * 5000 + b"}",
    "infinite number": b'{"id": 1e999}',
    "not a number": b'{"id": NaN}',
    "2 MB": b'{"name": "' + b"x" * 2_000_000 + b'"}',
}
# Each replaces each field of an accepted body.
WRONG_VALUES = ["a\x00b", 10**30, -(2**63) - 1, [[]] * 20, {"a": {"b": [None]}}, None, "x" * 9000]
# Positions that no list signs.
WRONG_POSITIONS = [[], ["x"], [10**30], [1, 2], ["a", "b"], [None], [{"a": 1}], ["\x00"]]


def is_error(reply: Any, status: int) -> bool:
    """Whether the answer has the documented shape of an error, with this request's id."""
    body = reply.json()
    return (
        reply.status_code == status
        and reply["Content-Type"] == "application/json"
        and {"detail", "code", "request_id"} <= set(body)
        and all(isinstance(body[name], str) for name in ("detail", "code", "request_id"))
        and body["request_id"] == reply["X-Request-ID"]
    )


def lacks_a_server(reply: Any) -> bool:
    """Whether the operation needs a model or a messaging provider: here is none."""
    code: str = reply.json()["code"] if reply.status_code in {502, 503} else ""
    return code in {"engine_not_configured", "provider_refused"}


def test_served_operations_are_those_of_the_document_in_docs():
    document = json.loads((settings.BASE_DIR / "docs" / "openapi.json").read_text())
    promised = [
        (operation["tags"][0], operation["summary"], method.upper(), path.rstrip("/"))
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]
    assert len(promised) > 100
    assert sorted(
        (operation.declared.tag, operation.declared.name, *operation.at) for operation in ALL
    ) == sorted(promised)


def views(base: type[OperationViewSet] = OperationViewSet) -> list[type[OperationViewSet]]:
    return [view for child in base.__subclasses__() for view in (child, *views(child))]


def test_no_view_declares_what_operation_replaces():
    assert len(views()) > 20
    assert [
        f"{view.__module__}.{view.__name__}.{name}"
        for view in views()
        for name in REPLACED_BY_OPERATION & set(vars(view))
    ] == []


def test_access_is_declared_and_public_only_with_a_reason():
    assert ALL
    assert all(isinstance(operation.declared.access, Access) for operation in ALL)
    assert {operation.at for operation in ALL if not operation.declared.access.security} == set(
        PUBLIC_BECAUSE
    )
    assert {operation.at for operation in ALL if operation.declared.access is PUBLIC} == set(
        PUBLIC_BECAUSE
    )
    assert all(PUBLIC_BECAUSE.values())


def test_tables_name_what_is_served():
    assert WITH_ID
    assert WITH_BODY
    assert WITH_QUERY
    assert set(ACCEPTED) == {operation.at for operation in WITH_BODY}
    assert set(MISSING) == {name for operation in WITH_ID for name in operation.ids}


# One test calls them all: hundreds of requests are a minute on a busy machine.
at_length = pytest.mark.timeout(300)


@pytest.mark.full
@at_length
def test_trailing_slash_makes_no_difference(nobody, ours):
    for served in ALL:
        # Without a credential: the refusal proves that the path is served.
        without, slashed = (
            raw_call(nobody, served, served.fill(ours) + slash, b"", "application/json")
            for slash in ("", "/")
        )
        assert without.status_code == slashed.status_code, served.at
        assert without.status_code not in {301, 302, 307, 308, 404, 405}, served.at


@pytest.mark.full
@at_length
def test_401_without_a_credential_and_with_a_worthless_one(nobody, ours):
    forger = Person({"Authorization": "Bearer a.b.c", "API-KEY": "cp_wrong.\u00e9"})
    for served in CLOSED:
        reply = send(nobody, served, ours)
        assert is_error(reply, 401), served.at
        assert reply["WWW-Authenticate"] in {"Bearer", "API-KEY"}, served.at
        assert is_error(send(forger, served, ours), 401), served.at


@for_each(WITH_ID)
def test_404_to_another_client(served, ann, ann_key, ours, cara, owners):
    theirs = owners[1].rows
    for stranger in callers(served.declared.access, cara, owners[1].key):
        for name in served.ids:
            # Only this id is foreign: a client's own bot must not open another client's document.
            foreign = send(stranger, served, {**theirs, name: ours[name]})
            missing = send(stranger, served, {**theirs, name: MISSING[name]})
            assert is_error(foreign, 404), foreign.content
            assert is_error(missing, 404)
            assert without_request_id(foreign) == without_request_id(missing)
    for owner in callers(served.declared.access, ann, ann_key):
        # A chat that one has ended, the other cannot end again.
        with undone():
            reply = send(owner, served, ours)
        if served.at in CONFLICT_BECAUSE:
            assert reply.status_code == 409
        else:
            assert reply.status_code < 300 or lacks_a_server(reply), (
                "the request was wrong in itself"
            )


@at_length
def test_a_key_of_another_bot_reaches_nothing(owners, ours, db):
    client = owners[0].user.client
    other = make_bot(client).pk
    keys = [make_key(client, scope, other) for scope in ("secret", "public")]
    answers = {
        (served.at, key.key): send(key, served, ours).status_code
        for served in WITH_ID
        if "api_key" in served.declared.access.security
        for key in keys
    }
    assert {at: status for at, status in answers.items() if status not in {401, 403, 404}} == {}
    assert [*answers.values()].count(404) > 20


def without_request_id(reply: Any) -> dict[str, Any]:
    body: dict[str, Any] = reply.json()
    body.pop("request_id")
    return body


@for_each(
    [operation for operation in WITH_ID if not {"chat_id", "notification_id"} & set(operation.ids)]
)
def test_404_for_an_id_beyond_every_row(served, ann, ann_key, ours):
    for caller in callers(served.declared.access, ann, ann_key)[:1]:
        for name in served.ids:
            for beyond in (2**63, 10**30):
                assert is_error(send(caller, served, {**ours, name: beyond}), 404)


@for_each([operation for operation in WITH_BODY if operation.at not in PROBED_BECAUSE])
def test_4xx_json_to_malformed_bodies(served, ann, ann_key, ours):
    caller = (callers(served.declared.access, ann, ann_key) or [Person()])[0]
    path, media_type = served.fill(ours), media_type_of(served)
    cases = [(name, raw, media_type) for name, raw in MALFORMED.items()]
    if media_type == "multipart/form-data":
        cases += [
            ("no such boundary", b"--x\r\n", "multipart/form-data; boundary=y"),
            ("broken off", b"--x\r\nContent-Disp", "multipart/form-data; boundary=x"),
            ("boundary too long", b"--x", "multipart/form-data; boundary=" + "x" * 300),
        ]
    cases += [
        ("wrong content type", b"{}", "text/plain"),
        ("wrong content type", b"{}", "application/xml"),
        ("no content type", b"a=1", "application/octet-stream"),
        ("unknown charset", b"\xff", f"{media_type}; charset=no-such"),
    ]
    for name, raw, sent_as in cases:
        if name == "empty" and served.declared.body_is_optional:
            continue
        reply = raw_call(caller, served, path, raw, sent_as)
        assert 400 <= reply.status_code < 500, f"{name}: {reply.status_code}"
        assert reply["Content-Type"] == "application/json", name
        assert reply.json(), name


# How many of the wrong values each field gets, in turn.
@pytest.mark.parametrize("count", [1, pytest.param(len(WRONG_VALUES), marks=pytest.mark.drill)])
@for_each(WITH_BODY)
def test_no_500_to_a_wrong_field(served, ann, ann_key, ours, count):
    caller = (callers(served.declared.access, ann, ann_key) or [Person()])[0]
    body = served.declared.body
    schema = body.schema if isinstance(body, Form) else body
    assert schema.model_fields
    wrong_values = itertools.cycle(WRONG_VALUES)
    for name in schema.model_fields:
        for wrong in itertools.islice(wrong_values, count):
            reply = send(caller, served, ours, {**ACCEPTED[served.at], name: wrong})
            assert reply.status_code < 500 or lacks_a_server(reply), (name, wrong)
            # What a success holds is compared with the document; a streaming reply is sent by the
            # real server, and has no content here.
            if reply.status_code >= 400 and reply.content:
                assert reply["Content-Type"] == "application/json"


def ask(caller: Person, served: Served, path: str, query: dict[str, Any]) -> Any:
    """The operation with a query string, whatever its method."""
    return caller.browser.generic(
        served.method, path, QUERY_STRING=urlencode(query, doseq=True), headers=caller.headers
    )


@for_each(WITH_QUERY)
def test_422_to_a_wrong_query(served, ann, ann_key, ours, monkeypatch):
    # Signed for any list, so that the positions behind the signature are tested too.
    monkeypatch.setattr("chatplatform.api.pagination._salt", lambda *_: "any")
    signed = [signing.dumps(position, salt="any") for position in WRONG_POSITIONS]
    for caller in callers(served.declared.access, ann, ann_key):
        path = served.fill(ours)
        for wrong in ({"no": "1"}, {"limit": "0"}, {"limit": "9" * 30}, {"limit": ["1", "2"]}):
            assert ask(caller, served, path, wrong).status_code == 422, wrong
        for cursor in ["", "\x00", "nonsense", *signed]:
            reply = ask(caller, served, path, {"cursor": cursor})
            assert reply.status_code < 500 or lacks_a_server(reply), cursor
            assert reply["Content-Type"] == "application/json"
