"""Fifty customers send ten messages each within a second, while workers are killed and agents come.

The ledger is on this side: what was accepted, and when an agent had the chat. Afterwards every
message is there once, no reply is doubled or out of order, and none is the bot's once an agent has
the chat.
"""

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from drills.platform import DemoShop, demo_shop, until

CUSTOMERS, MESSAGES = 50, 10
CLAIMED_EACH, CLAIMED_AFTER = 5, 4  # every fifth chat, as soon as four messages are there
SPAN_SECONDS = 0.9  # from a customer's first message to his last
KILLS = 3
QUESTION = "How many days do I have to return an unused item?"


@dataclass
class Talk:
    """One chat as this side knows it."""

    chat: str
    said: dict[str, dict[str, Any]] = field(default_factory=dict)  # as stored, by its own id
    claimed: dict[str, Any] | None = None  # the conversation as the agent got it
    agent: threading.Thread | None = None


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoShop]:
    # Short leases: what a killed worker had in hand is another's soon.
    with demo_shop(tmp_path_factory.mktemp("drill"), JOB_LEASE_SECONDS="5") as running:
        owner = running.owner()
        bought = {"amount": 10_000, "reference": "drill"}
        running.call("POST", "/identity/subscription/top-up", owner, json=bought)
        yield running


@pytest.fixture(scope="module")
def owner(platform: DemoShop) -> dict[str, str]:
    return platform.owner()


@pytest.fixture(scope="module")
def agent(platform: DemoShop, owner: dict[str, str]) -> dict[str, str]:
    ben = {"email": "ben@drill.example", "password": "correct-horse-battery"}
    platform.call("POST", "/identity/users", owner, json=ben | {"full_name": "Ben"})
    return platform.login(**ben)


def message(number: int) -> dict[str, Any]:
    return {"text": QUESTION, "client_message_id": f"m-{number}", "reply": "async"}


async def write(platform: DemoShop, talk: Talk) -> None:
    """All messages of one customer, who waits for no answer; each third is sent twice.

    In some chats an agent comes in the middle.
    """

    async def send(number: int) -> None:
        await asyncio.sleep(SPAN_SECONDS * number / MESSAGES)
        turn = await platform.ask_alone(talk.chat, **message(number))
        stored = talk.said.setdefault(f"m-{number}", turn["message"])
        assert stored == turn["message"], "sent twice, stored once"
        if talk.agent and not talk.agent.ident and len(talk.said) == CLAIMED_AFTER:
            talk.agent.start()

    numbers = [*range(1, MESSAGES + 1), *range(3, MESSAGES + 1, 3)]
    await asyncio.gather(*(send(number) for number in numbers))


def claim(platform: DemoShop, talk: Talk, agent: dict[str, str]) -> None:
    path = f"/ai/chat/{talk.chat}"
    talk.claimed = platform.call("POST", f"{path}/assign", agent, json={"assign_type": "agent"})
    platform.call("POST", f"{path}/manual", agent, json={"text": "I am with you."})


def replies_to(platform: DemoShop, talks: list[Talk]) -> int:
    return sum(bool(m["in_reply_to"]) for talk in talks for m in platform.history(talk.chat))


def kill_workers(
    platform: DemoShop, talks: list[Talk], killed: Counter[str], stop: threading.Event
) -> None:
    """Each time that some chats show a new reply, so that workers die at work."""
    watched = talks[1::CLAIMED_EACH]
    for _ in range(KILLS):
        seen = replies_to(platform, watched)
        while replies_to(platform, watched) == seen:
            if stop.wait(0.2):
                return
        killed["worker"] += platform.kill("-n worker@")


def last_turn(platform: DemoShop, talk: Talk) -> str:
    """How the latest turn stands; asked for on a connection that is held until it has ended."""
    again = {"text": QUESTION, "client_message_id": in_order(talk)[-1], "reply": "wait"}
    return str(platform.ask(talk.chat, **again)["status"])


def in_order(talk: Talk) -> list[str]:
    """The customer's own ids of his messages, as they were numbered."""
    return sorted(talk.said, key=lambda name: int(talk.said[name]["seq"]))


def everybody_writes(
    platform: DemoShop, agent: dict[str, str], killed: Counter[str]
) -> tuple[list[Talk], float]:
    """The chats, and how many seconds their customers took to write."""
    talks = [Talk(platform.open()) for _ in range(CUSTOMERS)]
    for talk in talks[::CLAIMED_EACH]:
        talk.agent = threading.Thread(target=claim, args=(platform, talk, agent))
    stop = threading.Event()
    killer = threading.Thread(target=kill_workers, args=(platform, talks, killed, stop))
    begun = time.monotonic()
    killer.start()
    asyncio.run(all_write(platform, talks))
    wrote = time.monotonic() - begun
    with ThreadPoolExecutor(CUSTOMERS) as pool:
        list(pool.map(lambda talk: wait_until_over(platform, talk), talks))
    for talk in talks[::CLAIMED_EACH]:
        assert talk.agent
        talk.agent.join(30)
        assert talk.claimed, "the agent got the chat"
    stop.set()
    killer.join()
    return talks, wrote


