"""Examples of request bodies and responses in the OpenAPI document.

`docs/examples.json` contains the examples that tests recorded; all others are generated from the
schema.
"""

import json
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
}
_BY_TYPE: dict[str, Any] = {
    "boolean": False, "integer": 1, "number": 0.5, "string": "text", "null": None, "array": [],
    "object": {},
}  # fmt: skip


@cache
def recorded() -> dict[str, dict[str, Any]]:
    """The recorded examples by operation id: the request under `body`, and each successful response
    under its status."""
    parsed: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return parsed


def example_of(
    schema: dict[str, Any], components: dict[str, Any], name: str = "", depth: int = 0
) -> Any:
    """A value that fits a schema, made from its constants, defaults, examples, enums and types."""
    if "$ref" in schema:
        schema = components[schema["$ref"].rsplit("/")[-1]]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return example_of(schema[key][0], components, name, depth)
    if name == "id" and "pattern" in schema:
        return "evt_019aa4c17c1e700080005f0a4b1c2d3e"
    if "properties" in schema and depth < _MAX_DEPTH:
        return {
            field: example_of(part, components, field, depth + 1)
            for field, part in schema["properties"].items()
        }
    if "type" not in schema:
        return None
    if schema.get("minItems"):
        return [example_of(schema["items"], components, name, depth + 1)]
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if schema.get("format") in _BY_FORMAT:
        return _BY_FORMAT[schema["format"]]
    return _BY_TYPE[kind]
