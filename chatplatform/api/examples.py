"""Examples of request bodies and responses in the OpenAPI document.

`docs/examples.json` contains the examples that tests recorded; all others are generated from the
schema. A response takes over what the request's example says (see `agreeing`).
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "docs" / "examples.json"
_MAX_DEPTH = 8
_BY_FORMAT = {
    "uuid": "019aa4c1-7c1e-7000-8000-5f0a4b1c2d3e",
    "date-time": "2026-11-21T03:00:00.123Z",
    "date": "2026-11-21",
    "uri": "https://shop.example/",
    "email": "zoe@shop.example",
    "binary": "(a file)",
}
_BY_TYPE: dict[str, Any] = {
    "boolean": False, "integer": 1, "number": 0.5, "string": "text", "null": None, "array": [],
    "object": {},
}  # fmt: skip
# The JSON types of Python's values.
_TYPES: dict[type, set[str]] = {
    bool: {"boolean"}, int: {"integer", "number"}, float: {"number"}, str: {"string"},
    type(None): {"null"},
}  # fmt: skip
# The statuses of work that was only accepted, as a 202 shows it.
_WAITING = ("pending", "queued")
# Fields of responses that mean something else than the request's field of the same name.
REWRITTEN = {
    ("rewriteReply", "text"), ("translateText", "text"), ("translateTextOld", "text"),
    ("answerUnansweredQuestion", "answer"),
}  # fmt: skip


@cache
def recorded() -> dict[str, dict[str, Any]]:
    """The recorded examples by operation id: the request under `body`, and each successful response
    under its status."""
    parsed: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return parsed


def example_of(
    schema: dict[str, Any],
    components: dict[str, Any],
    name: str = "",
    depth: int = 0,
    *,
    is_waiting: bool = False,
) -> Any:
    """A value that fits a schema, made from its constants, defaults, examples, enums and types.

    `is_waiting`: the value describes work that has not begun, so it has no results yet.
    """
    if "$ref" in schema:
        own = {key: part for key, part in schema.items() if key == "examples"}
        schema = components[schema["$ref"].rsplit("/")[-1]] | own
    for waiting in _WAITING if is_waiting else ():
        if waiting in schema.get("enum", ()):
            return waiting
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if is_waiting and {"type": "null"} in schema.get("anyOf", ()):
        return None
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]

    def part_of(part: dict[str, Any], name: str, depth: int) -> Any:
        return example_of(part, components, name, depth, is_waiting=is_waiting)

    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            value = part_of(schema[key][0], name, depth)
            is_made_up = value == _BY_TYPE["string"] and {"type": "null"} in schema[key]
            return None if is_made_up else value
    if name == "id" and "pattern" in schema:
        return "evt_019aa4c17c1e700080005f0a4b1c2d3e"
    if "properties" in schema and depth < _MAX_DEPTH:
        fields = schema["properties"].items()
        return {field: part_of(part, field, depth + 1) for field, part in fields}
    if "type" not in schema:
        return None
    if schema.get("minItems"):
        return [part_of(schema["items"], name, depth + 1)]
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if is_waiting and kind == "integer" and not name.endswith("id"):
        return schema.get("minimum", 0)
    if schema.get("format") in _BY_FORMAT:
        return _BY_FORMAT[schema["format"]]
    return _BY_TYPE[kind]


def agreeing(answer: Any, sent: Any, schema: dict[str, Any], components: dict[str, Any]) -> Any:
    """A response's example with the values that the request sends in fields of the same name.

    A field keeps its own value if its schema does not admit the request's, such as an object where
    requests send an id.
    """
    kinds = list(_kinds(schema, components))
    if isinstance(sent, dict):
        fields = next((kind["properties"] for kind in kinds if "properties" in kind), None)
        if fields is None:
            return sent if any(kind.get("type") == "object" for kind in kinds) else answer
        own = answer if isinstance(answer, dict) else example_of(schema, components)
        shared = {
            name: agreeing(own.get(name), value, fields[name], components)
            for name, value in sent.items()
            if name in fields
        }
        return own | shared
    if isinstance(sent, list):
        items = next((kind["items"] for kind in kinds if "items" in kind), None)
        if items is None:
            return answer
        row = answer[0] if answer else example_of(items, components)
        return [agreeing(row, part, items, components) for part in sent]
    return sent if any(_admits(kind, sent) for kind in kinds) else answer


def _kinds(schema: dict[str, Any], components: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The alternatives of a schema, without references."""
    if "$ref" in schema:
        schema = components[schema["$ref"].rsplit("/")[-1]]
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if not alternatives:
        yield schema
    for part in alternatives or ():
        yield from _kinds(part, components)


def _admits(kind: dict[str, Any], value: str | float | None) -> bool:
    """Whether a schema without alternatives admits a value that is no object or list."""
    known = kind.get("enum", [kind["const"]] if "const" in kind else [value])
    types = kind.get("type", [])
    is_of_type = _TYPES[type(value)] & set([types] if isinstance(types, str) else types)
    fits = not isinstance(value, str) or re.search(kind.get("pattern", ""), value)
    return bool(value in known and is_of_type and fits)
