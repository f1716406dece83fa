"""Two owners with rows for every path, which the tests of a guard share: import all of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from chatplatform.testing import empty_tables
from chatplatform.tests.served import rows_of
from identity.models import User
from identity.services import tokens
from identity.testing import Person, make_client, make_key, make_person

__all__ = ["ann", "ann_key", "cara", "ours", "owners"]


@dataclass(frozen=True)
class Owner:
    """An owner with a key, and their client's row for each id that a path names."""

    user: User
    key: Person
    rows: dict[str, Any]

    @classmethod
    def make(cls, client: str, name: str) -> "Owner":
        person = make_person(make_client(client), name=name)
        assert person.user
        key = make_key(person.client)
        return cls(person.user, key, rows_of(person, key))

    def sign_in(self) -> Person:
        return sign_in(self.user)


def sign_in(user: User) -> Person:
    """The person, with a token that is new: it does not last as long as these tests."""
    user = User.objects.select_related("client").get(pk=user.pk)
    return Person({"Authorization": f"Bearer {tokens.issue(user).access_token}"}, user=user)


@pytest.fixture(scope="module")
def owners(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[Owner, Owner]]:
    """Made once for all tests of a module: what a test changes is rolled back."""
    with django_db_blocker.unblock():
        made = Owner.make("Acme", "Ann"), Owner.make("Bravo", "Cara")
    yield made
    with django_db_blocker.unblock():
        empty_tables()


@pytest.fixture
def ann(owners: tuple[Owner, Owner], db: None) -> Person:
    return owners[0].sign_in()


@pytest.fixture
def ann_key(owners: tuple[Owner, Owner], db: None) -> Person:
    return owners[0].key


@pytest.fixture
def ours(owners: tuple[Owner, Owner], db: None) -> dict[str, Any]:
    return owners[0].rows


@pytest.fixture
def cara(owners: tuple[Owner, Owner], db: None) -> Person:
    return owners[1].sign_in()
