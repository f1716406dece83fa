"""Keyset pages: a signed position in a stable order, so that no page repeats or skips a row."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core import signing
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from pydantic import Field

from chatplatform.errors import Invalid
from chatplatform.shapes import Shape, Text

Row = TypeVar("Row", bound=models.Model)
_SALT = "chatplatform.cursor"
_OF_ANOTHER_LIST = "This cursor is of another list."


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


def numbers_of(cursor: str, count: int) -> list[int]:
    """The numbers in a cursor that holds so many; 422 for another list's."""
    found = position_of(cursor)
    if len(found) != count or not all(isinstance(n, int) and abs(n) < 2**63 for n in found):
        raise Invalid.field("query", "cursor", msg=_OF_ANOTHER_LIST)
    return found


def page(
    rows: models.QuerySet[Row],
    asked: Page,
    *,
    by: str | tuple[str, ...] = "id",
    shape: Callable[[Row], Any],
) -> dict[str, Any]:
    """One page of `rows` in the order of a unique column (`id`, `-id`, `seq`), or of several that
    are unique together and all run one way (`("-activity", "-id")`).

    Asks for one row more than the page holds: whether there is a next page costs no second query.
    """
    order = (by,) if isinstance(by, str) else by
    columns = [name.lstrip("-") for name in order]
    if asked.cursor:
        rows = _beyond(rows, columns, asked.cursor, backwards=order[0].startswith("-"))
    return as_page(list(rows.order_by(*order)[: asked.limit + 1]), asked, by=columns, shape=shape)


def as_page(
    found: Sequence[Row], asked: Page, *, by: Sequence[str], shape: Callable[[Row], Any]
) -> dict[str, Any]:
    """A page of the rows that were found, which are one more than it holds where there are more."""
    shown = found[: asked.limit]
    return {
        "items": [shape(row) for row in shown],
        "next_cursor": _cursor_at(shown[-1], by) if len(found) > asked.limit else None,
    }


def _cursor_at(row: models.Model, columns: Sequence[str]) -> str:
    values = [getattr(row, column) for column in columns]
    return cursor_of(*[value if isinstance(value, int) else str(value) for value in values])


def _beyond(
    rows: models.QuerySet[Row], columns: list[str], cursor: str, *, backwards: bool
) -> models.QuerySet[Row]:
    """Rows after a cursor's position; 422 where the cursor is of another kind of list."""
    side = "lt" if backwards else "gt"
    try:
        position = list(zip(columns, position_of(cursor), strict=True))
        later, level = Q(), Q()
        for column, value in position:
            later |= level & Q(**{f"{column}__{side}": value})
            level &= Q(**{column: value})
        first, value = position[0]
        # Says nothing new, but lets an index begin at the position.
        return rows.filter(Q(**{f"{first}__{side}e": value}), later)
    except (ValueError, TypeError, ValidationError) as exc:
        raise Invalid.field("query", "cursor", msg=_OF_ANOTHER_LIST) from exc
