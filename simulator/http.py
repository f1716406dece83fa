"""The simulator's requests and responses, without sockets."""

import json
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from simulator.world import Json


@dataclass(frozen=True)
class Upload:
    name: str
    mime: str
    data: bytes


@dataclass(frozen=True)
class Fetched:
    """The result of fetching a media URL: the bytes and their type, or why it failed."""

    data: bytes = b""
    mime: str = ""
    error: str = ""


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    # The media that the provider fetched from URLs in the body, by URL.
    fetched: dict[str, Fetched] = field(default_factory=dict)
    # The error code with which a send fails after its 200; 0 if it does not fail.
    fails_later: int = 0
    base: str = ""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def _parts(self) -> tuple[Json, dict[str, Upload]]:
        if self.content_type == "application/json":
            return _json_object(self.body), {}
        if self.content_type == "application/x-www-form-urlencoded":
            return dict(parse_qsl(self.body.decode(errors="replace"), keep_blank_values=True)), {}
        if self.content_type == "multipart/form-data":
            return _multipart(self.headers["content-type"], self.body)
        return {}, {}

    @property
    def form(self) -> Json:
        """The body's values, from JSON, an urlencoded form or a multipart form."""
        return self._parts[0]

    @property
    def files(self) -> dict[str, Upload]:
        return self._parts[1]

    @cached_property
    def params(self) -> Json:
        """The query and the body merged. Objects in a query or form are parsed from JSON."""
        values: Json = {**self.query, **self.form}
        if self.content_type != "application/json":
            values = {name: _decoded(value) for name, value in values.items()}
        return values

    def text(self, name: str) -> str:
        value = self.params.get(name, "")
        return value if isinstance(value, str) else json.dumps(value)


@dataclass
class Response:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    # `whole`, `reset` (the connection breaks before the response) or `cut` (the connection ends in
    # the middle of the body).
    sending: str = "whole"
    delay: float = 0.0

    def json(self) -> Any:
        return json.loads(self.body)


def ok(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(body).encode(), status, headers)


def html(text: str, status: int = 200) -> Response:
    return Response(text.encode(), status, content_type="text/html; charset=utf-8")


def redirect(url: str) -> Response:
    return Response(b"", 302, {"Location": url}, "text/html")


class ProviderError(Exception):
    """A refusal, in the provider's own format."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


HTTP_STATUS = {0: 401, 102: 401, 190: 401, 1: 500, 2: 503, 131000: 500, 131016: 503}


def graph_error(
    code: int,
    message: str,
    subcode: int | None = None,
    *,
    status: int | None = None,
    details: str = "",
) -> ProviderError:
    """An error in the format of the Graph API, with the HTTP status that its code has."""
    kind = "OAuthException" if code in {0, 10, 100, 102, 190, 200} else "GraphMethodException"
    error: Json = {"message": f"(#{code}) {message}", "type": kind, "code": code}
    if subcode is not None:
        error["error_subcode"] = subcode
    if code in {1, 2} and status != 400:
        error["is_transient"] = True
    if details:
        error["error_data"] = {"messaging_product": "whatsapp", "details": details}
    error["fbtrace_id"] = "AbCdEfGhIjKlMnOpQrStUvW"
    if status is None:
        is_forbidden = code in {3, 10, 368} or 200 <= code <= 299
        status = HTTP_STATUS.get(code, 403 if is_forbidden else 400)
    return ProviderError(ok({"error": error}, status))


def localapp_error(code: int, message: str) -> ProviderError:
    return ProviderError(ok({"error": code, "message": message}))


def telegram_error(code: int, message: str) -> ProviderError:
    body = {"ok": False, "error_code": code, "description": message}
    return ProviderError(ok(body, code if code >= 400 else 500))


def _json_object(body: bytes) -> Json:
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _multipart(content_type: str, body: bytes) -> tuple[Json, dict[str, Upload]]:
    head = f"Content-Type: {content_type}\r\nMIME-Version: 1.0\r\n\r\n".encode()
    message = message_from_bytes(head + body, policy=policy.HTTP)
    values: Json = {}
    files: dict[str, Upload] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(data, bytes):
            continue
        filename = part.get_filename()
        if filename is None:
            values[name] = data.decode(errors="replace")
        else:
            files[name] = Upload(filename, part.get_content_type(), data)
    return values, files
