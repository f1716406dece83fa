"""Kill workers and the broker while replies are written: each reply comes once, in order."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from drills.platform import DemoShop, demo_shop, wait_until

MESSAGES = 50
QUESTION = "How many days do I have to return an unused item?"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoShop]:
    with demo_shop(tmp_path_factory.mktemp("drill")) as running:
        yield running


def send_all(platform: DemoShop, chats: list[str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda chat: platform.ask(chat, text=QUESTION, reply="async"), chats))


def wait_for_replies(platform: DemoShop, chats: set[str], expected: int) -> None:
    ends_at = time.monotonic() + 90
    while time.monotonic() < ends_at:
        histories = [platform.history(chat) for chat in chats]
        replies = [m for items in histories for m in items if m["in_reply_to"]]
        if len(replies) >= expected:
            break
        time.sleep(0.5)
    print(f"{len(replies)} replies")


def check(platform: DemoShop, chats: list[str]) -> None:
    """Each message has one reply, and the replies are in the order of the messages."""
    for chat in set(chats):
        items = platform.history(chat)
        questions = [m for m in items if m["sender"]["type"] == "customer"]
        replies = [m for m in items if m["in_reply_to"]]
        assert [m["seq"] for m in items] == list(range(1, len(items) + 1))
        assert [m["in_reply_to"] for m in replies] == [m["id"] for m in questions]
        assert all(m["sender"]["type"] == "bot" and m["citations"] for m in replies)
        assert all(m["content"][0]["text"].strip() for m in replies)


@pytest.mark.parametrize(
    "victims",
    [["-n worker@"], ["valkey-server"], ["-n worker@", "valkey-server", "postgres"]],
    ids=["worker", "broker", "worker, broker and database"],
)
def test_killed_while_fifty_replies_are_made(platform: DemoShop, victims: list[str]) -> None:
    platform.model.play("slow:1.5")
    # Ten chats of five messages each: order inside each, and many at once.
    chats = [platform.open_chat() for _ in range(MESSAGES // 5)] * 5
    started_at = time.monotonic()
    send_all(platform, chats)
    for _ in range(2):
        for word in victims:
            # On a busy machine what was killed may not be back yet.
            wait_until(lambda word=word: platform.kill(word), what=f"{word} runs")
        time.sleep(4)
    wait_until(lambda: platform.client.get("/health").status_code == 200, what="health")
    wait_for_replies(platform, set(chats), MESSAGES)
    print(f"all stored {time.monotonic() - started_at:.1f} s after the first message")
    time.sleep(2)  # a repeated reply would come late
    check(platform, chats)
