"""A regular expression, or any other lookup in a list's address, is refused and tells nothing.

A viewer and the owner ask each list of the API and of the site, with parameters made of columns and
Django's lookups. `LOOKUP_SHARE=10` takes every tenth list, `LOOKUP_SEED` repeats a run.
"""

import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import pytest

from chatplatform.tests import test_guard_lookups as guard
from chatplatform.tests.test_guard_site import PAGES, url
from drills.platform import OWNER, Platform
from drills.story.world import OPERATIONS

pytestmark = pytest.mark.timeout(3600)
SHARE = int(os.environ.get("LOOKUP_SHARE", "1"))
SEED = int(os.environ.get("LOOKUP_SEED", random.randrange(10**6)))
TRIES, SLOW_SECONDS = 35, 2.0
VIEWER = {"email": "vera@drill.example", "password": "correct-horse-battery"}
SERVED, REFUSED = {200, 302}, {400, 403, 404, 409, 422}
# What the site's lists take, or ignore. The rest is of Django, its tables and other frameworks.
TAKEN = ("e=1", "_popup=1", "_facets=1", "o=99", "o=-1.x", "o=password", "p=x", "columns=password")
ODD = (
    "_to_field=password", "ordering=password", "order_by=-password", "sort=password", "fields=*",
    "include=users", "filter[password]=x", "where=1", "search=x", "is_facets=1", "__all__=1",
    "_changelist_filters=password%3Dx", "pk__regex=(x%2B)%2B", "client__users__password__regex=.",
)  # fmt: skip
PEEPING = ("", "__startswith", "__gte", "__lt", "__regex", "__contains", "__in", "__isnull")


@dataclass
class Caller:
    """Somebody at one door, and how they were answered."""

    http: httpx2.Client
    headers: dict[str, str] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0

    def ask(self, address: str) -> tuple[int, str]:
        """The status and the text without the request's id; what took long is asked again."""
        seconds: list[float] = []
        while not seconds or (min(seconds) > SLOW_SECONDS and len(seconds) < 4):
            began = time.monotonic()
            reply = self.http.get(address, headers=self.headers)
            seconds.append(time.monotonic() - began)
        self.slowest = max(self.slowest, min(seconds))
        self.statuses[reply.status_code] += 1
        assert min(seconds) < SLOW_SECONDS, (address, seconds)
        assert reply.status_code in SERVED | REFUSED, (address, reply.status_code, reply.text)
        return reply.status_code, re.sub(r"[0-9a-f-]{36}", "", reply.text)


@dataclass
class List:
    """A list that somebody may read: of a model on the site, or of an operation of the API."""

    caller: Caller
    address: str
    model: Any = None
    documented: tuple[str, ...] = ()

    def ask(self, query: str) -> tuple[int, str]:
        return self.caller.ask(f"{self.address}?{query}")

    def offers(self, path: str, lookup: str) -> bool:
        """Whether it may serve a comparison: of a column of its own that is no free text, of a
        related row's id, and of what its filters name."""
        column = dict(guard.columns_of(self.model))[path]
        named = [item[0] if isinstance(item, tuple) else item
                 for item in PAGES[self.model].list_filter]  # fmt: skip
        is_text = isinstance(column, guard.TEXTS) and not column.choices
        return (
            lookup in guard.COMPARISONS | {"isempty"}
            and ("__" not in path or path.removesuffix("_id") in named or path.endswith("__id"))
            and (not is_text or f"{self.model._meta.model_name}.{path}" in guard.OFFERED_TEXTS)
        )


def lists_of_api(platform: Platform, people: list[Caller], key: Caller) -> Iterator[List]:
    chat = platform.call("POST", "/ai/client/chat", key.headers, json={})
    ids = {"chat_id": chat["id"], "conversation_id": chat["id"], "client_id": 1}
    ids |= {"question_id": 1, "replay_id": 1}
    for (method, path), operation in OPERATIONS.items():
        query = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "query"]
        if method == "GET" and "cursor" in query:
            callers = people if {"bearer": []} in operation["security"] else [key]
            yield from (List(c, path.format_map(chat | ids), None, tuple(query)) for c in callers)


def check(asked: List, hashed: str, chance: random.Random) -> None:
    model = asked.model or chance.choice([*PAGES])
    columns = dict(guard.columns_of(model)) | dict.fromkeys(asked.documented)
    assert {asked.ask(query)[0] for query in TAKEN} <= (SERVED if asked.model else set()) | REFUSED
    for query in ODD:
        assert asked.ask(query)[0] in REFUSED, (asked.address, query)
    for _ in range(TRIES):
        path, value = chance.choice([*columns]), chance.choice(guard.VALUES)
        lookup = chance.choice(sorted(guard.lookups_of(columns[path])))
        is_refused = asked.ask(f"{path}__{lookup}={value}")[0] in REFUSED
        is_offered = asked.model and asked.offers(path, lookup)
        assert is_refused or is_offered, (asked.address, path, lookup)
        if asked.documented:
            asked.ask(f"{chance.choice(asked.documented)}={value}")
    # Nobody learns how the hash of the owner's password begins.
    secrets = [path for path, _ in guard.columns_of(model, 3) if path.endswith("password")]
    for lookup in PEEPING:
        name = f"{chance.choice(['password', *secrets])}{lookup}"
        true, false = (asked.ask(f"{name}={text}") for text in (hashed[:16], f"{hashed[:15]}!"))
        assert (true[0] in REFUSED, true) == (True, false), (asked.address, name)


def test_lookups_are_refused(tmp_path: Path) -> None:
    with Platform(tmp_path) as platform:
        chance, began = random.Random(SEED), time.monotonic()
        owner = platform.login(OWNER, platform.secret("demo_password"))
        vera = {"role": "viewer", "full_name": "Vera", **VIEWER}
        platform.call("POST", "/identity/users", owner, json=vera)
        hashed = platform.sql("SELECT password FROM identity_user WHERE email = %s", OWNER)[0][0]
        with platform.signed_in(OWNER) as inside, platform.signed_in(*VIEWER.values()) as beside:
            callers = {
                "owner, site": Caller(inside), "viewer, site": Caller(beside),
                "owner, API": Caller(platform.client, owner),
                "viewer, API": Caller(platform.client, platform.login(**VIEWER)),
                "key": Caller(platform.client, {"API-KEY": platform.secret("demo_api_key")}),
            }  # fmt: skip
            people = list(callers.values())
            places = product(people[:2], ((url(model, "changelist"), model) for model in PAGES))
            lists = [List(c, *place) for c, place in places if c.ask(place[0])[0] == 200]
            lists += lists_of_api(platform, people[2:4], people[4])
            for asked in lists[chance.randrange(SHARE) :: SHARE]:
                check(asked, hashed, chance)
    print(f"\nseed {SEED}: {len(lists)} lists in {time.monotonic() - began:.0f} s")
    for name, caller in callers.items():
        print(
            f"{name:>12}: {dict(sorted(caller.statuses.items()))}, slowest {caller.slowest:.2f} s"
        )
