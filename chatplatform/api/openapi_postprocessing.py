"""Finishes the OpenAPI document once all operations are described: gives requests and responses
separate schemas, and adds examples and code samples."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from chatplatform.api import code_samples
from chatplatform.api.code_samples import operations
from chatplatform.api.examples import REWRITTEN, agreeing, example_of, recorded
from chatplatform.api.operation import LIMIT_HEADERS, OTHER_HEADERS

_REF = "#/components/schemas/"
_RESPONSES = "#/components/responses/"
# Responses that at least this many operations have stand in the document once.
_SHARED_BY = 5


def finish(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: returns the finished document, before the hook for webhooks."""
    suffixes = {
        path: getattr(view, view.action).operation.path_suffix
        for path, _, _, view in generator._get_paths_and_endpoints()
    }
    paths = result["paths"].items()
    result["paths"] = {path + suffixes.get(path, ""): item for path, item in paths}
    result["components"]["headers"] = LIMIT_HEADERS | OTHER_HEADERS
    result["components"]["schemas"] = _schemas(result, generator.registry)
    for path, _method, operation in operations(result):
        operation.setdefault("security", [])
        _add_examples(path, operation, result["components"]["schemas"])
    code_samples.add(result)
    result["components"]["responses"] = _share_refusals(result)
    return result


def _share_refusals(result: dict[str, Any]) -> dict[str, Any]:
    """Replace refusals that many operations have by references; return these refusals by name."""
    all_of = [
        (responses, status, json.dumps(response))
        for _path, _method, operation in operations(result)
        for responses in [operation["responses"]]
        for status, response in responses.items()
        if status >= "400"
    ]
    counts = Counter((status, text) for _responses, status, text in all_of)
    names: dict[tuple[str, str], str] = {}
    for responses, status, text in all_of:
        if counts[status, text] < _SHARED_BY:
            continue
        if (status, text) not in names:
            number = sum(known == status for known, _text in names) + 1
            names[status, text] = f"Error{status}" + (f"_{number}" if number > 1 else "")
        responses[status] = {"$ref": _RESPONSES + names[status, text]}
    return dict(sorted((name, json.loads(text)) for (_status, text), name in names.items()))


