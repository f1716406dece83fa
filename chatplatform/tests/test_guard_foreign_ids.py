"""Another client's id outside the path: in a filter it fits nothing, else it is a 404 that names
the field. An id of the wrong form in the path is a 404 that names the parameter."""

import json
import uuid
from typing import Any, get_args

import pytest

from chatplatform.api.operation import Form
from chatplatform.tests.owners import *  # noqa: F403
from chatplatform.tests.served import ACCEPTED, ALL, MISSING, Served, callers, send, undone

# The row that a field names, where it is not that of its own name.
ROW_OF = {"assignee_id": "user_id", "bot_ids": "bot_id", "assignee_ids": "user_id",
          "conversation_id": "chat_id", "in_reply_to": "message_id",
          "document_ids": "document_id"}  # fmt: skip
# Ids of ours of which each is taken or skipped, and the reply says which.
OTHERWISE = {
    (("PUT", "/ai/model"), "bot_id"): "it repeats the query's: another one is a 422",
    (("POST", "/chatapp/{client_id}/templates/{bot_id}"), "conversation_id"): "its number is gone",
}
ONE_BY_ONE = {("POST", "/ai/{bot_id}/train/document/reupload"): "document_ids"}


def id_fields(schema: Any) -> list[str]:
    """The fields of a request that have the id of a row: a number or a UUID."""
    if schema is None:
        return []
    return [
        name
        for name, field in schema.model_fields.items()
        if name.endswith(("_id", "_ids", "in_reply_to"))
        and {int, uuid.UUID} & _kinds(field.annotation)
        and not (isinstance(field.json_schema_extra, dict) and field.json_schema_extra)
    ]


def _kinds(annotation: Any) -> set[Any]:
    found = {annotation}
    for part in get_args(annotation):
        found |= _kinds(part)
    return found


def body_of(served: Served) -> Any:
    return None if isinstance(served.declared.body, Form) else served.declared.body


IN_QUERY = [(served, name) for served in ALL for name in id_fields(served.declared.query)]
IN_BODY = [
    (served, name)
    for served in ALL
    for name in id_fields(body_of(served))
    if (served.at, name) not in OTHERWISE
]


def foreign(name: str, theirs: dict[str, Any]) -> Any:
    row = ROW_OF.get(name, name)
    return str(theirs.get(row, MISSING.get(row, uuid.uuid4())))


def is_right(reply: Any, name: str) -> bool:
    body = reply.json()
    if reply.status_code == 404:
        return bool(body.get("field") == name)
    return reply.status_code == 200 and not body.get("items", body.get("rows", True))


def test_there_are_such_fields():
    assert len(IN_QUERY) > 15
    assert len(IN_BODY) > 8


@pytest.mark.parametrize(("served", "name"), IN_QUERY, ids=str)
def test_in_a_query(served, name, ann, ann_key, ours, owners):
    for caller in callers(served.declared.access, ann, ann_key):
        with undone():
            query = {name: foreign(name, owners[1].rows)}
            reply = caller.browser.generic(
                served.method, served.fill(ours), json.dumps(ACCEPTED.get(served.at, {})),
                content_type="application/json", QUERY_STRING=f"{name}={query[name]}",
                headers=caller.headers,
            )  # fmt: skip
        if reply.headers.get("Content-Type") == "application/json":
            assert is_right(reply, name), reply.content
        else:
            list(reply)  # read to its end, it closes the file


@pytest.mark.parametrize(("served", "name"), IN_BODY, ids=str)
def test_in_a_body(served, name, ann, ann_key, ours, owners):
    for caller in callers(served.declared.access, ann, ann_key):
        other: Any = foreign(name, owners[1].rows)
        other = int(other) if other.isdigit() else other
        body = {**ACCEPTED[served.at], name: [other] if name.endswith("_ids") else other}
        if name == "conversation_id":
            body.pop("recipient_id", None)
        with undone():
            reply = send(caller, served, ours, body)
        if ONE_BY_ONE.get(served.at) == name:
            assert [each["id"] for each in reply.json()["skipped"]] == [other]
        elif reply.headers.get("Content-Type") == "application/json":
            assert is_right(reply, name), reply.content


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/ai/bot/abc", "bot_id"),
        ("/ai/chat/12/history", "chat_id"),
        ("/ai/3/train/document/x", "document_id"),
        ("/mesaging/conversations/019aa4c1/messages", "conversation_id"),
    ],
)
def test_a_malformed_id_in_the_path(nobody, path, name):
    reply = nobody.get(path)
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert name in reply.json()["detail"]
    assert name not in nobody.get("/no/such/path").json()["detail"]
