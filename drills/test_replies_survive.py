"""Kill -9 of workers and of the broker while replies are made: none lost, none doubled, in order.

Starts the whole platform as `make run` does, on a port and a data folder of its own, with the
scriptable model of the test suite behind LLM_BASE_URL, and looks at it from outside only.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

ROOT = Path(__file__).resolve().parent.parent
MESSAGES = 50
QUESTION = "How many days do I have to return an unused item?"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Platform:
    """A running platform: its address, a secret key of the demo bot, and its processes."""

    def __init__(self, folder: Path) -> None:
        self.port, self.model_port = free_port(), free_port()
        self.data = folder / "data"
        env = os.environ | {
            "PORT": str(self.port),
            "DATA_DIR": str(self.data),
            "LLM_BASE_URL": f"http://127.0.0.1:{self.model_port}/v1",
            "LLM_MODEL": "stub",
            "LLM_API_KEY": "stub",
        }
        env.pop("DATABASE_URL", None)
        env.pop("REDIS_URL", None)
        python = [sys.executable, "-m"]
        stub = [*python, "chatplatform.tests.stub_model", "--port", str(self.model_port)]
        self.model = subprocess.Popen([*stub, "--script", "ok"], cwd=ROOT)
        self.log = (folder / "run.log").open("w")
        self.supervisor = subprocess.Popen(
            [*python, "chatplatform.run"], cwd=ROOT, env=env, stdout=self.log, stderr=self.log
        )
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=90)
        self._until(lambda: self.client.get("/health").status_code == 200)
        key = (self.data / "keys" / "demo_api_key").read_text()
        self.client.headers["API-KEY"] = key
        self._until(lambda: self.ask(self.open(), "wait")["status"] == "answered")

    def _until(self, holds: Any, seconds: float = 120) -> None:
        ends_at = time.monotonic() + seconds
        while True:
            try:
                if holds():
                    return
            except (httpx2.HTTPError, OSError) as exc:
                print(f"not yet: {type(exc).__name__}")
            assert time.monotonic() < ends_at, "the platform did not get there in time"
            time.sleep(0.5)

    def open(self) -> str:
        return str(self.client.post("/ai/client/chat", json={}).json()["id"])

    def ask(self, chat: str, reply: str) -> dict[str, Any]:
        sent = self.client.post(f"/ai/client/chat/{chat}", json={"text": QUESTION, "reply": reply})
        assert sent.status_code in {200, 202}, sent.text
        return dict(sent.json())

    def history(self, chat: str) -> list[dict[str, Any]]:
        reply = self.client.get(f"/ai/client/chat/history/{chat}", params={"limit": 100})
        return list(reply.json()["items"])

    def kill(self, word: str) -> int:
        """kill -9 of this platform's processes whose command line holds `word`."""
        killed = 0
        for pid in self.family():
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            if word in line:
                os.kill(pid, signal.SIGKILL)
                killed += 1
        return killed

    def family(self) -> list[int]:
        """The supervisor's descendants, and nobody else's processes."""
        found, todo = [], [self.supervisor.pid]
        while todo:
            pid = todo.pop()
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            todo += [int(child) for child in children]
            found += [int(child) for child in children]
        return found

    def stop(self) -> None:
        self.supervisor.terminate()
        self.supervisor.wait(40)
        self.model.terminate()
        self.model.wait(10)
        self.client.close()
        self.log.close()


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    running = Platform(tmp_path_factory.mktemp("drill"))
    yield running
    running.stop()


def send_all(platform: Platform, chats: list[str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda chat: platform.ask(chat, "async"), chats))


def wait_for_replies(platform: Platform, chats: set[str], expected: int) -> None:
    ends_at = time.monotonic() + 90
    while time.monotonic() < ends_at:
        histories = [platform.history(chat) for chat in chats]
        replies = [m for items in histories for m in items if m["in_reply_to"]]
        if len(replies) >= expected:
            break
        time.sleep(0.5)
    print(f"{len(replies)} replies")


def check(platform: Platform, chats: list[str]) -> None:
    """One reply a message, none doubled; in each chat replies in the order of the messages."""
    for chat in set(chats):
        items = platform.history(chat)
        asked = [m for m in items if m["sender"]["type"] == "customer"]
        replies = [m for m in items if m["in_reply_to"]]
        assert [m["seq"] for m in items] == list(range(1, len(items) + 1))
        assert [m["in_reply_to"] for m in replies] == [m["id"] for m in asked]
        assert all(m["sender"]["type"] == "bot" and m["citations"] for m in replies)
        assert all(m["content"][0]["text"].strip() for m in replies)


@pytest.mark.parametrize(
    "victims",
    [["-n worker@"], ["valkey-server"], ["-n worker@", "valkey-server", "postgres"]],
    ids=["worker", "broker", "worker, broker and database"],
)
def test_killed_while_fifty_replies_are_made(platform: Platform, victims: list[str]) -> None:
    httpx2.post(f"http://127.0.0.1:{platform.model_port}/script", json={"mode": "slow:1.5"})
    # Ten conversations of five messages each: order within one, and many at once.
    chats = [platform.open() for _ in range(MESSAGES // 5)] * 5
    begun = time.monotonic()
    send_all(platform, chats)
    for _ in range(2):
        for word in victims:
            assert platform.kill(word), f"nothing to kill: {word}"
        time.sleep(4)
    wait_for_replies(platform, set(chats), MESSAGES)
    print(f"all there {time.monotonic() - begun:.1f} s after the first message")
    time.sleep(2)  # a double would come late
    check(platform, chats)
