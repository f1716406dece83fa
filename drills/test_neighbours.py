"""A client's replies and requests stay quick beside hostile callers of another client.

Each row of the table measures replies and a list while a crowd in another process holds thousands
of connections or writes hostile messages, and is compared with the nearest rows without a crowd.
If the ratios of these among each other are far from 1, the machine is too busy for such figures.

    DRILL_REPLIES=200 python -m pytest drills/test_neighbours.py -s
"""

import os
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chats.services.desk.feed_limits import MAX_PER_PERSON
from drills.hostile_crowd import crowd
from drills.platform import DemoShop, demo_shop, wait_until
from drills.test_client_moves import PASSWORD, Company
from drills.test_flood_is_limited import warm_up
from local.data_dir import read_urls

pytestmark = pytest.mark.timeout(1200)
REPLIES, PER_SECOND = int(os.environ.get("DRILL_REPLIES", "60")), 3
CONNECTIONS, SLOWER = 1_100, 2.0
QUESTION = "How many days do I have to return an item?"
ALONE, UNBOUND = "alone", "97 hostile texts at once"
PARTS = ("web.serve", "worker@", "manage.py relay")
OVERDUE = "SELECT count(*) FROM chatplatform_job WHERE state = 'running' AND lease_until < now()"
CRASHED = "SELECT count(*) FROM chatplatform_job WHERE crashes > 0 OR state = 'dead'"


@dataclass
class Row:
    """The seconds that each kind of call took beside a crowd."""

    name: str
    taken: dict[str, list[float]]


class Neighbours:
    """A client whose calls are measured, and another one, whose callers are hostile."""

    def __init__(self, shop: DemoShop) -> None:
        self.shop, self.company, self.rows = shop, Company(shop, "Noisy"), list[Row]()
        owner, email = self.company.owner, f"viewer-{self.company.email}"
        viewer = {"email": email, "password": PASSWORD, "full_name": "Vic", "role": "viewer"}
        shop.call("POST", "/identity/users", owner, json=viewer)
        token = shop.login(email, PASSWORD)["Authorization"]
        head = f"Host: 127.0.0.1\r\nAuthorization: {token}\r\n\r\n"
        self.feeds = connections(f"GET /ai/chat/events HTTP/1.1\r\n{head}")
        page = {"name": "page", "scope": "public", "bot_id": self.company.bot}
        self.key = shop.call("POST", "/identity/api-keys", owner, json=page)["key"]

    def measure(
        self, name: str, *held: dict[str, Any], texts: str = "kinds", at_once: int = 0,
        at_least: int = 0,
    ) -> None:  # fmt: skip
        """Measure a row beside a crowd that holds these connections or writes until the row ends,
        `at_once` messages at a time."""
        # Beside texts, the p95 of 60 lists, which take 16 ms each, is mostly noise.
        count = REPLIES * (3 if at_once else 1)
        chats = iter([self.shop.open_chat() for _ in range(count)])
        acts = {"reply": lambda: self._ask(next(chats)), "list": self._list}
        messages = {"key": self.key, "texts": texts, "at_once": at_once, "at_least": at_least}
        plan = {"port": self.shop.port, "held": held, "messages": messages}
        with crowd(plan) as outcome:
            self.rows.append(Row(name, repeated(acts, count)))
        statuses = Counter(entry["status"] for entry in outcome["written"])
        print(f"{name}: {outcome['held']} {dict(statuses)}", flush=True)
        for found, wanted in zip(outcome["held"], held, strict=True):
            check_held(found, wanted)
        assert len(outcome["written"]) >= at_least
        for entry in outcome["written"]:
            self._check_message(**entry)

    def _ask(self, chat: str) -> None:
        answer = self._call("POST", f"/ai/client/chat/{chat}", json={"text": QUESTION})
        assert answer["status"] == "answered", answer["status"]
        assert answer["reply"]["in_reply_to"] == answer["message"]["id"]

    def _list(self) -> None:
        assert self._call("GET", "/ai/client/chats")["items"]

    def _call(self, method: str, path: str, **more: Any) -> Any:
        # On a connection of its own, like a new visitor.
        return self.shop.call(method, path, self.shop.key | {"Connection": "close"}, **more)

    def _check_message(self, *, chat: str, text: str, http_status: int, status: str) -> None:
        """Check that a message is stored as it was sent, and answered or handed over."""
        assert http_status in {200, 202}, f"{http_status} to {text[:40]!r}"
        path, key = f"/ai/client/chat/history/{chat}", {"API-KEY": self.company.key}

        def items() -> list[Any]:
            return list(self.shop.call("GET", path, key)["items"])

        if status == "pending":
            wait_until(lambda: len(items()) > 1, what=f"a reply to {text[:40]!r}")
        else:
            assert status in {"answered", "asked_again", "handed_off"}, status
        message, *others = items()
        assert message["content"][0]["text"] == text, f"{text[:40]!r} is not stored"
        assert len(others) == 1, f"{len(others)} replies to {text[:40]!r}"

    def report(self) -> list[str]:
        """Print the table; return what was too slow."""
        slow = []
        print(f"\n{'in milliseconds':36} {'n':>4}  p50  p95 ratio")
        for position, row in enumerate(self.rows):
            for what, taken in row.taken.items():
                p50, *_, p95 = (1000 * place for place in statistics.quantiles(taken, n=20)[9:])
                ratio = p95 / 1000 / statistics.quantiles(self._alone(position, what), n=20)[-1]
                print(f"{row.name:30} {what:5} {len(taken):4} {p50:4.0f} {p95:4.0f} {ratio:5.1f}")
                if ratio > SLOWER and row.name not in {ALONE, UNBOUND}:
                    slow.append(f"{row.name}, {what}: {ratio:.1f} times")
        print(f"load {os.getloadavg()[0]:.1f}")
        return slow

    def _alone(self, position: int, what: str) -> list[float]:
        """The seconds in the nearest rows without a crowd, before and behind a row."""
        before = [row for row in self.rows[:position] if row.name == ALONE][-1:]
        behind = [row for row in self.rows[position + 1 :] if row.name == ALONE][:1]
        return [seconds for row in before + behind for seconds in row.taken[what]]


