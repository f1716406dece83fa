"""Fifty customers send ten messages each within a second, while workers die and agents take chats.

The drill records which messages were accepted, and when an agent took a chat. Afterwards every
message is stored once, no reply is doubled or out of order, and the bot wrote nothing after an
agent had taken the chat.
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

from drills.platform import DemoShop, demo_shop, wait_until

CUSTOMERS, MESSAGES = 50, 10
CLAIMED_EACH, CLAIMED_AFTER = 5, 4  # every fifth chat, as soon as four messages are stored
SPAN_SECONDS = 0.9  # from a customer's first message to the last
KILLS = 3
QUESTION = "How many days do I have to return an unused item?"


@dataclass
class RecordedChat:
    """What the drill has recorded of a chat."""

    id: str
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)  # by client_message_id
    claimed: dict[str, Any] | None = None  # the conversation as the agent received it
    agent: threading.Thread | None = None


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoShop]:
    # Short leases: another worker soon repeats the jobs of a killed one.
    with demo_shop(tmp_path_factory.mktemp("drill"), JOB_LEASE_SECONDS="5") as running:
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


async def write_messages(platform: DemoShop, chat: RecordedChat) -> None:
    """Send all messages of a customer without waiting for replies; every third is sent twice.

    In some chats an agent takes over after the fourth message.
    """

    async def send(number: int) -> None:
        await asyncio.sleep(SPAN_SECONDS * number / MESSAGES)
        answer = await platform.ask_alone(chat.id, **message(number))
        stored = chat.messages.setdefault(f"m-{number}", answer["message"])
        assert stored == answer["message"], "sent twice, stored once"
        if chat.agent and not chat.agent.ident and len(chat.messages) == CLAIMED_AFTER:
            chat.agent.start()

    numbers = [*range(1, MESSAGES + 1), *range(3, MESSAGES + 1, 3)]
    await asyncio.gather(*(send(number) for number in numbers))


def claim_chat(platform: DemoShop, chat: RecordedChat, agent: dict[str, str]) -> None:
    path = f"/ai/chat/{chat.id}"
    chat.claimed = platform.call("POST", f"{path}/assign", agent, json={"assign_type": "agent"})
    platform.call("POST", f"{path}/manual", agent, json={"text": "I am with you."})


def replies_to(platform: DemoShop, chats: list[RecordedChat]) -> int:
    return sum(bool(m["in_reply_to"]) for chat in chats for m in platform.history(chat.id))


def kill_workers(
    platform: DemoShop, chats: list[RecordedChat], killed: Counter[str], stop: threading.Event
) -> None:
    """Kill the workers each time some chats get a new reply, since they are busy then."""
    watched = chats[1::CLAIMED_EACH]
    for _ in range(KILLS):
        seen = replies_to(platform, watched)
        while replies_to(platform, watched) == seen:
            if stop.wait(0.2):
                return
        killed["worker"] += platform.kill("-n worker@")


def last_status(platform: DemoShop, chat: RecordedChat) -> str:
    """Request the status of the last message again; the answer waits until its reply has ended."""
    repeated = {"text": QUESTION, "client_message_id": in_order(chat)[-1], "reply": "wait"}
    return str(platform.ask(chat.id, **repeated)["status"])


def in_order(chat: RecordedChat) -> list[str]:
    """The client_message_ids in the order of the chat."""
    return sorted(chat.messages, key=lambda name: int(chat.messages[name]["seq"]))


def run_burst(
    platform: DemoShop, agent: dict[str, str], killed: Counter[str]
) -> tuple[list[RecordedChat], float]:
    """Run the burst; return the chats, and the seconds in which their messages were stored."""
    chats = [RecordedChat(platform.open_chat()) for _ in range(CUSTOMERS)]
    for chat in chats[::CLAIMED_EACH]:
        chat.agent = threading.Thread(target=claim_chat, args=(platform, chat, agent))
    stop = threading.Event()
    killer = threading.Thread(target=kill_workers, args=(platform, chats, killed, stop))
    started_at = time.monotonic()
    killer.start()
    asyncio.run(write_all(platform, chats))
    wrote = time.monotonic() - started_at
    with ThreadPoolExecutor(CUSTOMERS) as pool:
        list(pool.map(lambda chat: wait_until_over(platform, chat), chats))
    for chat in chats[::CLAIMED_EACH]:
        assert chat.agent
        chat.agent.join(30)
        assert chat.claimed, "the agent has the chat"
    stop.set()
    killer.join()
    return chats, wrote


async def write_all(platform: DemoShop, chats: list[RecordedChat]) -> None:
    await asyncio.gather(*(write_messages(platform, chat) for chat in chats))


def wait_until_over(platform: DemoShop, chat: RecordedChat) -> None:
    wait_until(
        lambda: last_status(platform, chat) != "pending", what="the last reply ends", seconds=240
    )


def check(platform: DemoShop, chat: RecordedChat) -> Counter[str]:
    """Compare a chat with what was recorded; count the statuses of its messages."""
    items = platform.history(chat.id)
    assert [m["seq"] for m in items] == list(range(1, len(items) + 1)), "numbered without gaps"
    written = [m for m in items if m["sender"]["type"] == "customer"]
    assert written == [chat.messages[name] for name in in_order(chat)]
    assert chat.messages.keys() == {f"m-{n}" for n in range(1, MESSAGES + 1)}
    answers = [platform.ask(chat.id, **message(int(name[2:]))) for name in in_order(chat)]
    ours = [m for m in items if m["sender"]["type"] in {"bot", "system"}]
    automatic = [m for m in ours if not m["is_welcome"]]
    # Each reply refers to the last message that it answers, and there are no other replies.
    replies = {row["reply"]["id"]: row["message"]["id"] for row in answers if row["reply"]}
    assert [(m["id"], m["in_reply_to"]) for m in automatic] == list(replies.items())
    statuses = [row["status"] for row in answers]
    if chat.claimed:
        check_takeover(chat, automatic, statuses)
    else:
        assert set(statuses) <= {"answered", "handed_off"}
        after = statuses[statuses.index("handed_off") :] if "handed_off" in statuses else []
        assert set(after) <= {"handed_off"}, "no reply while the chat waits for an agent"
    return Counter(statuses)


def check_takeover(
    chat: RecordedChat, automatic: list[dict[str, Any]], statuses: list[str]
) -> None:
    """Check that no automatic message follows after the agent has taken the chat."""
    assert chat.claimed
    taken_at = chat.claimed["last_message"]["seq"]
    assert all(m["seq"] <= taken_at for m in automatic)
    answered = statuses.count("answered")
    assert statuses == ["answered"] * answered + ["not_expected"] * (MESSAGES - answered)


def check_feed(platform: DemoShop, owner: dict[str, str], chats: list[RecordedChat]) -> None:
    """Check that the events are numbered consecutively, and that the bot sent no message after the
    assignment."""
    feed = platform.feed(owner)
    for chat in chats:
        events = [event for event in feed if event["conversation_id"] == chat.id]
        assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
        counts = Counter(
            event["data"]["message"]["id"] for event in events if event["type"] == "message.created"
        )
        assert set(counts.values()) == {1}
        if chat.claimed:
            kinds = [event["type"] for event in events]
            taken = events[kinds.index("conversation.assigned") :]
            assert taken[0]["data"]["conversation"]["version"] == chat.claimed["version"]
            versions = {
                event["data"]["conversation"]["version"]
                for event in taken
                if "conversation" in event["data"]
            }
            assert versions == {chat.claimed["version"]}
            messages = [
                event["data"]["message"] for event in taken if event["type"] == "message.created"
            ]
            assert {m["sender"]["type"] for m in messages} <= {"customer", "agent"}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("burst_wait_ms", [0, 300])
def test_nothing_is_lost_or_doubled(
    platform: DemoShop, owner: dict[str, str], agent: dict[str, str], burst_wait_ms: int
) -> None:
    client_id = platform.call("GET", "/identity/client", owner)["id"]
    config = {"burst_wait_ms": burst_wait_ms, "answer_while_waiting": False}
    platform.call("POST", f"/config/{client_id}/chat", owner, json=config)
    platform.model.play("slow:0.2")
    started_at, killed = time.monotonic(), Counter[str]()
    chats, wrote = run_burst(platform, agent, killed)
    took = time.monotonic() - started_at
    assert killed["worker"] >= 2, "workers died while replies were made"
    time.sleep(6)  # longer than a lease, so that a repeated reply would have come
    with ThreadPoolExecutor(8) as pool:
        ended = sum(pool.map(lambda chat: check(platform, chat), chats), Counter[str]())
    check_feed(platform, owner, chats)
    replies = replies_to(platform, chats)
    print(
        f"burst_wait_ms {burst_wait_ms}: {CUSTOMERS * MESSAGES} messages stored in {wrote:.1f} s,"
        f" all over after {took:.1f} s; {replies} replies; statuses {dict(ended)};"
        f" killed {dict(killed)}; load {os.getloadavg()[0]:.1f}"
    )
    assert ended.total() == CUSTOMERS * MESSAGES
    if burst_wait_ms:
        assert replies < ended["answered"], "one reply for what came close together"
