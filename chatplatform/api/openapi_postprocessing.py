"""Finishes the OpenAPI document once all operations are described: gives requests and responses
separate schemas, and adds examples and code samples."""

import re
from collections.abc import Mapping
from typing import Any

from chatplatform.api import code_samples
from chatplatform.api.code_samples import operations
from chatplatform.api.examples import example_of, recorded
from chatplatform.api.operation import LIMIT_HEADERS

_REF = "#/components/schemas/"
_REFUSALS = (
    "An error has a JSON body with `detail`, a sentence; `code`, which never changes; and"
    " `request_id`. In a 422 for invalid fields, the body has only `detail`, a list of what is"
    " wrong and where."
)


def finish(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: returns the finished document, before the hook for webhooks."""
    suffixes = {
        path: getattr(view, view.action).operation.path_suffix
        for path, _, _, view in generator._get_paths_and_endpoints()
    }
    paths = result["paths"].items()
    result["paths"] = {path + suffixes.get(path, ""): item for path, item in paths}
    result["components"]["headers"] = LIMIT_HEADERS
    result["components"]["schemas"] = _schemas(result, generator.registry)
    for _path, _method, operation in operations(result):
        operation.setdefault("security", [])
        _add_examples(operation, result["components"]["schemas"])
    code_samples.add(result)
    return result


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
                status: _without_usual_body(response)
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
    _collect(paths, components["schemas"], needed)
    _collect(webhooks, components["schemas"], needed)
    schemas = {name: part for name, part in components["schemas"].items() if name in needed}
    tags = [described for described in document["tags"] if described["name"] == tag]
    info = {**document["info"], "description": f"{document['info']['description']} {_REFUSALS}"}
    parts = {"paths": paths, "components": {**components, "schemas": schemas}, "tags": tags}
    return {**document, **parts, "info": info, "webhooks": webhooks}


def _without_usual_body(response: Mapping[str, Any]) -> dict[str, Any]:
    """The response, without its content if the content is the usual body of an error."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    refs = {part.get("$ref") for part in schema.get("anyOf", [schema])}
    is_usual = refs <= {f"{_REF}Error", f"{_REF}HTTPValidationError"}
    return {key: part for key, part in response.items() if not (is_usual and key == "content")}


def _collect(node: Any, schemas: Mapping[str, Any], found: set[str]) -> None:
    """Add the names of all components that a part of the document refers to."""
    if isinstance(node, list):
        for part in node:
            _collect(part, schemas, found)
    if not isinstance(node, dict):
        return
    name = str(node.get("$ref", "")).removeprefix(_REF)
    if name in schemas and name not in found:
        found.add(name)
        _collect(schemas[name], schemas, found)
    for part in node.values():
        _collect(part, schemas, found)


# --- schemas of requests and responses -----------------------------------------------------------


def _schemas(result: dict[str, Any], registry: Any) -> dict[str, Any]:
    """The schema of every component by name, for requests, responses or both."""
    schemas: dict[str, Any] = {}
    request_names = _split_bodies(result, registry)
    for component in registry._components.values():
        request, response = component.modes.get("validation"), component.modes.get("serialization")
        name = component.name
        if request and response and name in request_names:
            schemas[request_names[name]] = {
                **_request_schema(request),
                "title": request_names[name],
            }
            schemas[name] = _response_schema(response)
        elif request and response:
            schemas[name] = _shared_schema(request)
        else:
            schemas[name] = _request_schema(request) if request else _response_schema(response)
    return dict(sorted(schemas.items()))


def _split_bodies(result: dict[str, Any], registry: Any) -> dict[str, str]:
    """Give a request a separate schema if responses have the same schema but its fields mean
    something else there; return the new schemas' names by the old schemas' names."""
    request_names: dict[str, str] = {}
    modes = {part.name: part.modes for part in registry._components.values()}
    for _path, _method, operation in operations(result):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            name = content["schema"].get("$ref", "").removeprefix(_REF)
            if name and len(modes[name]) > 1 and _must_split(**modes[name]):
                request_names[name] = f"{re.sub('D[Tt][Oo]$', '', name)}Input"
                content["schema"] = {"$ref": _REF + request_names[name]}
    assert not set(request_names.values()) & set(modes), "a request has the name of another schema"
    return request_names


def _must_split(validation: dict[str, Any], serialization: dict[str, Any]) -> bool:
    """Whether only the server sets some of the fields, or requests describe some differently."""
    responses = serialization.get("properties", {})
    return any(
        part.get("readOnly") or part["description"] != responses[name]["description"]
        for name, part in validation.get("properties", {}).items()
    )


def _request_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A request's schema, without examples, which the operations show instead."""
    return {key: part for key, part in _plain(schema).items() if key != "examples"}


def _response_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A response's schema: it allows unknown fields, since we may add some, and marks no field as
    read-only."""
    result = _open(schema)
    for part in result.get("properties", {}).values():
        part.pop("readOnly", None)
    return result


def _open(schema: dict[str, Any]) -> dict[str, Any]:
    result = _request_schema(schema)
    if result.get("additionalProperties") is False:
        del result["additionalProperties"]
    return result


def _shared_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema for both requests and responses; fields that only the server sets are required."""
    result = _open(schema)
    parts = result.get("properties", {})
    needed = {name for name, part in parts.items() if part.get("readOnly")}
    needed |= set(result.get("required", ()))
    return result | ({"required": [name for name in parts if name in needed]} if needed else {})


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


def _add_examples(operation: dict[str, Any], components: dict[str, Any]) -> None:
    known = recorded().get(operation["operationId"], {})
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if "example" not in content:
            content["example"] = known.get("body") or example_of(content["schema"], components)
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json")
        if status < "300" and content:
            content["example"] = known.get(status) or example_of(content["schema"], components)