def connections(
    said: str = "", count: int = CONNECTIONS, *, spread: bool = False
) -> dict[str, Any]:
    return {"said": said, "count": count, "many_addresses": spread}


def check_held(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Check that all connections were accepted, but only so many feeds as a person may have."""
    if wanted["said"].endswith("\r\n\r\n"):
        assert found["first"] == {"200": MAX_PER_PERSON, "429": wanted["count"] - MAX_PER_PERSON}
        assert "200" not in found["closed"], "an open feed was closed"
    else:
        assert found["first"] == {"none": wanted["count"]}


def repeated(acts: dict[str, Callable[[], None]], count: int) -> dict[str, list[float]]:
    """The seconds of calls that begin at a steady rate, whether earlier ones have ended or not."""

    def seconds_of(act: Callable[[], None]) -> float:
        began = time.monotonic()
        act()
        return time.monotonic() - began

    began, step = time.monotonic(), 1 / PER_SECOND / len(acts)
    with ThreadPoolExecutor(100) as callers:
        futures = []
        for number, name in enumerate([*acts] * count):
            time.sleep(max(0.0, began + number * step - time.monotonic()))
            futures.append((name, callers.submit(seconds_of, acts[name])))
        return {name: [f.result() for n, f in futures if n == name] for name in acts}


@contextmanager
def watched(shop: DemoShop) -> Iterator[list[str]]:
    """Watch leases and processes during the block; yields what was lost, filled at the end."""
    lost, is_over, overdue = list[str](), threading.Event(), list[int]()
    pids = [set(shop.processes(part)) for part in PARTS]
    assert all(pids)
    with psycopg.connect(read_urls(shop.data)["DATABASE_URL"], autocommit=True) as connection:

        def count(statement: str) -> int:
            return int((connection.execute(statement).fetchone() or [0])[0])

        def watch() -> None:
            while not is_over.wait(0.5):
                overdue.append(count(OVERDUE))

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield lost
        finally:
            is_over.set()
            thread.join()
        found = {
            "overdue leases": sum(overdue), "crashed or dead jobs": count(CRASHED),
            "lost leases": Path(shop.log.name).read_text().count("lost its lease"),
            "ended processes": [set(shop.processes(part)) for part in PARTS] != pids,
        }  # fmt: skip
        lost += [f"{what}: {number}" for what, number in found.items() if number]


def test_hostile_neighbours(tmp_path: Path) -> None:
    silent, spread = connections(), connections(spread=True)
    begun = ("GET /ai/b", "GET /ai/bot HTTP/1.1\r\nHost: 127.0.0.1\r\nAcc")
    halves = [connections(said, CONNECTIONS // len(begun)) for said in begun]
    with demo_shop(tmp_path) as shop:
        warm_up(shop)
        neighbours = Neighbours(shop)
        measure = neighbours.measure
        with watched(shop) as lost:
            measure(ALONE)
            measure("1,100 feeds of a viewer", neighbours.feeds)
            measure(ALONE)
            measure("1,100 silent connections", silent)
            measure("1,100 of as many addresses", spread)
            measure("1,100 with half a request", *halves)
            measure(ALONE)
            measure("feeds and all of these", neighbours.feeds, silent, spread, *halves)
            measure(ALONE)
            measure("16 texts of 7,900 digits", texts="numbers", at_once=16, at_least=16)
            measure("97 hostile texts, 16 at once", texts="kinds", at_once=16, at_least=97)
            measure(ALONE)
            measure(UNBOUND, texts="kinds", at_once=97, at_least=97)
            measure(ALONE)
        slow = neighbours.report()
    assert not lost, lost
    assert not slow, slow
