"""While thousands of one client's messages wait for a slow model, another client is served.

    DRILL_QUEUED=10000 python -m local.datastores exec -- \\
        python -m pytest drills/test_clients_take_turns.py -s
"""

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from drills.platform import DemoShop, demo_shop, wait_until

pytestmark = pytest.mark.timeout(7200)
QUEUED = int(os.environ.get("DRILL_QUEUED", "600"))
MODEL_SECONDS, THREADS = 0.5, 16
QUESTION = "How many days do I have to return an item?"
PASSWORD = "Turn-by-turn-31"


def test_another_client_waits_behind_few(tmp_path: Path) -> None:
    with demo_shop(tmp_path) as shop:
        key = another_client(shop)
        alone = [seconds_of_reply(shop, key) for _ in range(5)]
        shop.model.play(f"slow:{MODEL_SECONDS}")
        chats = [shop.open_chat() for _ in range(QUEUED)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda chat: shop.ask(chat, text=QUESTION, reply="async"), chats))
        all_of_them = QUEUED * MODEL_SECONDS / THREADS
        before = len(answered(shop, chats[-THREADS:]))
        beside = [seconds_of_reply(shop, key) for _ in range(5)]
        assert not before, "nothing waits: DRILL_QUEUED is too small for this machine"
        print(f"\nreply alone {statistics.median(alone):.2f} s, behind {QUEUED} messages of another"
              f" client, which take {all_of_them:.0f} s at least: {[round(s, 2) for s in beside]},"
              f" load {os.getloadavg()[0]:.1f}")  # fmt: skip
        assert statistics.median(beside) < all_of_them / 4
        wait_until(lambda: len(answered(shop, chats[-1:])) == 1, what="the last one", seconds=7000)
        wait_until(lambda: len(answered(shop, chats)) == QUEUED, what="all of them", seconds=600)


def another_client(shop: DemoShop) -> dict[str, str]:
    """A company whose bot has no content, so that messages are handed over without a model."""
    company = {
        "company_name": "Other", "full_name": "Olga", "email": "olga@other.example",
        "password": PASSWORD,
    }  # fmt: skip
    shop.call("POST", "/identity/register-trial", {}, json=company)
    owner = shop.login(company["email"], PASSWORD)
    bot = shop.call("POST", "/ai/bot", owner, json={"bot_name": "Helper"})["id"]
    body = {"name": "drill", "scope": "secret", "bot_id": bot}
    return {"API-KEY": shop.call("POST", "/identity/api-keys", owner, json=body)["key"]}


def seconds_of_reply(shop: DemoShop, key: dict[str, str]) -> float:
    chat = shop.call("POST", "/ai/client/chat", key, json={})["id"]
    began = time.monotonic()
    body = {"text": QUESTION, "reply": "wait"}
    answer = shop.call("POST", f"/ai/client/chat/{chat}", key, json=body)
    assert answer["status"] == "handed_off", answer["status"]
    return time.monotonic() - began


def answered(shop: DemoShop, chats: list[str]) -> list[dict[str, Any]]:
    """The replies in these chats; fails if a message was answered twice."""
    found = []
    for chat in chats:
        replies = [message for message in shop.history(chat) if message["in_reply_to"]]
        assert len(replies) <= 1, f"{chat} has {len(replies)} replies"
        found += replies
    return found
