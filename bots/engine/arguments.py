"""The JSON Schema of a function's arguments: which schemas are taken, and what fits them.

Schemas come from people and arguments from a model, so both are bounded: no schema may make a
check endless, and none may fetch another.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
from jsonschema import Draft202012Validator, SchemaError, ValidationError
from pydantic import TypeAdapter
from pydantic import ValidationError as WrongShape

from chatplatform.api.shapes import JsonObject

MAX_SCHEMA_CHARS = 20_000
MAX_ARGUMENTS_CHARS = 20_000
# Nodes and levels of a schema with its references followed: what one check may cost at most.
MAX_NODES = 2_000
MAX_DEPTH = 12
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LOCAL = re.compile(r"#(?:/[^/]*)*")
# A pattern can take for ever on a short text; the others name or fetch schemas by address.
_REFUSED = frozenset(
    {
        "pattern",
        "patternProperties",
        "$id",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$vocabulary",
    }
)
# Keywords whose value maps names, which are the writer's own, to schemas.
_MAPS = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
# Keywords whose value is data and no schema.
_DATA = frozenset({"enum", "const", "default", "examples", "required", "dependentRequired"})
_json_object = TypeAdapter(JsonObject)


class WrongSchema(ValueError):
    """The schema is not taken; the text says why."""


class WrongArguments(ValueError):
    """The arguments do not fit; the text is for the model."""


def check_schema(schema: dict[str, Any]) -> None:
    """Raise WrongSchema unless arguments can be checked against it, at a bounded cost."""
    try:
        written = json.dumps(schema, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise WrongSchema("must be plain JSON") from error
    if len(written) > MAX_SCHEMA_CHARS:
        raise WrongSchema(f"must not be longer than {MAX_SCHEMA_CHARS} characters")
    if schema.get("type") != "object":
        raise WrongSchema('must have "type": "object" at its top')
    if schema.get("$schema", _DIALECT) != _DIALECT:
        raise WrongSchema("must be of JSON Schema 2020-12")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise WrongSchema(f"is no JSON Schema: {error.message[:200]}") from error
    for count, _ in enumerate(_nodes(schema, schema, 0)):
        if count >= MAX_NODES:
            raise WrongSchema("is too large, or refers to itself")


def _nodes(root: dict[str, Any], node: Any, depth: int) -> Iterator[None]:
    """One step for each subschema, each reference followed."""
    if depth > MAX_DEPTH:
        raise WrongSchema(f"must not be nested deeper than {MAX_DEPTH} levels, or refer to itself")
    if isinstance(node, list):
        for item in node:
            yield from _nodes(root, item, depth)
    if not isinstance(node, dict):
        return
    yield None
    refused = _REFUSED & set(node)
    if refused:
        raise WrongSchema(f"must not use {sorted(refused)[0]}")
    if "$ref" in node:
        yield from _nodes(root, _target(root, node["$ref"]), depth + 1)
    for keyword, value in node.items():
        if keyword in _MAPS and isinstance(value, dict):
            for part in value.values():
                yield from _nodes(root, part, depth + 1)
        elif keyword not in _DATA:
            yield from _nodes(root, value, depth + 1)


def _target(root: dict[str, Any], reference: Any) -> Any:
    if not isinstance(reference, str) or not _LOCAL.fullmatch(reference):
        raise WrongSchema('may refer to itself alone, as in "#/$defs/address"')
    found: Any = root
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or name not in found:
            raise WrongSchema(f"refers to {reference[:100]}, which it does not hold")
        found = found[name]
    return found


def parse(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments as a model wrote them, checked; raises WrongArguments."""
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise WrongArguments("The arguments are too long.")
    try:
        given = orjson.loads(text or "{}")
    except ValueError as error:
        raise WrongArguments(f"The arguments are no JSON: {error}") from error
    if not isinstance(given, dict):
        raise WrongArguments("The arguments must be a JSON object.")
    fit(given, schema)
    return given


def fit(given: dict[str, Any], schema: dict[str, Any]) -> None:
    """Raise WrongArguments unless they fit the schema and can be stored."""
    try:
        _json_object.validate_python(given)
        json.dumps(given, allow_nan=False)
        Draft202012Validator(schema).validate(given)
    except ValidationError as error:
        place = "/".join(map(str, error.absolute_path)) or "the object"
        raise WrongArguments(f"{place}: {error.message[:300]}") from error
    except (WrongShape, ValueError, ArithmeticError, RecursionError) as error:
        raise WrongArguments("The arguments cannot be read.") from error
