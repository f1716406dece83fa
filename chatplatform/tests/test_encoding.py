"""Stored data of every kind as JSON."""

import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from chatplatform.api.schemas import Moment, Schema, Text
from chatplatform.json_encoding import as_json


class Part(Schema):
    name: Text
    at: Moment
    free: dict[str, Any]


AT = datetime(2026, 11, 21, 3, tzinfo=UTC)


@pytest.mark.parametrize("number", [1, 2**64, 10**30, -(10**300)])
def test_every_whole_number(number):
    row_id = uuid.uuid4()
    part = Part.model_construct(name="\u00e9", at=AT, free={"n": number})
    decoded = json.loads(as_json({"part": part, "id": row_id, "at": AT, "n": number}))
    assert decoded["part"] == {
        "name": "\u00e9", "at": "2026-11-21T03:00:00.000Z", "free": {"n": number}
    }  # fmt: skip
    assert (decoded["id"], decoded["n"]) == (str(row_id), number)
    assert datetime.fromisoformat(decoded["at"]) == AT


@pytest.mark.parametrize("stranger", [object(), {1, 2}, [10**30, object()]])
def test_values_that_json_cannot_hold_raise(stranger):
    with pytest.raises(TypeError):
        as_json({"a": stranger})
