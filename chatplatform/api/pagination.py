"""Keyset pagination: a signed position in a stable order, so that no row is repeated or skipped."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from django.core import signing
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from pydantic import Field

from chatplatform.api.errors import Invalid
from chatplatform.api.schemas import Schema, Text

Row = TypeVar("Row", bound=models.Model)
Item = TypeVar("Item")
_WRONG_CURSOR = "This cursor is damaged or belongs to another list."


class Page(Schema):
    """Query parameters of every list."""

    cursor: Text | None = Field(
        None,
        description="`next_cursor` from the previous page; leave it out for the first page.",
        max_length=500,
    )
    limit: int = Field(
        50, ge=1, le=100, description="Maximum number of rows per page, 1 to 100; by default 50."
    )
    # The request's path, set by `parse_query`.
    _path: str = ""


class ListPage(Schema, Generic[Item]):
    """One page of a list."""

    items: list[Item] = Field(description="The rows of this page, in the order of the list.")
    next_cursor: str | None = Field(description="Cursor of the next page; null on the last page.")


def list_key(query: Schema) -> str:
    """The key of the list that a query requests: its path and the filters that are set."""
    filters = query.model_dump_json(exclude={"cursor", "limit"}, exclude_defaults=True)
    return f"{query._path if isinstance(query, Page) else ''}?{filters}"


def encode_cursor(
    model: type[models.Model], order: Sequence[str], position: Sequence[Any], *, key: str = ""
) -> str:
    """An opaque, signed cursor for a position in a list of this model in this order.

    Only the list with this `key` (see `list_key`) accepts the cursor; without a key, every list of
    this model in this order does.
    """
    return signing.dumps(list(position), salt=_salt(model, order, key))


def decode_cursor(
    cursor: str, model: type[models.Model], order: Sequence[str], *, key: str = ""
) -> list[Any]:
    """The position in a cursor; 422 if it was changed or belongs to another list."""
    position = None
    # Every list also accepts a cursor without a key, as older versions created them.
    for allowed_key in (key, ""):
        with suppress(signing.BadSignature):
            position = signing.loads(cursor, salt=_salt(model, order, allowed_key))
            break
    if not isinstance(position, list) or len(position) != len(order):
        raise wrong_cursor()
    return position


def wrong_cursor() -> Invalid:
    """The 422 for a cursor that was changed or belongs to another list."""
    return Invalid.field("query", "cursor", msg=_WRONG_CURSOR)


def decode_numbers(
    cursor: str, model: type[models.Model], order: Sequence[str], *, key: str = ""
) -> list[int]:
    """`decode_cursor` for a list ordered by whole numbers; 422 if it has other values."""
    numbers = decode_cursor(cursor, model, order, key=key)
    if not all(isinstance(number, int) and abs(number) < 2**63 for number in numbers):
        raise wrong_cursor()
    return numbers


def _salt(model: type[models.Model], order: Sequence[str], key: str) -> str:
    return f"chatplatform.cursor:{model._meta.label}:{','.join(order)}{key}"


def page(
    rows: models.QuerySet[Row],
    query: Page,
    *,
    by: str | tuple[str, ...] = "id",
    schema: Callable[[Row], Any],
    resumable: bool = False,
) -> dict[str, Any]:
    """One list page of `rows`, ordered by a unique column, or by several columns that are unique
    together and sorted in one direction (`("-activity", "-id")`). Rows may be named tuples.

    `resumable` adds `resume_cursor`, which continues after this page's last row even if there are
    no further rows yet; the next request may have other filters.
    """
    order = (by,) if isinstance(by, str) else by
    key = "" if resumable else list_key(query)
    if query.cursor:
        rows = _after(rows, order, query.cursor, key)
    fetched = list(rows.order_by(*order)[: query.limit + 1])
    page_rows, has_more = fetched[: query.limit], len(fetched) > query.limit
    end = None
    if page_rows and (has_more or resumable):
        end = encode_cursor(rows.model, order, _position_at(page_rows[-1], order), key=key)
    result = {"items": [schema(row) for row in page_rows], "next_cursor": end if has_more else None}
    return result | ({"resume_cursor": end or query.cursor} if resumable else {})


def _position_at(row: Any, order: Sequence[str]) -> list[Any]:
    values = [getattr(row, name.lstrip("-")) for name in order]
    return [value if isinstance(value, int) else str(value) for value in values]


def _after(
    rows: models.QuerySet[Row], order: Sequence[str], cursor: str, key: str
) -> models.QuerySet[Row]:
    """Rows after a cursor's position; 422 if the cursor belongs to another list."""
    side = "lt" if order[0].startswith("-") else "gt"
    columns = [name.lstrip("-") for name in order]
    try:
        values = decode_cursor(cursor, rows.model, order, key=key)
        position = list(zip(columns, values, strict=True))
        later, equal_so_far = Q(), Q()
        for column, value in position:
            later |= equal_so_far & Q(**{f"{column}__{side}": value})
            equal_so_far &= Q(**{column: value})
        first, value = position[0]
        # The second condition implies the first, which lets an index scan start at the position.
        return rows.filter(Q(**{f"{first}__{side}e": value}), later)
    except (ValueError, TypeError, ValidationError) as exc:
        raise wrong_cursor() from exc
