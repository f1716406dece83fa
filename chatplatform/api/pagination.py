"""Keyset pages: a signed position in a stable order, so that no page repeats or skips a row."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core import signing
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from pydantic import Field

from chatplatform.api.errors import Invalid
from chatplatform.api.shapes import Shape, Text

Row = TypeVar("Row", bound=models.Model)
_NOT_OF_THIS_LIST = "This cursor is not one of this list."


class Page(Shape):
    """Query parameters of every list."""

    cursor: Text | None = Field(
        None,
        description="`next_cursor` of the page before; left out for the first.",
        max_length=500,
    )
    limit: int = Field(50, ge=1, le=100, description="Rows on a page, 1..100.")


def cursor_of(model: type[models.Model], order: Sequence[str], position: Sequence[Any]) -> str:
    """An opaque, signed cursor for a position in a list of this model in this order."""
    return signing.dumps(list(position), salt=_salt(model, order))


def position_of(cursor: str, model: type[models.Model], order: Sequence[str]) -> list[Any]:
    """The position in a cursor; 422 if it was changed or belongs to another kind of list."""
    try:
        position = signing.loads(cursor, salt=_salt(model, order))
    except signing.BadSignature:
        position = None
    if not isinstance(position, list) or len(position) != len(order):
        raise Invalid.field("query", "cursor", msg=_NOT_OF_THIS_LIST)
    return position


def numbers_of(cursor: str, model: type[models.Model], order: Sequence[str]) -> list[int]:
    """The position in a cursor, of a list that is ordered by whole numbers only."""
    numbers = position_of(cursor, model, order)
    if not all(isinstance(number, int) and abs(number) < 2**63 for number in numbers):
        raise Invalid.field("query", "cursor", msg=_NOT_OF_THIS_LIST)
    return numbers


def _salt(model: type[models.Model], order: Sequence[str]) -> str:
    return f"chatplatform.cursor:{model._meta.label}:{','.join(order)}"


def page(
    rows: models.QuerySet[Row],
    query: Page,
    *,
    by: str | tuple[str, ...] = "id",
    shape: Callable[[Row], Any],
    resumable: bool = False,
) -> dict[str, Any]:
    """One page of `rows`, in the order of a unique column (`id`, `-id`, `seq`), or of several that
    are unique together and have one direction (`("-activity", "-id")`). `rows` may be named values.

    Reads one row more than the page holds, which shows without a second query if there is a next.
    `resumable`: `resume_cursor` goes on behind the last row, also if there is no next page yet.
    """
    order = (by,) if isinstance(by, str) else by
    if query.cursor:
        rows = _after(rows, order, query.cursor)
    fetched = list(rows.order_by(*order)[: query.limit + 1])
    shown, has_more = fetched[: query.limit], len(fetched) > query.limit
    end = _cursor_at(shown[-1], rows.model, order) if shown and (has_more or resumable) else None
    result = {"items": [shape(row) for row in shown], "next_cursor": end if has_more else None}
    return result | ({"resume_cursor": end or query.cursor} if resumable else {})


def _cursor_at(row: Any, model: type[models.Model], order: Sequence[str]) -> str:
    values = [getattr(row, name.lstrip("-")) for name in order]
    position = [value if isinstance(value, int) else str(value) for value in values]
    return cursor_of(model, order, position)


def _after(rows: models.QuerySet[Row], order: Sequence[str], cursor: str) -> models.QuerySet[Row]:
    """Rows after a cursor's position; 422 if the cursor belongs to another kind of list."""
    side = "lt" if order[0].startswith("-") else "gt"
    columns = [name.lstrip("-") for name in order]
    try:
        position = list(zip(columns, position_of(cursor, rows.model, order), strict=True))
        later, equal_so_far = Q(), Q()
        for column, value in position:
            later |= equal_so_far & Q(**{f"{column}__{side}": value})
            equal_so_far &= Q(**{column: value})
        first, value = position[0]
        # Follows from the other condition, but lets an index scan start at the position.
        return rows.filter(Q(**{f"{first}__{side}e": value}), later)
    except (ValueError, TypeError, ValidationError) as exc:
        raise Invalid.field("query", "cursor", msg=_NOT_OF_THIS_LIST) from exc
