"""Keyset pages: a signed position in a stable order, so that no page repeats or skips a row."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core import signing
from django.core.exceptions import ValidationError
from django.db import models
from pydantic import Field

from chatplatform.errors import Invalid
from chatplatform.shapes import Shape, Text

Row = TypeVar("Row", bound=models.Model)
_SALT = "chatplatform.cursor"


class Page(Shape):
    """Query parameters of every list."""

    cursor: Text | None = Field(
        None,
        description="`next_cursor` of the page before; left out for the first.",
        max_length=500,
    )
    limit: int = Field(50, ge=1, le=100, description="Rows on a page, 1..100.")


def cursor_of(*position: Any) -> str:
    """An opaque, signed cursor for a position."""
    return signing.dumps(list(position), salt=_SALT)


def position_of(cursor: str) -> list[Any]:
    """The position in a cursor; 422 where it was changed or is not ours."""
    try:
        position = signing.loads(cursor, salt=_SALT)
    except signing.BadSignature:
        position = None
    if not isinstance(position, list):
        raise Invalid.field("query", "cursor", msg="This cursor is not one of ours.")
    return position


def page(
    rows: models.QuerySet[Row],
    asked: Page,
    *,
    by: str = "id",
    shape: Callable[[Row], Any],
) -> dict[str, Any]:
    """One page of `rows` in the order of one unique column (`id`, `-id`, `seq`).

    Asks for one row more than the page holds: whether there is a next page costs no second query.
    """
    column, backwards = by.lstrip("-"), by.startswith("-")
    if asked.cursor:
        rows = _beyond(rows, f"{column}__{'lt' if backwards else 'gt'}", asked.cursor)
    found = list(rows.order_by(by)[: asked.limit + 1])
    shown = found[: asked.limit]
    more = len(found) > asked.limit
    last = getattr(shown[-1], column) if more else None
    return {
        "items": [shape(row) for row in shown],
        "next_cursor": cursor_of(last if isinstance(last, int) else str(last)) if more else None,
    }


def _beyond(rows: models.QuerySet[Row], lookup: str, cursor: str) -> models.QuerySet[Row]:
    """Rows after a cursor's position; 422 where the cursor is of another kind of list."""
    try:
        (after,) = position_of(cursor)
        return rows.filter(**{lookup: after})
    except (ValueError, TypeError, ValidationError) as exc:
        raise Invalid.field("query", "cursor", msg="This cursor is of another list.") from exc
