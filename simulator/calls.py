"""The log of the platform's calls to the providers, with secrets masked."""

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from simulator.http import Request, Response
from simulator.world import Json

KEPT = 20_000
SECRET_NAMES = {
    "access_token", "client_secret", "refresh_token", "code", "code_verifier", "secret_key",
    "authorization", "fb_exchange_token", "input_token", "appsecret_proof", "cookie", "pin",
    "verify_token", "secret_token",
}  # fmt: skip
_MASK = "***"
# telegram's tokens are part of the path.
_TOKEN_IN_PATH = re.compile(r"/bot[^/]*:[^/]*")


@dataclass
class Call:
    """A logged call: `account` is the account that it is about, `fault` the kind of its fault."""

    id: int
    at: float
    base: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    account: str = ""
    channel: str = ""
    # The kind of call, as in faults: `sends`, `media`, `lists`, `tokens`, …
    what: str = ""
    status: int = 0
    fault: str = ""
    answer: Any = None

    def as_json(self) -> Json:
        return asdict(self)


def record(number: int, at: float, base: str, request: Request) -> Call:
    return Call(
        number, at, base, request.method, _TOKEN_IN_PATH.sub(f"/bot{_MASK}", request.path),
        _masked(request.query),
        _masked(request.headers), _masked(_body(request)),
    )  # fmt: skip


def finish(call: Call, response: Response) -> None:
    """Add the response: its status (0 after a reset), and its body if that is short JSON."""
    call.status = 0 if response.sending == "reset" else response.status
    if response.content_type == "application/json" and len(response.body) < 20_000:
        try:
            call.answer = _masked(json.loads(response.body or b"null"))
        except ValueError:
            call.answer = response.body.decode(errors="replace")


def _body(request: Request) -> Any:
    if not request.body:
        return None
    if request.content_type == "multipart/form-data":
        files = {
            name: {"name": item.name, "type": item.mime, "size": len(item.data)}
            for name, item in request.files.items()
        }
        return {**request.params, "files": files}
    if request.form or request.content_type == "application/json":
        return request.form
    return request.body[:2000].decode(errors="replace")


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _MASK if re.sub("-", "_", name.lower()) in SECRET_NAMES else _masked(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_masked(inner) for inner in value]
    if isinstance(value, str) and "access_token=" in value:
        return re.sub(r"access_token=[^&]+", f"access_token={_MASK}", value)
    return value
