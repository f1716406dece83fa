"""Reading the Graph: the `fields` parameter, pages of lists, permissions."""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from simulator.call_subject import VERSION, bearer, segments
from simulator.http import Request, Response, graph_error, ok
from simulator.state import Simulator
from simulator.world import Json, Token

_TOKENS = re.compile(r"[\w.]+(?:\(\d+\))?|[{},]")


@dataclass(frozen=True)
class Field:
    """A wanted field: `messages.limit(20){id,from}` has a limit and fields of its own."""

    limit: int | None
    fields: "Fields"


Fields = dict[str, Field]


def wanted(request: Request, default: str) -> Fields:
    return parse_fields(request.text("fields") or default)


def parse_fields(text: str) -> Fields:
    tokens = _TOKENS.findall(text)
    tokens.reverse()
    return _fields(tokens)


def _fields(tokens: list[str]) -> Fields:
    found: Fields = {}
    while tokens:
        token = tokens.pop()
        if token == "}":
            break
        if token in {",", "{"}:
            continue
        name, _, rest = token.partition(".limit(")
        limit = int(rest.rstrip(")")) if rest else None
        inner: Fields = {}
        if tokens and tokens[-1] == "{":
            tokens.pop()
            inner = _fields(tokens)
        found[name] = Field(limit, inner)
    return found


def pick(values: Json, fields: Fields) -> Json:
    """The wanted fields that there are, always with the id."""
    picked = {}
    for name, value in values.items():
        if name not in fields and name != "id":
            continue
        inner = fields[name].fields if name in fields else {}
        picked[name] = _pick_inside(value, inner)
    return picked


def _pick_inside(value: Any, fields: Fields) -> Any:
    if not fields or not isinstance(value, dict):
        return value
    if "data" in value:
        # {"data": …}, as of pictures, participants and attachments.
        inner = value["data"]
        if isinstance(inner, list):
            return {**value, "data": [_pick_inside(each, fields) for each in inner]}
        return {**value, "data": _pick_inside(inner, fields)}
    return (
        pick(value, fields)
        if "id" in value
        else {name: inner for name, inner in value.items() if name in fields}
    )


def listed(
    sim: Simulator, request: Request, rows: list[Any], shown: Callable[[Any], Json]
) -> Response:
    """One page of a list, by the cursors of the request."""
    return ok(page(sim, request, rows, shown))


def page(
    sim: Simulator,
    request: Request,
    rows: list[Any],
    shown: Callable[[Any], Json],
    nested: tuple[str, Field] | None = None,
) -> Json:
    """One page of rows; `nested` is the path and the field of a list inside another answer."""
    limit = nested[1].limit if nested else None
    wanted_size = limit or _number(request.text("limit"), default=25)
    size = max(1, min(wanted_size, sim.limits.page_size))
    after, before = request.text("after"), request.text("before")
    start = _position(after) + 1 if after else 0
    if before:
        start = max(0, _position(before) - size)
    chosen = rows[start : start + size]
    answer: Json = {"data": [shown(row) for row in chosen]}
    if not chosen:
        return answer
    last = start + len(chosen) - 1
    answer["paging"] = {"cursors": {"before": _cursor(start), "after": _cursor(last)}}
    if last + 1 < len(rows):
        answer["paging"]["next"] = _address(sim, request, nested, after=_cursor(last))
    if start:
        answer["paging"]["previous"] = _address(sim, request, nested, before=_cursor(start))
    return answer


def _address(
    sim: Simulator, request: Request, nested: tuple[str, Field] | None, **cursor: str
) -> str:
    left_out = {"after", "before", *(("fields", "limit", "platform") if nested else ())}
    query = {name: value for name, value in request.query.items() if name not in left_out}
    path = request.path
    if nested:
        version = segments(path)[0]
        path = f"/{version}/{nested[0]}" if VERSION.match(version) else f"/{nested[0]}"
        query["fields"] = _text(nested[1].fields)
        query["limit"] = str(nested[1].limit or 25)
    query = {"access_token": bearer(request), **query, **cursor}
    base = sim.settings.bases.direct if request.base == "direct" else sim.settings.bases.graph
    return f"{sim.origin}{base}{path}?{urlencode(query)}"


def _text(fields: Fields) -> str:
    return ",".join(
        name + (f"{{{_text(field.fields)}}}" if field.fields else "")
        for name, field in fields.items()
    )


def _cursor(position: int) -> str:
    return "QVFI" + base64.urlsafe_b64encode(f"row:{position:06}".encode()).decode().rstrip("=")


def _position(cursor: str) -> int:
    text = cursor.removeprefix("QVFI")
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        return int(raw.removeprefix("row:"))
    except ValueError:
        raise graph_error(100, "Invalid cursors values") from None


def _number(text: str, default: int) -> int:
    return int(text) if text.isdigit() else default


def need(token: Token, *scopes: str) -> None:
    """Refuse a token without any of these permissions."""
    if not token.scopes & set(scopes):
        raise graph_error(200, f"Requires {' or '.join(scopes)} permission to manage the object")


def unknown(node: str) -> Exception:
    message = (
        f"Unsupported request. Object with ID '{node}' does not exist, cannot be loaded due to "
        "missing permissions, or does not support this operation"
    )
    return graph_error(100, message, 33)
