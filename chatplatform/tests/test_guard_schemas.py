"""Guards over the schemas of every request: no value is accepted that cannot be stored."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from chatplatform.api.operation import Form, Operation, routes
from chatplatform.api.schemas import MAX_ID


def request_schemas(declared: Operation) -> list[type[BaseModel]]:
    body = declared.body.schema if isinstance(declared.body, Form) else declared.body
    return [schema for schema in (body, declared.query) if schema]


SCHEMAS = sorted(
    {schema for *_, declared in routes() for schema in request_schemas(declared)}, key=str
)


def whole_numbers(schema: type[BaseModel]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every whole number that a request of this schema can hold, with its path."""
    document = schema.model_json_schema()
    yield from _below(document, document, "", frozenset())


def _below(root: Any, node: Any, place: str, seen: frozenset[str]) -> Any:
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict) or node.get("readOnly"):
        return
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name and name not in seen:
        yield from _below(root, root["$defs"][name], place, seen | {name})
    if node.get("type") == "integer" and not {"enum", "const"} & set(node):
        yield place, node
    for key, part in node.items():
        if key != "$defs":
            yield from _below(root, part, f"{place}/{key}", seen)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_every_whole_number_of_a_request_has_bounds_that_a_column_holds(schema):
    unbounded = [
        place
        for place, number in whole_numbers(schema)
        if not -MAX_ID
        <= number.get("minimum", -2 * MAX_ID)
        <= number.get("maximum", 2 * MAX_ID)
        <= MAX_ID
    ]
    assert not unbounded


def test_the_guard_sees_numbers_that_hide_in_lists_and_optional_fields():
    class Part(BaseModel):
        size: int | None = None

    class Whole(BaseModel):
        parts: list[Part]

    ((place, number),) = whole_numbers(Whole)
    assert place.startswith("/properties/parts/items/properties/size")
    assert "maximum" not in number
