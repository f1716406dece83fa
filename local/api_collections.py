"""The API as a collection for Postman, and as a folder for Bruno."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chatplatform.api.code_samples import operations

_POSTMAN = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_HEADERS = {"bearer": ("Authorization", "Bearer {{token}}"), "api_key": ("API-KEY", "{{key}}")}


def write(document: Mapping[str, Any], folder: Path) -> None:
    """Write `postman.json` and the folder `bruno`."""
    groups: dict[str, list[Any]] = {}
    for path, method, operation in operations(document):
        groups.setdefault(operation["tags"][0], []).append((path, method, operation))
    (folder / "postman.json").write_text(json.dumps(_postman(groups), indent=1) + "\n")
    bruno = folder / "bruno"
    shutil.rmtree(bruno, ignore_errors=True)
    for place, text in _bruno(groups):
        (bruno / place).parent.mkdir(parents=True, exist_ok=True)
        (bruno / place).write_text(text)


def _postman(groups: Mapping[str, Any]) -> dict[str, Any]:
    items = [
        {"name": tag, "item": [_postman_request(*one) for one in listed]}
        for tag, listed in groups.items()
    ]
    known = {"server": "http://127.0.0.1:8000", "token": "", "key": ""}
    return {
        "info": {"name": "Chatbot Platform", "schema": _POSTMAN},
        "item": items,
        "variable": [{"key": name, "value": value} for name, value in known.items()],
    }


def _postman_request(path: str, method: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    url = "{{server}}" + re.sub(r"{(\w+)}", r":\1", path)
    request: dict[str, Any] = {
        "method": method.upper(),
        "description": operation["description"],
        "header": [{"key": name, "value": value} for name, value in _credential(operation)],
        "url": {
            "raw": url,
            "host": ["{{server}}"],
            "path": url.split("/")[1:],
            "variable": [{"key": name, "value": ""} for name in re.findall(r"{(\w+)}", path)],
            "query": [
                {"key": each["name"], "value": "", "description": each["description"],
                 "disabled": True}
                for each in operation.get("parameters", ())
                if each["in"] == "query"
            ],
        },
    }  # fmt: skip
    media_type, body = _body(operation)
    if media_type == "application/json":
        language = {"raw": {"language": "json"}}
        text = json.dumps(body, indent=2, ensure_ascii=False)
        request["body"] = {"mode": "raw", "raw": text, "options": language}
    elif media_type:
        mode = "formdata" if media_type.startswith("multipart") else "urlencoded"
        fields = [{"key": name, "value": str(value)} for name, value in (body or {}).items()]
        request["body"] = {"mode": mode, mode: fields}
    return {"name": operation["summary"], "request": request}


def _bruno(groups: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    about = {"version": "1", "name": "Chatbot Platform", "type": "collection"}
    yield "bruno.json", json.dumps(about, indent=2) + "\n"
    yield (
        "environments/local.bru",
        "vars {\n  server: http://127.0.0.1:8000\n  token:\n  key:\n}\n",
    )
    for tag, listed in groups.items():
        folder = re.sub(r"\W+", "-", tag)
        for number, (path, method, operation) in enumerate(listed, 1):
            yield f"{folder}/{operation['operationId']}.bru", _bru(path, method, operation, number)


def _bru(path: str, method: str, operation: Mapping[str, Any], number: int) -> str:
    media_type, body = _body(operation)
    form = "multipartForm" if media_type.startswith("multipart") else "formUrlEncoded"
    mode = "none" if not media_type else "json" if media_type == "application/json" else form
    url = "{{server}}" + re.sub(r"{(\w+)}", r":\1", path)
    blocks = [
        f"meta {{\n  name: {operation['operationId']}\n  type: http\n  seq: {number}\n}}",
        f"{method} {{\n  url: {url}\n  body: {mode}\n  auth: none\n}}",
    ]
    if names := re.findall(r"{(\w+)}", path):
        blocks.append("params:path {\n" + "".join(f"  {name}:\n" for name in names) + "}")
    if headers := list(_credential(operation)):
        blocks.append("headers {\n" + "".join(f"  {n}: {value}\n" for n, value in headers) + "}")
    if mode == "json":
        text = json.dumps(body, indent=2, ensure_ascii=False).replace("\n", "\n  ")
        blocks.append(f"body:json {{\n  {text}\n}}")
    elif mode != "none":
        kind = "multipart-form" if form == "multipartForm" else "form-urlencoded"
        fields = "".join(f"  {name}: {value}\n" for name, value in (body or {}).items())
        blocks.append(f"body:{kind} {{\n{fields}}}")
    return "\n\n".join(blocks) + "\n"


def _credential(operation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for scheme in [*next(iter(operation["security"]), {})]:
        yield _HEADERS[scheme]


def _body(operation: Mapping[str, Any]) -> tuple[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    return next(((name, part.get("example")) for name, part in content.items()), ("", None))
