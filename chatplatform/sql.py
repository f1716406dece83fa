"""A model's columns, for the few statements that are written out.

Django's way of building a statement costs more processor time than sending it and reading the
answer. That is seldom worth a thought; it is for what every request or every message needs.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import orjson
from django.db import connection, models

Row = TypeVar("Row", bound=models.Model)


class Columns(Generic[Row]):
    """All columns of a model: named in a statement, and made a row of what it returns."""

    def __init__(self, model: type[Row]) -> None:
        self.model = model
        self.fields = model._meta.concrete_fields
        self.names = [field.attname for field in self.fields]
        self.places = ", ".join(["%s"] * len(self.fields))
        self._json = [n for n, field in enumerate(self.fields) if _is_json(field)]

    def __len__(self) -> int:
        return len(self.fields)

    def column_list(self, table: str = "") -> str:
        """The columns as a statement names them, of a table or its alias."""
        prefix = f"{table}." if table else ""
        return ", ".join(f"{prefix}{field.column}" for field in self.fields)

    def row(self, values: Sequence[Any]) -> Row:
        """The row of which these are the columns, in the order of `column_list`."""
        read = list(values)
        for place in self._json:
            read[place] = read[place] and orjson.loads(read[place])
        return self.model.from_db(connection.alias, self.names, read)

    def written(self, row: Row) -> list[Any]:
        """The values to insert of a row, in the order of `column_list`."""
        return [
            field.get_db_prep_save(getattr(row, field.attname), connection) for field in self.fields
        ]


def _is_json(field: Any) -> bool:
    """Whether PostgreSQL gives it as text that is JSON; other converted fields are refused."""
    if isinstance(field, models.JSONField):
        return True
    assert not hasattr(field, "from_db_value"), f"{field} has a conversion of its own"
    return False
