"""What all operations share: requests with retries, files, streams, pages, and webhooks."""

import base64
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

RETRIED = {429, 503}
MAX_WAIT_SECONDS = 60.0
TOLERANCE_SECONDS = 300


class ApiError(Exception):
    """A refusal: its status, its `code` (empty for a 422 of the shape), and the whole body."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(f"{status} {body.get('code', '')}: {body.get('detail', '')}")
        self.status, self.body, self.code = status, body, str(body.get("code", ""))


class Core:
    """A connection with one credential: a person's `token`, or a `key` with perhaps a visitor."""

    def __init__(
        self, server: str, *, token: str = "", key: str = "", visitor_token: str = "",
        timeout: float = 90, retries: int = 3,
    ) -> None:  # fmt: skip
        self.server, self.timeout, self.retries = server.rstrip("/"), timeout, retries
        credentials = {"Authorization": token and f"Bearer {token}", "API-KEY": key}
        headers = credentials | {"Visitor-Token": visitor_token}
        self.headers = {name: value for name, value in headers.items() if value}

    def each(self, method: Callable[..., Any], *args: Any, **query: Any) -> Iterator[Any]:
        """All rows of a list, page by page: `api.each(api.list_chats, status="open")`."""
        cursor: str | None = None
        while True:
            page = method(*args, **{**query, "cursor": cursor})
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def call(
        self, method: str, path: str, values: Mapping[str, Any], query: Mapping[str, Any], *,
        body: Any = None, kind: str = "", is_stream: bool = False, key: str | None = None,
    ) -> Any:  # fmt: skip
        """One operation. `kind` of body: `form`, `files`, or empty for JSON. `key` is the
        Idempotency-Key, by default a new one for each POST."""
        filled = path.format(**{name: quote(str(value), safe="") for name, value in values.items()})
        asked = {name: value for name, value in query.items() if value is not None}
        url = f"{self.server}{filled}" + (f"?{urlencode(asked, doseq=True)}" if asked else "")
        data, media_type = _encoded(body, kind)
        headers = {**self.headers, "Accept": "text/event-stream" if is_stream else "*/*"}
        headers |= {"Content-Type": media_type} if media_type else {}
        headers |= {"Idempotency-Key": key or str(uuid.uuid4())} if method == "POST" else {}
        request = urllib.request.Request(url, data, headers, method=method)
        answer = self._send(request)
        if is_stream:
            return _events(answer)
        with answer:
            content = answer.read()
        if not content:
            return None
        is_json = answer.headers.get_content_type() == "application/json"
        return json.loads(content) if is_json else content

    def _send(self, request: urllib.request.Request) -> Any:
        for attempt in range(self.retries + 1):
            try:
                return urllib.request.urlopen(request, timeout=self.timeout)
            except urllib.error.HTTPError as error:
                with error:
                    content = error.read()
                wait = error.headers.get("Retry-After", "")
                if error.code in RETRIED and wait.isdigit() and attempt < self.retries:
                    time.sleep(min(float(wait), MAX_WAIT_SECONDS))
                    continue
                is_json = error.headers.get_content_type() == "application/json"
                raise ApiError(error.code, json.loads(content) if is_json else {}) from None
        raise AssertionError("the last attempt returns or raises")


def _encoded(body: Any, kind: str) -> tuple[bytes | None, str]:
    if body is None:
        return None, ""
    if kind == "form":
        return urlencode(body).encode(), "application/x-www-form-urlencoded"
    if kind != "files":
        return json.dumps(body).encode(), "application/json"
    boundary, parts = uuid.uuid4().hex, []
    for name, value in body.items():
        for item in value if isinstance(value, list) else [value]:
            file_name, content = item if isinstance(item, tuple) else ("", str(item).encode())
            named = f'; filename="{quote(file_name, safe=" .-_()")}"' if file_name else ""
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
            parts.append(head.encode() + content + b"\r\n")
    end = f"--{boundary}--\r\n".encode()
    return b"".join([*parts, end]), f"multipart/form-data; boundary={boundary}"


def _events(answer: Any) -> Iterator[dict[str, Any]]:
    """The server-sent events of an answer, each with `event`, `data` and perhaps `id`."""
    fields: dict[str, Any] = {}
    with answer:
        for raw in answer:
            line = raw.decode().rstrip("\r\n")
            if not line and fields:
                yield fields | {"data": json.loads(fields.get("data", "null"))}
                fields = {}
            elif line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """The event of a webhook; ValueError if it is not signed with the `secret`, or too old."""
    given = {name.lower(): value for name, value in headers.items()}
    sent_at = given.get("webhook-timestamp", "")
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        raise ValueError("The webhook's timestamp is missing or too old.")
    signed = f"{given.get('webhook-id', '')}.{sent_at}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    signatures = given.get("webhook-signature", "").split()
    if not any(hmac.compare_digest(wanted, signature) for signature in signatures):
        raise ValueError("The webhook is not signed with this secret.")
    event: dict[str, Any] = json.loads(body)
    return event