async def all_write(platform: DemoShop, talks: list[Talk]) -> None:
    await asyncio.gather(*(write(platform, talk) for talk in talks))


def wait_until_over(platform: DemoShop, talk: Talk) -> None:
    until(lambda: last_turn(platform, talk) != "pending", what="the latest turn ends", seconds=240)


def check(platform: DemoShop, talk: Talk) -> Counter[str]:
    """One chat against the ledger; how its turns ended."""
    items = platform.history(talk.chat)
    assert [m["seq"] for m in items] == list(range(1, len(items) + 1)), "numbered without gaps"
    asked = [m for m in items if m["sender"]["type"] == "customer"]
    assert asked == [talk.said[name] for name in in_order(talk)]
    assert talk.said.keys() == {f"m-{n}" for n in range(1, MESSAGES + 1)}
    turns = [platform.ask(talk.chat, **message(int(name[2:]))) for name in in_order(talk)]
    machine = [m for m in items if m["sender"]["type"] in {"bot", "system"}]
    # Each reply answers the latest of the messages that it is for, and there is no other reply.
    answered = {turn["reply"]["id"]: turn["message"]["id"] for turn in turns if turn["reply"]}
    assert [(m["id"], m["in_reply_to"]) for m in machine] == list(answered.items())
    statuses = [turn["status"] for turn in turns]
    if talk.claimed:
        check_takeover(talk, machine, statuses)
    else:
        assert set(statuses) <= {"answered", "handed_off"}
        after = statuses[statuses.index("handed_off") :] if "handed_off" in statuses else []
        assert set(after) <= {"handed_off"}, "nobody speaks for the queue"
    return Counter(statuses)


def check_takeover(talk: Talk, machine: list[dict[str, Any]], statuses: list[str]) -> None:
    """The agent got the chat at a version and a seq; the machine says nothing beyond them."""
    assert talk.claimed
    taken_at = talk.claimed["last_message"]["seq"]
    assert all(m["seq"] <= taken_at for m in machine)
    answered = statuses.count("answered")
    assert statuses == ["answered"] * answered + ["not_expected"] * (MESSAGES - answered)


def check_feed(platform: DemoShop, owner: dict[str, str], talks: list[Talk]) -> None:
    """The same by the log of events: numbered, and no word of the bot after the assignment."""
    feed = platform.feed(owner)
    for talk in talks:
        events = [one for one in feed if one["conversation_id"] == talk.chat]
        assert [one["sequence"] for one in events] == list(range(1, len(events) + 1))
        told = Counter(
            one["data"]["message"]["id"] for one in events if one["type"] == "message.created"
        )
        assert set(told.values()) == {1}
        if talk.claimed:
            kinds = [one["type"] for one in events]
            taken = events[kinds.index("conversation.assigned") :]
            assert taken[0]["data"]["conversation"]["version"] == talk.claimed["version"]
            versions = {
                one["data"]["conversation"]["version"]
                for one in taken
                if "conversation" in one["data"]
            }
            assert versions == {talk.claimed["version"]}
            said = [one["data"]["message"] for one in taken if one["type"] == "message.created"]
            assert {m["sender"]["type"] for m in said} <= {"customer", "agent"}


@pytest.mark.timeout(400, func_only=True)
@pytest.mark.parametrize("burst_wait_ms", [0, 300])
def test_nothing_is_lost_or_doubled(
    platform: DemoShop, owner: dict[str, str], agent: dict[str, str], burst_wait_ms: int
) -> None:
    client_id = platform.call("GET", "/identity/client", owner)["id"]
    config = {"burst_wait_ms": burst_wait_ms}
    platform.call("POST", f"/config/{client_id}/chat", owner, json=config)
    platform.script("slow:0.2")
    begun, killed = time.monotonic(), Counter[str]()
    talks, wrote = everybody_writes(platform, agent, killed)
    took = time.monotonic() - begun
    assert killed["worker"] >= 2, "workers died while replies were made"
    time.sleep(6)  # longer than a lease: a double would come by now
    with ThreadPoolExecutor(8) as pool:
        ended = sum(pool.map(lambda talk: check(platform, talk), talks), Counter[str]())
    check_feed(platform, owner, talks)
    replies = replies_to(platform, talks)
    print(
        f"burst_wait_ms {burst_wait_ms}: {CUSTOMERS * MESSAGES} messages stored in {wrote:.1f} s,"
        f" all over after {took:.1f} s; {replies} replies; turns {dict(ended)};"
        f" killed {dict(killed)}; load {os.getloadavg()[0]:.1f}"
    )
    assert ended.total() == CUSTOMERS * MESSAGES
    if burst_wait_ms:
        assert replies < ended["answered"], "one reply for what came close together"
