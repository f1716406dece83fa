"""Schemas of stored rows."""

from types import SimpleNamespace

import pytest
from pydantic import Field

from chatplatform.api.schemas import Schema


class Ball(Schema):
    id: int
    color: str
    size: int | None = None


def test_fields_come_from_the_row_in_the_order_of_the_schema():
    ball = Ball.copy_from(SimpleNamespace(size=3, color="red", id=1, weight=9), color="blue")
    assert ball.model_dump_json() == '{"id":1,"color":"blue","size":3}'
    assert ball == Ball(id=1, color="blue", size=3)


def test_what_no_reply_shows_is_not_copied():
    class Door(Schema):
        color: str
        password: str | None = Field(None, exclude=True)

    door = Door.copy_from(SimpleNamespace(color="red", password="a hash"))
    assert vars(door) == {"color": "red", "password": None}
    assert door.model_dump_json() == '{"color":"red"}'


def test_a_row_is_not_validated():
    assert Ball.copy_from(SimpleNamespace(id=1, color="", size="an old value")).color == ""


def test_a_row_without_a_field_is_an_error():
    with pytest.raises(AttributeError):
        Ball.copy_from(SimpleNamespace(id=1, color="red"))
