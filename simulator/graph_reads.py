"""Helpers for reads of the Graph API: pages of lists, and permissions."""

from collections.abc import Callable
from typing import Any

from simulator.http import Request, Response, graph_error, ok
from simulator.world import Json, Token


def listed(request: Request, rows: list[Any], shown: Callable[[Any], Json]) -> Response:
    """One page of a list, by the request's `limit` and cursor."""
    limit, after = request.text("limit") or "25", request.text("after") or "0"
    if not (limit.isdigit() and after.isdigit()):
        raise graph_error(100, "Invalid cursors values")
    start, end = int(after), int(after) + min(int(limit), 100)
    answer: Json = {"data": [shown(row) for row in rows[start:end]]}
    if answer["data"]:
        answer["paging"] = {"cursors": {"before": str(start), "after": str(end)}}
    if end < len(rows):
        answer["paging"]["next"] = f"{request.path}?limit={limit}&after={end}"
    return ok(answer)


def need(token: Token, *scopes: str) -> None:
    """Refuse a token that has none of these permissions."""
    if not token.scopes & set(scopes):
        raise graph_error(200, f"Requires {' or '.join(scopes)} permission to manage the object")


def unknown(node: str) -> Exception:
    """The error for an object that does not exist, or to which the token has no access."""
    message = (
        f"Unsupported request. Object with ID '{node}' does not exist, cannot be loaded due to "
        "missing permissions, or does not support this operation"
    )
    return graph_error(100, message, 33)
