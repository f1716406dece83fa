"""Compares every response in tests with the OpenAPI document: status, media type and body."""

import asyncio
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve

from chatplatform.api.middleware import Middleware
from chatplatform.live.streaming import StreamingReply, WaitingResponse

# The environment variable with the path of the file to which a web process writes its breaches, one
# per line.
BREACHES_FILE = "BREACHES_FILE"
IDLE_PATH = "/until-idle"
DOCUMENT = settings.BASE_DIR / "docs" / "openapi.json"
_MAX_CHARS = 500

# The breaches (undocumented responses) in this process since the running test began.
breaches: list[str] = []


class Documented(Middleware):
    """Middleware that records responses to the test client that the document does not describe."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        # Only a real web process finishes these two, and `CheckedApplication` compares them.
        if not isinstance(response, (StreamingReply, WaitingResponse)):
            body = response.content if isinstance(response, HttpResponse) else None
            media_type = response.headers.get("Content-Type", "")
            match = request.resolver_match
            path = _path_of(match.route) if match else _documented_path(request.path_info)
            text = breach(request.method or "", path, response.status_code, media_type, body)
            breaches.extend([text] if text else [])
        return response


def breach(
    method: str, documented_path: str, status: int, media_type: str, body: bytes | None
) -> str | None:
    """A sentence that says how a response differs from the document; None if it does not.

    `body` is None if it was not read, such as the body of a file.
    """
    verb = "get" if method == "HEAD" else method.lower()
    operation = document()["paths"].get(documented_path, {}).get(verb)
    if operation is None:
        return None
    name = f"{method} {documented_path} answered {status}"
    response = operation["responses"].get(str(status))
    if response is None:
        excerpt = (body or b"")[:200].decode("utf-8", "replace")
        return f"{name}, which is not documented: {excerpt}"
    steps = ["paths", documented_path, verb, "responses", str(status)]
    if "$ref" in response:
        steps = response["$ref"].split("/")[1:]
        response = document()["components"]["responses"][steps[-1]]
    content = response.get("content", {})
    media_type = media_type.partition(";")[0]
    if not content:
        return f"{name} with an undocumented body" if body else None
    if media_type not in content:
        return f"{name} as {media_type!r}; documented is {', '.join(content)}"
    if body is None or method == "HEAD":
        return None
    difference = _difference((*steps, "content", media_type), media_type, body)
    return f"{name} with another body: {difference}"[:_MAX_CHARS] if difference else None


def _documented_path(path: str) -> str:
    """The path in the document for a request's path; empty if it leads to no operation."""
    try:
        route = resolve(path.rstrip("/") or "/").route
    except Resolver404:
        return ""
    return _path_of(route)


def _path_of(route: str) -> str:
    return _paths().get("/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route), "")


@cache
def document() -> dict[str, Any]:
    """The document in docs/. A test asserts that it equals the generated document, which takes
    seconds to build."""
    parsed: dict[str, Any] = orjson.loads(DOCUMENT.read_bytes())
    return parsed


@cache
def _paths() -> dict[str, str]:
    return {path.rstrip("/"): path for path in document()["paths"]}


@cache
def _registry() -> Any:
    return jsonschema_rs.Registry([("urn:document", _closed(document()))])


def _closed(node: Any) -> Any:
    """The document, but objects allow no unknown fields, and errors no unknown codes: tests accept
    only what is documented."""
    if isinstance(node, list):
        return [_closed(part) for part in node]
    if not isinstance(node, dict):
        return node
    kinds = [kind for kind in node.get("anyOf", ()) if "enum" in kind]
    if kinds and {"type": "string"} in node["anyOf"]:
        return kinds[0]
    closed = {key: _closed(part) for key, part in node.items()}
    is_shape = isinstance(node.get("properties"), dict) and node.get("type") == "object"
    return {"additionalProperties": False, **closed} if is_shape else closed


@cache
def _validator(*steps: str) -> Any:
    """The validator of the schema at this path of the document."""
    pointer = "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)
    schema = {"$ref": f"urn:document#/{quote(pointer)}"}
    return jsonschema_rs.Draft202012Validator(schema, registry=_registry(), validate_formats=True)


def _difference(schema_at: tuple[str, ...], media_type: str, body: bytes) -> str | None:
    if media_type == "application/json":
        validator = _validator(*schema_at, "schema")
        try:
            values = [orjson.loads(body)]
        except orjson.JSONDecodeError as exc:
            return f"no JSON: {exc}"
    elif media_type == "text/event-stream":
        validator = _validator(*schema_at, "schema", "contentSchema")
        values = list(events(body))
    else:
        return None
    for value in values:
        for error in validator.iter_errors(value):
            where = ".".join(str(part) for part in error.instance_path)
            return f"at {where!r}: {error.message}"
    return None


def events(stream: bytes) -> Iterator[dict[str, Any]]:
    """The complete events of a stream of server-sent events, as the document describes them."""
    for block in stream.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            yield fields | {"data": orjson.loads(fields["data"])}


class CheckedApplication:
    """An ASGI application whose responses are compared before their last piece is sent.

    It serves `IDLE_PATH` itself, and responds there once no request except streams is running:
    closed browser pages leave requests behind, which must not find half of the tables emptied.
    """

    def __init__(self, application: Any) -> None:
        self.application = application
        self.running: set[int] = set()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope.get("path") == IDLE_PATH:
            await self._respond_when_idle(send)
            return
        self.running.add(id(scope))
        try:
            await self._check(scope, receive, send)
        finally:
            self.running.discard(id(scope))

    async def _respond_when_idle(self, send: Any) -> None:
        while self.running:
            await asyncio.sleep(0.01)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def _check(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        sent: list[dict[str, Any]] = []

        async def record(message: dict[str, Any]) -> None:
            sent.append(message)
            if _begins_stream(message):
                self.running.discard(id(scope))
            if _is_last(message):
                _record_breach(scope, sent)
            await send(message)

        try:
            await self.application(scope, receive, record)
        finally:
            # A reader that disconnects early has received some events or a part of a file.
            if sent and not _is_last(sent[-1]):
                _record_breach(scope, sent)


def _begins_stream(message: dict[str, Any]) -> bool:
    headers = ((name.lower(), value) for name, value in message.get("headers", ()))
    return any(
        name == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in headers
    )


def _is_last(message: dict[str, Any]) -> bool:
    return message["type"] == "http.response.body" and not message.get("more_body")


def _record_breach(scope: dict[str, Any], sent: list[dict[str, Any]]) -> None:
    headers = {name.lower(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    text = breach(
        scope["method"],
        _documented_path(scope["path"]),
        sent[0]["status"],
        headers.get(b"content-type", ""),
        body if _is_last(sent[-1]) or body.startswith((b"event:", b"id:")) else None,
    )
    if text:
        with Path(os.environ[BREACHES_FILE]).open("a") as file:
            file.write(text + "\n")
