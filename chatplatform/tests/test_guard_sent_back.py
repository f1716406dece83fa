"""What a GET answers can be changed and sent back: fields that only the server sets are ignored.

The pairs come from the document: a reply whose schema is also the body of a PUT or POST that needs
no id but the GET's own, and the rows (of a list, or the one that a GET answers) that have a PUT of
their own, whatever shape it takes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from chatplatform.tests.owners import *  # noqa: F403
from chatplatform.tests.served import ACCEPTED, ALL, MISSING, Served, callers, send

# Writes that make something that may be there only once.
NOT_TWICE_BECAUSE = {
    ("POST", "/ai/{bot_id}/train/text"): "a bot has a text once",
    ("POST", "/ai/{bot_id}/train/question-answer"): "a bot has one answer to a question",
    ("POST", "/identity/users"): "the sign-in name of another person cannot be taken",
}


@dataclass(frozen=True)
class Pair:
    """A GET and the operation that takes what it answers; `is_of_row`: the PUT names the row."""

    read: Served
    write: Served
    is_of_row: bool = False

    def __str__(self) -> str:
        return f"{self.read} -> {self.write}"


def _rows(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a list; the row that is answered alone."""
    return next((reply[name] for name in ("items", "tags") if name in reply), [reply])


def _pairs() -> Iterator[Pair]:
    writes = [
        served
        for served in ALL
        if served.method in {"PUT", "POST"}
        and isinstance(served.declared.body, type)
        and served.at not in NOT_TWICE_BECAUSE
    ]
    for read in (served for served in ALL if served.method == "GET"):
        for write in writes:
            if write.declared.body is read.declared.returns and set(write.ids) <= set(read.ids):
                yield Pair(read, write)
            rows, _, own = write.path.rpartition("/")
            if write.method == "PUT" and own[0] == "{" and read.path in {rows, f"{rows}s"}:
                yield Pair(read, write, is_of_row=True)


PAIRS = list(_pairs())


def test_the_pairs_are_found():
    found = {str(pair) for pair in PAIRS}
    assert len(found) >= 13
    assert "GET /ai/bot/{bot_id} -> PUT /ai/bot/{bot_id}/update-bot" in found
    assert "GET /ai/bot/{bot_id} -> POST /ai/bot" in found
    assert "GET /ai/{bot_id}/train/web-url -> PUT /ai/{bot_id}/train/web-url/{web_url_id}" in found
    assert "GET /webhook/config -> PUT /webhook/config/{config_id}" in found
    assert "GET /webhook/configs -> PUT /webhook/config/{config_id}" in found
    assert "GET /ai/tags -> PUT /ai/tags/{tag_id}" in found


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_what_was_read_can_be_sent_back(pair, ann, ann_key, ours):
    reader = callers(pair.read.declared.access, ann, ann_key)[0]
    writer = callers(pair.write.declared.access, ann, ann_key)[0]
    read = send(reader, pair.read, ours).json()
    for body in _rows(read) if pair.is_of_row else [read]:
        own = {**ours, pair.write.ids[-1]: body["id"]} if pair.is_of_row else ours
        reply = send(writer, pair.write, own, body)
        assert reply.status_code in {200, 201}, reply.content
        if pair.write.method == "PUT":
            again = send(reader, pair.read, ours).json()
            assert _settled(again) == _settled(read), "nothing was to change"


def _settled(value: Any) -> Any:
    """Without the times of changes, and without the state of work that a change begins."""
    if isinstance(value, list):
        return [_settled(entry) for entry in value]
    if isinstance(value, dict):
        return {k: _settled(v) for k, v in value.items() if k not in {"updated_at", "status"}}
    return value


def _read_only(served: Served) -> dict[str, Any]:
    """The fields of a JSON body that only the server sets, as the document shows them."""
    body = served.declared.body
    fields = (
        body.model_json_schema()["properties"]
        if isinstance(body, type) and issubclass(body, BaseModel)
        else {}
    )
    return {name: field for name, field in fields.items() if field.get("readOnly")}


@pytest.mark.parametrize("served", [served for served in ALL if _read_only(served)], ids=str)
def test_another_rows_id_is_refused_and_what_the_server_sets_is_ignored(served, ann, ann_key, ours):
    writer = callers(served.declared.access, ann, ann_key)[0]
    ignored = {}
    for name, mark in _read_only(served).items():
        parameter = mark.get("x-path-parameter")
        if parameter not in served.ids:
            ignored[name] = {"any": ["thing"]}
            continue
        other = ACCEPTED[served.at] | {name: str(MISSING[parameter])}
        reply = send(writer, served, ours, other)
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"] == ["body", name]
    unknown = send(writer, served, ours, ACCEPTED[served.at] | {"no_such_field": 1})
    assert unknown.json()["detail"][0]["type"] == "extra_forbidden"
    assert send(writer, served, ours, ACCEPTED[served.at] | ignored).status_code < 300
