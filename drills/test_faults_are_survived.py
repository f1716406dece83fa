"""Stop, hang or kill each part while customers write: accepted messages are answered once."""

import os
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2
import pytest

from drills.platform import DemoShop, demo_shop, wait_until

pytestmark = pytest.mark.timeout(900)
PER_SECOND, CHATS = 8, 8
HANGS = float(os.environ.get("DRILL_HANG_SECONDS", "20"))
QUESTION = "How many days do I have to return an unused item?"


@dataclass
class Traffic:
    """Customers' messages, sent at a steady rate, with the outcome of each request."""

    shop: DemoShop
    chats: list[str]
    accepted: list[tuple[str, str]] = field(default_factory=list)  # chat, client_message_id
    statuses: list[tuple[float, int, float]] = field(default_factory=list)  # when, status, ms

    def send(self, name: str) -> None:
        chat = self.chats[len(self.statuses) % len(self.chats)]
        body = {"text": QUESTION, "client_message_id": name, "reply": "async"}
        began = time.monotonic()
        try:
            reply = self.shop.client.post(
                f"/ai/client/chat/{chat}", json=body, headers=self.shop.key
            )
            status = reply.status_code
            if status == 503:
                assert reply.headers["Retry-After"]
                assert {"detail", "code", "request_id"} <= reply.json().keys()
        except httpx2.TransportError:
            status = 0
        self.statuses.append((began, status, 1000 * (time.monotonic() - began)))
        if status in {200, 201, 202}:
            self.accepted.append((chat, name))

    def failed(self) -> list[int]:
        return [status for _, status, _ in self.statuses if status not in {200, 201, 202}]

    def summary(self) -> str:
        times = [taken for _, _, taken in self.statuses]
        p99 = statistics.quantiles(times, n=100)[-1]
        failed = self.failed()
        return (
            f"{len(times)} requests, {len(failed)} refused or failed {sorted(set(failed))},"
            f" p99 {p99:.0f} ms, longest {max(times):.0f} ms; {len(self.accepted)} answered once"
        )


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoShop]:
    with demo_shop(tmp_path_factory.mktemp("drill"), JOB_LEASE_SECONDS="5") as running:
        yield running


@contextmanager
def traffic(shop: DemoShop) -> Iterator[Traffic]:
    """Customers write during the block; at the end each accepted message has one answer."""
    going = Traffic(shop, [shop.open_chat() for _ in range(CHATS)])
    stop, senders, number = threading.Event(), list[threading.Thread](), 0

    def run() -> None:
        nonlocal number
        while not stop.wait(1 / PER_SECOND):
            number += 1
            senders.append(threading.Thread(target=going.send, args=(f"m-{number}",)))
            senders[-1].start()

    clock = threading.Thread(target=run)
    clock.start()
    try:
        time.sleep(2)
        yield going
        time.sleep(2)
    finally:
        stop.set()
        clock.join()
        for sender in senders:
            sender.join(100)
    check_answered_once(shop, going)


def check_answered_once(shop: DemoShop, going: Traffic) -> None:
    def items(chat: str) -> list[dict[str, object]]:
        return history(shop, chat)

    wanted = {chat: {name for at, name in going.accepted if at == chat} for chat in going.chats}
    for chat, names in wanted.items():
        wait_until(lambda chat=chat, names=names: answered(items(chat)) >= names,
                   what="every accepted message is answered", seconds=180)  # fmt: skip
        stored = items(chat)
        assert [m["seq"] for m in stored] == list(range(1, len(stored) + 1))
        replies = [m["in_reply_to"] for m in stored if m["in_reply_to"]]
        assert len(replies) == len(set(replies)), "a message has two replies"


def history(shop: DemoShop, chat: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    query = {"limit": 100}
    while True:
        page = shop.call("GET", f"/ai/client/chat/history/{chat}", shop.key, params=query)
        found += page["items"]
        if not page["next_cursor"]:
            return found
        query = {"limit": 100, "cursor": page["next_cursor"]}


def answered(items: list[dict[str, object]]) -> set[object]:
    """The client_message_ids of the messages that have a reply."""
    replied = {m["in_reply_to"] for m in items}
    return {m["client_message_id"] for m in items if m["id"] in replied}


def first_success_after(going: Traffic, moment: float) -> float:
    wait_until(
        lambda: any(
            at > moment and status < 300 for at, status, _ in list(going.statuses) if status
        ),
        what="the platform takes messages again",
    )
    return (
        min(at for at, status, _ in list(going.statuses) if at > moment and 0 < status < 300)
        - moment
    )


def hang(shop: DemoShop, word: str) -> float:
    """Suspend the processes for a while; return the time at which they continue."""
    assert shop.kill(word, signal.SIGSTOP)
    time.sleep(HANGS)
    shop.kill(word, signal.SIGCONT)
    return time.monotonic()


def test_workers_are_restarted_as_by_a_deployment(shop: DemoShop) -> None:
    with traffic(shop) as going:
        for _ in range(3):
            assert shop.kill("-n worker@", signal.SIGTERM)
            time.sleep(5)
    print(f"\nworkers told to stop three times: {going.summary()}")
    assert going.failed() == []


def test_the_broker_hangs(shop: DemoShop) -> None:
    with traffic(shop) as going:
        back = hang(shop, "valkey-server")
        recovered = first_success_after(going, back)
    print(f"\nthe broker hangs {HANGS:.0f} s: {going.summary()}; then after {recovered:.1f} s")
    assert going.failed() == []


@pytest.mark.parametrize("act", ["killed", "hangs"])
def test_the_database_goes(shop: DemoShop, act: str) -> None:
    recovered: list[float] = []
    with traffic(shop) as going:
        for _ in range(3 if act == "killed" else 1):
            if act == "killed":
                assert shop.kill("postgres")
                moment = time.monotonic()
            else:
                moment = hang(shop, "postgres")
            recovered.append(first_success_after(going, moment))
            time.sleep(3)
    seconds = ", ".join(f"{item:.1f}" for item in recovered)
    print(f"\nthe database {act}: {going.summary()}; takes messages again after {seconds} s")
    assert set(going.failed()) <= {503}


@pytest.mark.parametrize("word", ["celery --quiet -A chatplatform beat", "manage.py relay"])
def test_a_timer_is_killed(shop: DemoShop, word: str) -> None:
    with traffic(shop) as going:
        assert shop.kill(word)
        time.sleep(5)
    print(f"\n{word.split()[-1]} killed: {going.summary()}")
    assert going.failed() == []
