"""Checks the JSON Schema of a function's arguments, and arguments against their schema.

Clients and MCP servers write the schemas, and models write the arguments. Neither is trusted, so
every check limits the size, is fast and fetches nothing over the network.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
from jsonschema import Draft202012Validator, SchemaError, ValidationError
from pydantic import TypeAdapter
from pydantic import ValidationError as WrongShape

from chatplatform.api.schemas import JsonObject

MAX_SCHEMA_CHARS = 20_000
MAX_ARGUMENTS_CHARS = 20_000
# The maximum number of subschemas and of nesting levels in a schema, including referenced
# subschemas. They limit the cost of a check.
MAX_NODES = 2_000
MAX_DEPTH = 12
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LOCAL = re.compile(r"#(?:/[^/]*)*")
# Keywords that a schema must not use. Matching a pattern may take exponential time even on a short
# text. The other keywords name schemas, refer to such names, or belong only in meta-schemas.
_REFUSED = frozenset(
    {
        "pattern", "patternProperties", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor",
        "$vocabulary",
    }
)  # fmt: skip
# Keywords whose value maps freely chosen names to schemas.
_MAPS = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
# Keywords whose value is data, not a schema.
_DATA = frozenset({"enum", "const", "default", "examples", "required", "dependentRequired"})
_json_object = TypeAdapter(JsonObject)


class WrongSchema(ValueError):
    """The schema is not accepted; the message says why."""


class WrongArguments(ValueError):
    """The arguments do not fit the schema; the message is written for the model."""


def check_schema(schema: dict[str, Any]) -> None:
    """Raise WrongSchema if the schema is invalid, too large, or uses a refused keyword."""
    try:
        _json_object.validate_python(schema)
        text = json.dumps(schema, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise WrongSchema("must be plain JSON that can be stored") from error
    if len(text) > MAX_SCHEMA_CHARS:
        raise WrongSchema(f"must not be longer than {MAX_SCHEMA_CHARS} characters")
    if schema.get("type") != "object":
        raise WrongSchema('must have "type": "object" at its top')
    if schema.get("$schema", _DIALECT) != _DIALECT:
        raise WrongSchema("must use JSON Schema 2020-12")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise WrongSchema(f"is not a valid JSON Schema: {error.message[:200]}") from error
    for count, _ in enumerate(_nodes(schema, schema, 0)):
        if count >= MAX_NODES:
            raise WrongSchema("is too large, or refers to itself")


def simplified(schema: dict[str, Any]) -> dict[str, Any]:
    """A looser schema: without refused keywords, `$schema` and very deep parts.

    The type "object" is added if the schema has no type. Used for the tools of MCP servers, which
    check the arguments themselves.
    """
    plain: dict[str, Any] = _without_refused(schema, 0)
    return plain | {"type": "object"} if "type" not in plain else plain


def _without_refused(node: Any, depth: int) -> Any:
    if depth > MAX_DEPTH * 2:
        return {}
    if isinstance(node, list):
        return [_without_refused(item, depth + 1) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        keyword: {name: _without_refused(part, depth + 2) for name, part in value.items()}
        if keyword in _MAPS and isinstance(value, dict)
        else value
        if keyword in _DATA
        else _without_refused(value, depth + 1)
        for keyword, value in node.items()
        if keyword not in _REFUSED and keyword != "$schema"
    }


def _nodes(root: dict[str, Any], node: Any, depth: int) -> Iterator[None]:
    """Yield once for each subschema, including referenced ones; raises WrongSchema."""
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
        raise WrongSchema('may only refer to its own parts, as in "#/$defs/address"')
    node: Any = root
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict) or name not in node:
            raise WrongSchema(f"refers to {reference[:100]}, which it does not contain")
        node = node[name]
    return node


def parse(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Parse and check the arguments that a model wrote; raises WrongArguments."""
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise WrongArguments("The arguments are too long.")
    try:
        values = orjson.loads(text or "{}")
    except ValueError as error:
        raise WrongArguments(f"The arguments are not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise WrongArguments("The arguments must be a JSON object.")
    check(values, schema)
    return values


def check(values: dict[str, Any], schema: dict[str, Any]) -> None:
    """Raise WrongArguments if the arguments do not fit the schema, or cannot be stored."""
    try:
        _json_object.validate_python(values)
        json.dumps(values, allow_nan=False)
        Draft202012Validator(schema).validate(values)
    except ValidationError as error:
        location = "/".join(map(str, error.absolute_path)) or "the object"
        raise WrongArguments(f"{location}: {error.message[:300]}") from error
    except (WrongShape, ValueError, ArithmeticError, RecursionError) as error:
        raise WrongArguments("The arguments cannot be read.") from error
