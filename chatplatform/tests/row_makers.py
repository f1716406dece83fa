"""Rows in bulk, for the guard over lists."""

import itertools
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import models

from chatplatform.ids import uuid7
from identity.models import Client, User

# From 3: the chat in the paths already has messages 1 and 2.
_numbers = itertools.count(3)


@dataclass(frozen=True)
class Place:
    """Where rows are added: one client, and one row for each id that a path names."""

    client: Client
    user: User
    ids: dict[str, Any]


def rows(model: type[models.Model], count: int, **fields: Any) -> list[Any]:
    """`count` rows. A list holds one value for each row; a function computes it from a number."""

    def row(n: int, number: int) -> models.Model:
        def own(value: Any) -> Any:
            if isinstance(value, list):
                return value[n]
            return value(number) if callable(value) else value

        return model(**{name: own(value) for name, value in fields.items()})

    return model._default_manager.bulk_create(row(n, next(_numbers)) for n in range(count))


def new_ids(count: int) -> list[uuid.UUID]:
    return [uuid7() for _ in range(count)]
