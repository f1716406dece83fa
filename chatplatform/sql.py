"""Helpers for the few hand-written SQL statements, and a time limit for statements.

Django needs more CPU time to build a statement than to send it and read the result. That matters
only for statements that every request or every message needs.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Generic, TypeVar

import psycopg
from django.db import connection, connections, models
from django.db.models.expressions import DatabaseDefault

Row = TypeVar("Row", bound=models.Model)


class Columns(Generic[Row]):
    """Lists the columns of a model for a statement, and builds rows from its result.

    The columns in `without` are left out; a row loads each of them when it is read.
    """

    def __init__(self, model: type[Row], *, without: Collection[str] = ()) -> None:
        self.model = model
        self.fields = [item for item in model._meta.concrete_fields if item.name not in without]
        self.names = [field.attname for field in self.fields]
        self._json = [index for index, field in enumerate(self.fields) if _is_json(field)]

    def __len__(self) -> int:
        return len(self.fields)

    def column_list(self, table: str = "") -> str:
        """The columns as SQL, prefixed with a table or alias if given."""
        prefix = f"{table}." if table else ""
        return ", ".join(f"{prefix}{field.column}" for field in self.fields)

    def row(self, values: Sequence[Any]) -> Row:
        """The row with these values, in the order of `column_list`."""
        parsed = list(values)
        for index in self._json:
            # orjson would turn an integer beyond 64 bits into a float.
            parsed[index] = parsed[index] and json.loads(parsed[index])
        return self.model.from_db(connection.alias, self.names, parsed)

    def to_json(self, row: Row) -> str:
        """A row's values by column, as JSON for `jsonb_populate_record`."""
        values = {field.column: getattr(row, field.attname) for field in self.fields}
        return json.dumps(values, default=_text_of)


def execute(statement: str, values: Any = None) -> None:
    """Execute a statement that returns nothing."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def fetch_row(statement: str, values: Any = None) -> Any:
    """The first row of a statement's result; None if the result is empty."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def fetch_rows(statement: str, values: Any = None) -> list[Any]:
    """All rows of a statement's result."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def column_names(model: type[models.Model]) -> str:
    """A model's columns for `raw()`. With `*`, statements of open connections would fail when a
    release adds a column ("cached plan must not change result type").
    """
    return ", ".join(str(field.column) for field in model._meta.concrete_fields)


def _text_of(value: Any) -> str | None:
    # If the row has no value yet, the database uses the column's default.
    return None if isinstance(value, DatabaseDefault) else str(value)


def _is_json(field: Any) -> bool:
    """Whether a field's value arrives as JSON text; fields with another conversion are refused."""
    if isinstance(field, models.JSONField):
        return True
    assert not hasattr(field, "from_db_value"), f"{field} has its own conversion"
    return False


def iso_time(column: str) -> str:
    """SQL that formats a time column like `chatplatform.api.schemas.iso`."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


@contextmanager
def statements_within(milliseconds: int) -> Iterator[None]:
    """Cancel each statement of this thread that takes longer; it raises an OperationalError."""
    limited: list[Any] = []

    def limit(execute: Callable[..., Any], *args: Any) -> Any:
        wrapper = args[-1]["connection"]
        if wrapper not in limited:
            # Without Django's cursor, so that this is not counted as a statement of the request.
            wrapper.connection.execute(f"SET statement_timeout = {milliseconds}")
            limited.append(wrapper)
        return execute(*args)

    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(connections[alias].execute_wrapper(limit))
        try:
            yield
        finally:
            for wrapper in limited:
                # A broken connection needs no reset: it is not used again.
                if wrapper.connection:
                    with suppress(psycopg.Error):
                        wrapper.connection.execute("RESET statement_timeout")
