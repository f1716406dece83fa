"""`make clients`: generates the API clients in `clients/` from the OpenAPI document.

Both clients have a method for each operation, with the name of its `operationId`, and a type for
each schema.
"""

import json
import re
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Any

from chatplatform.api.code_samples import operations, snake_case

ROOT = Path(__file__).resolve().parents[1]
_NOTE = "Made by `make clients` from the API's document; changes belong there."
_PYTHON = {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_TYPESCRIPT = {"integer": "number", "array": "unknown[]", "object": "Record<string, unknown>"}
_KINDS = {"application/x-www-form-urlencoded": "form", "multipart/form-data": "files"}
Schema = Mapping[str, Any]


def main() -> None:
    """Write all generated files."""
    document = json.loads((ROOT / "docs" / "openapi.json").read_text())
    for path, text in files(document).items():
        (ROOT / "clients" / path).write_text(text)


def files(document: Schema) -> dict[str, str]:
    """The generated files of both clients, by their paths in `clients/`."""
    python, typescript = "python/chatplatform_client", "typescript/src"
    schemas = document["components"]["schemas"]
    made = {
        f"{python}/types.py": _python_types(schemas),
        f"{python}/api.py": _python_methods(document),
        f"{typescript}/types.ts": _typescript_types(schemas),
        f"{typescript}/api.ts": _typescript_methods(document),
    }
    return {path: "\n".join(lines) + "\n" for path, lines in made.items()}


def _python_types(schemas: Schema) -> Iterator[str]:
    yield f'"""The schemas of the API. {_NOTE}"""\n\nfrom __future__ import annotations\n'
    yield "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict"
    for name, schema in schemas.items():
        parts, needed = schema.get("properties"), set(schema.get("required", ()))
        if parts is None:
            yield f'\n{name}: TypeAlias = "{_python(schema)}"'
            continue
        fields = {
            field: _python(part)
            if field in needed and not part.get("readOnly")
            else f"NotRequired[{_python(part)}]"
            for field, part in parts.items()
        }
        if any(iskeyword(field) for field in fields):
            listed = "".join(f'\n    "{field}": "{kind}",' for field, kind in fields.items())
            yield f'\n\n{name} = TypedDict("{name}", {{{listed}\n}})'
        else:
            listed = "".join(f"\n    {field}: {kind}" for field, kind in fields.items())
            yield f"\n\nclass {name}(TypedDict):{listed or ' ...'}"


def _python_methods(document: Schema) -> Iterator[str]:
    yield f'"""The operations of the API. {_NOTE}"""\n\nfrom __future__ import annotations\n'
    yield "from collections.abc import Iterator\nfrom typing import Any, Literal\n"
    yield "from chatplatform_client import types\nfrom chatplatform_client.core import Core\n\n"
    yield "class Client(Core):"
    for path, method, operation in _called(document):
        values, query, body, kind, reply = _parts(path, operation, _in_types)
        is_stream = reply == "stream"
        declared = [f"{name}: int | str" for name in values]
        declared += [f"body: {body}" if operation["requestBody"]["required"] else
                     f"body: {body} | None = None"] if body else []  # fmt: skip
        declared += ["*"] * bool(query or method == "post")
        declared += [f"{name}: {_in_types(part)} | None = None" for name, part in query.items()]
        declared += ["idempotency_key: str | None = None"] if method == "post" else []
        given = [f"{{{_pairs(values)}}}", f"{{{_pairs(query)}}}"]
        given += ["body=body"] * bool(body) + [f'kind="{kind}"'] * bool(kind)
        given += ["is_stream=True"] * is_stream
        given += ["key=idempotency_key"] if method == "post" else []
        returned = "Iterator[dict[str, Any]]" if is_stream else reply or "None"
        yield f"    def {snake_case(operation['operationId'])}("
        yield f"        self, {', '.join(declared)}" if declared else "        self"
        yield f'    ) -> {returned}:\n        """{_first_sentence(operation)}"""'
        call = f'self.call("{method.upper()}", "{path}", {", ".join(given)})'
        yield f"        result: {returned} = {call}\n        return result\n"


def _typescript_types(schemas: Schema) -> Iterator[str]:
    yield f"/** The schemas of the API. {_NOTE} */"
    for name, schema in schemas.items():
        yield f"\nexport type {name} = {_typescript(schema)};"


def _typescript_methods(document: Schema) -> Iterator[str]:
    yield f"/** The operations of the API. {_NOTE} */"
    yield 'import { Core, type ServerEvent } from "./core.js";'
    yield 'import type * as types from "./types.js";'
    yield "\nexport class Client extends Core {"
    for path, method, operation in _called(document):
        values, query, body, kind, reply = _parts(path, operation, _of_types)
        declared = [f"{name}: number | string" for name in values]
        is_needed = body and operation["requestBody"]["required"]
        declared += [f"body{'' if is_needed else '?'}: {body}"] if body else []
        asked = " ".join(f"{name}?: {_of_types(part)};" for name, part in query.items())
        declared += [f"query?: {{ {asked} }}"] if query else []
        declared += ["idempotencyKey?: string"] if method == "post" else []
        given = ["query"] * bool(query) + ["body"] * bool(body)
        given += [f'kind: "{kind}"'] if kind else []
        given += ["idempotencyKey"] if method == "post" else []
        filled = re.sub(r"{(\w+)}", r"${encodeURIComponent(\1)}", path)
        call = f'"{method.upper()}", `{filled}`' + (f", {{ {', '.join(given)} }}" if given else "")
        is_stream = reply == "stream"
        returned = "AsyncGenerator<ServerEvent>" if is_stream else f"Promise<{reply or 'void'}>"
        yield f"  /** {_first_sentence(operation)} */"
        yield f"  {operation['operationId']}({', '.join(declared)}): {returned} {{"
        yield f"    return this.{'events' if is_stream else 'call'}({call});\n  }}"
    yield "}"


def _called(document: Schema) -> Iterator[tuple[str, str, Any]]:
    """The operations for callers of the API: all except the callbacks of messaging providers."""
    for path, method, operation in operations(document):
        if not re.search(r"/(webhook|callback)(/{account_id})?$", path):
            yield path, method, operation


def _parts(path: str, operation: Schema, kind_of: Any) -> tuple[Any, Any, Any, str, str]:
    """The parts of a method: the names in the path, the schemas in the query by name, the type of
    the body, the kind of body, and the type of the response.

    The type of the body is None without a body. Its kind is `form`, `files`, or empty for JSON. The
    type of the response is `stream` for a stream of events.
    """
    query = {
        parameter["name"]: parameter["schema"]
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    }
    content = operation.get("requestBody", {}).get("content", {})
    media_type, body = next(iter(content.items()), ("", None))
    answers = next(
        answer.get("content", {})
        for status, answer in sorted(operation["responses"].items())
        if status.startswith(("2", "3"))
    )
    told = answers.get("application/json")
    reply = kind_of(told["schema"]) if told else ""
    if not told and answers:
        of_file = "bytes" if kind_of is _in_types else "Blob"
        reply = "stream" if "text/event-stream" in answers else of_file
    asked = "dict[str, Any]" if kind_of is _in_types else "Record<string, unknown>"
    is_files = media_type == "multipart/form-data"
    body_type = None if body is None else asked if is_files else kind_of(body["schema"])
    return re.findall(r"{(\w+)}", path), query, body_type, _KINDS.get(media_type, ""), reply


def _first_sentence(operation: Schema) -> str:
    """The first sentence of an operation's description, on one line."""
    return re.split(r"(?<=\.)\s", " ".join(operation["description"].split()))[0]


def _pairs(names: Any) -> str:
    return ", ".join(f'"{name}": {name}' for name in names)


def _in_types(schema: Schema) -> str:
    return _python(schema, "types.")


def _of_types(schema: Schema) -> str:
    return _typescript(schema, "types.")


def _python(schema: Schema, place: str = "") -> str:
    if "$ref" in schema:
        return place + str(schema["$ref"]).rpartition("/")[2]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(_python(part, place) for part in schema[key]))
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return f"Literal[{', '.join(repr(value) for value in values)}]"
    match schema.get("type"):
        case "array":
            return f"list[{_python(schema.get('items', {}), place)}]"
        case "object":
            return f"dict[str, {_python(_values(schema), place)}]"
        case "string":
            return "bytes" if schema.get("format") == "binary" else "str"
        case str(kind):
            return _PYTHON[kind]
        case list(kinds):
            return " | ".join(_python({"type": kind}, place) for kind in kinds)
    return "Any"


def _typescript(schema: Schema, place: str = "") -> str:
    if "$ref" in schema:
        return place + str(schema["$ref"]).rpartition("/")[2]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(_typescript(part, place) for part in schema[key]))
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    match schema.get("type"):
        case "array":
            return f"Array<{_typescript(schema.get('items', {}), place)}>"
        case "object" if "properties" in schema:
            needed = set(schema.get("required", ()))
            fields = (
                f"{json.dumps(field)}{'' if field in needed else '?'}: {_typescript(part, place)};"
                for field, part in schema["properties"].items()
            )
            return "{ " + " ".join(fields) + " }"
        case "object":
            return f"Record<string, {_typescript(_values(schema), place)}>"
        case "string":
            return "Blob" if schema.get("format") == "binary" else "string"
        case str(kind):
            return _TYPESCRIPT.get(kind, kind)
        case list(kinds):
            return " | ".join(_typescript({"type": kind}, place) for kind in kinds)
    return "unknown"


def _values(schema: Schema) -> Schema:
    more = schema.get("additionalProperties")
    return more if isinstance(more, dict) else {}


if __name__ == "__main__":
    main()