def resolved(response: dict[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """The response, or the shared one that it refers to."""
    name = response.get("$ref", "").removeprefix(_RESPONSES)
    shared: dict[str, dict[str, Any]] = document["components"]["responses"]
    return shared[name] if name else response


def group_of(document: Mapping[str, Any], tag: str) -> dict[str, Any]:
    """The document with the operations and webhooks of one tag and the components they need, for
    the tag's page.

    Errors keep their description, but lose their body if it is the usual one: rendering it ten
    times for each operation would nearly double the browser's work.
    """
    paths: dict[str, dict[str, Any]] = {}
    for path, method, operation in operations(document):
        if operation["tags"] == [tag]:
            responses = {
                status: _without_usual_body(resolved(response, document))
                for status, response in operation["responses"].items()
            }
            paths.setdefault(path, {})[method] = {**operation, "responses": responses}
    webhooks = {
        name: item
        for name, item in document.get("webhooks", {}).items()
        if item["post"]["tags"] == [tag]
    }
    components = document["components"]
    needed: set[str] = set()
    collect_names(paths, components["schemas"], needed)
    collect_names(webhooks, components["schemas"], needed)
    schemas = {name: part for name, part in components["schemas"].items() if name in needed}
    tags = [described for described in document["tags"] if described["name"] == tag]
    needed_components = {**components, "schemas": schemas, "responses": {}}
    parts = {"paths": paths, "components": needed_components, "tags": tags}
    return {**document, **parts, "webhooks": webhooks}


def _without_usual_body(response: Mapping[str, Any]) -> dict[str, Any]:
    """The response, without its content if the content is the usual body of an error."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    refs = {part.get("$ref") for part in schema.get("anyOf", [schema])}
    is_usual = refs <= {f"{_REF}Error", f"{_REF}HTTPValidationError"}
    return {key: part for key, part in response.items() if not (is_usual and key == "content")}


def collect_names(node: Any, schemas: Mapping[str, Any], found: set[str]) -> None:
    """Add the names of all components that a part of the document refers to."""
    if isinstance(node, list):
        for part in node:
            collect_names(part, schemas, found)
    if not isinstance(node, dict):
        return
    name = str(node.get("$ref", "")).removeprefix(_REF)
    if name in schemas and name not in found:
        found.add(name)
        collect_names(schemas[name], schemas, found)
    for part in node.values():
        collect_names(part, schemas, found)


# --- schemas of requests and responses -----------------------------------------------------------


def _schemas(result: dict[str, Any], registry: Any) -> dict[str, Any]:
    """The schema of every component by name, for requests or for responses."""
    schemas: dict[str, Any] = {}
    modes = {part.name: part.modes for part in registry._components.values()}
    inputs = _input_names(result, modes)
    for name, of in modes.items():
        request, response = of.get("validation"), of.get("serialization")
        if name in inputs:
            schemas[inputs[name]] = _request_schema({**request, "title": inputs[name]}, inputs)
        if response and (name in inputs or "properties" in response):
            schemas[name] = _response_schema(response)
        elif request:
            schemas[name] = _request_schema(request, inputs)
        else:
            schemas[name] = _response_schema(response)
    return dict(sorted(schemas.items()))


def _input_names(result: dict[str, Any], modes: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The names that the schemas of objects get in requests if responses have them too; the bodies
    of the operations refer to them. Responses may get new fields, so only requests are closed."""
    used: set[str] = set()
    bodies = [
        content
        for _path, _method, operation in operations(result)
        for content in operation.get("requestBody", {}).get("content", {}).values()
    ]
    _collect_sent(bodies, modes, used)
    names = {
        name: re.sub("(D[Tt][Oo]|Request)$", "", name) + "Input"
        for name in used
        if "serialization" in modes[name] and "properties" in modes[name]["validation"]
    }
    assert not set(names.values()) & set(modes), "a request has the name of another schema"
    for content in bodies:
        content["schema"] = _renamed(content["schema"], names)
    return names


def _collect_sent(node: Any, modes: Mapping[str, dict[str, Any]], found: set[str]) -> None:
    """Add the names of the components that requests contain, except in fields that they ignore."""
    if isinstance(node, list):
        for part in node:
            _collect_sent(part, modes, found)
    if not isinstance(node, dict) or node.get("readOnly"):
        return
    name = str(node.get("$ref", "")).removeprefix(_REF)
    if name in modes and name not in found:
        found.add(name)
        _collect_sent(modes[name]["validation"], modes, found)
    for part in node.values():
        _collect_sent(part, modes, found)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """The schema with references to the requests' schemas, except in fields that they ignore."""
    if isinstance(node, list):
        return [_renamed(part, names) for part in node]
    if not isinstance(node, dict) or node.get("readOnly"):
        return node
    renamed = {key: _renamed(part, names) for key, part in node.items()}
    name = str(node.get("$ref", "")).removeprefix(_REF)
    return renamed | ({"$ref": _REF + names[name]} if name in names else {})


def _request_schema(schema: dict[str, Any], inputs: Mapping[str, str]) -> dict[str, Any]:
    """A request's schema, without examples, which the operations show instead."""
    plain = {key: part for key, part in _plain(schema).items() if key != "examples"}
    renamed: dict[str, Any] = _renamed(plain, inputs)
    return renamed


def _response_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A response's schema: it allows unknown fields, since we may add some, and marks no field as
    read-only."""
    result = _request_schema(schema, {})
    if result.get("additionalProperties") is False:
        del result["additionalProperties"]
    for part in result.get("properties", {}).values():
        part.pop("readOnly", None)
    return result


def _plain(schema: Any, *, is_named: bool = True) -> Any:
    """The schema without the titles of its parts, which only repeat names, and without defaults of
    null, which generated clients would send."""
    if isinstance(schema, list):
        return [_plain(part, is_named=False) for part in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = set() if is_named else {"title"} if isinstance(schema.get("title"), str) else set()
    if "default" in schema and schema["default"] is None:
        left_out.add("default")
    return {
        key: _fields(part) if key in {"properties", "$defs"} else
        part if key in {"examples", "example", "default", "enum", "const"} else
        _plain(part, is_named=False)
        for key, part in schema.items()
        if key not in left_out
    }  # fmt: skip


def _fields(parts: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(part, is_named=False) for name, part in parts.items()}


# --- examples -----------------------------------------------------------------------------------


def _add_examples(path: str, operation: dict[str, Any], components: dict[str, Any]) -> None:
    known = recorded().get(operation["operationId"], {})
    # The first segment of a channel's path is its name.
    sent: dict[str, Any] = {"channel": path.split("/")[1]}
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if "example" not in content:
            content["example"] = known.get("body") or example_of(content["schema"], components)
        sent |= content["example"]
    sent = {
        name: value
        for name, value in sent.items()
        if (operation["operationId"], name) not in REWRITTEN
    }
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json")
        if status < "300" and content:
            example = known.get(status) or example_of(
                content["schema"], components, is_waiting=status == "202"
            )
            content["example"] = agreeing(example, sent, content["schema"], components)
