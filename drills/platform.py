"""The whole platform as `make run` starts it, on a port and a data folder of its own."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

ROOT = Path(__file__).resolve().parent.parent
OWNER = "owner@demo.example"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(holds: Callable[[], Any], *, what: str, seconds: float = 120) -> None:
    """Look again and again; a server that is away for a moment is looked at again, too."""
    ends_at = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except (httpx2.HTTPError, OSError) as exc:
            error = type(exc).__name__
        else:
            error = "not so"
        assert time.monotonic() < ends_at, f"not in {seconds:.0f} s: {what} ({error})"
        time.sleep(0.5)


class Platform:
    """The processes of a running platform, looked at from outside only."""

    START_SECONDS = 300  # on a machine that has other things to do

    def __init__(self, folder: Path, **environ: str) -> None:
        self.port, self.data = free_port(), folder / "data"
        env = os.environ | {"PORT": str(self.port), "DATA_DIR": str(self.data)} | environ
        env.pop("DATABASE_URL", None)
        env.pop("REDIS_URL", None)
        self.log = (folder / "run.log").open("w")
        self.supervisor = subprocess.Popen(
            [sys.executable, "-m", "chatplatform.local.launcher"],
            cwd=ROOT, env=env, stdout=self.log, stderr=self.log,
        )  # fmt: skip
        limits = httpx2.Limits(max_connections=200)
        self.client = httpx2.Client(
            base_url=f"http://127.0.0.1:{self.port}", timeout=90, limits=limits
        )
        try:
            until(
                lambda: self.client.get("/health").status_code == 200,
                what="health",
                seconds=self.START_SECONDS,
            )
        except AssertionError:
            self.stop()
            raise

    def call(self, method: str, path: str, headers: dict[str, str], **more: Any) -> Any:
        reply = self.client.request(method, path, headers=headers, **more)
        assert reply.status_code < 300, (path, reply.status_code, reply.text)
        return reply.json()

    def login(self, email: str, password: str) -> dict[str, str]:
        """The header of a person who has signed in."""
        form = {"grant_type": "password", "username": email, "password": password}
        token = self.call("POST", "/identity/token2", {}, data=form)["access_token"]
        return {"Authorization": f"Bearer {token}"}

    def feed(self, person: dict[str, str]) -> list[dict[str, Any]]:
        """All events of a person's client, oldest first, by their cursor."""
        items: list[dict[str, Any]] = []
        asked = {"order": "asc", "limit": "100"}
        while True:
            page = self.call("GET", "/webhook/events", person, params=asked)
            if not page["items"]:
                return items
            items += page["items"]
            asked["cursor"] = page["next_cursor"]

    def kill(self, word: str) -> int:
        """kill -9 of this platform's processes whose command line holds `word`."""
        killed = 0
        for pid in self.family():
            with suppress(FileNotFoundError, ProcessLookupError):  # it ended by itself meanwhile
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
            with suppress(FileNotFoundError, ProcessLookupError):
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                todo += [int(child) for child in children]
                found += [int(child) for child in children]
        return found

    def stop(self) -> None:
        self.supervisor.terminate()
        self.supervisor.wait(40)
        self.client.close()
        self.log.close()


class DemoShop(Platform):
    """The demo client's trained bot, with the scriptable model of the test suite behind it."""

    def __init__(self, folder: Path, model_port: int, **environ: str) -> None:
        self._model = f"http://127.0.0.1:{model_port}"
        model = {"LLM_BASE_URL": f"{self._model}/v1", "LLM_MODEL": "stub", "LLM_API_KEY": "stub"}
        super().__init__(folder, **model, **environ)
        self.key = {"API-KEY": (self.data / "keys" / "demo_api_key").read_text()}
        question = {"text": "How many days do I have to return an item?", "reply": "wait"}
        until(lambda: self.ask(self.open(), **question)["status"] == "answered", what="an answer")

    def script(self, mode: str) -> None:
        """How the model behaves from now on."""
        httpx2.post(f"{self._model}/script", json={"mode": mode}).raise_for_status()

    def owner(self) -> dict[str, str]:
        return self.login(OWNER, (self.data / "keys" / "demo_password").read_text())

    def open(self) -> str:
        return str(self.call("POST", "/ai/client/chat", self.key, json={})["id"])

    def ask(self, chat: str, **message: Any) -> dict[str, Any]:
        """A customer's message, and the turn that came of it."""
        turn: dict[str, Any] = self.call("POST", f"/ai/client/chat/{chat}", self.key, json=message)
        return turn

    async def ask_alone(self, chat: str, **message: Any) -> dict[str, Any]:
        """`ask` on a connection of its own, hundreds of them at once.

        By hand: a client library would take more of the machine than what it asks.
        """
        body = json.dumps(message)
        head = [
            f"POST /ai/client/chat/{chat} HTTP/1.1", "Host: 127.0.0.1", "Connection: close",
            *(f"{name}: {value}" for name, value in self.key.items()),
            "Content-Type: application/json", f"Content-Length: {len(body)}", "", body,
        ]  # fmt: skip
        async with asyncio.timeout(90):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                writer.write("\r\n".join(head).encode())
                answer = await reader.read()
            finally:
                writer.close()
        status, _, rest = answer.partition(b"\r\n")
        assert status.split()[1] in {b"200", b"202"}, answer
        turn: dict[str, Any] = json.loads(rest.partition(b"\r\n\r\n")[2])
        return turn

    def history(self, chat: str) -> list[dict[str, Any]]:
        path, asked = f"/ai/client/chat/history/{chat}", {"limit": 100}
        return list(self.call("GET", path, self.key, params=asked)["items"])


@contextmanager
def demo_shop(folder: Path, **environ: str) -> Iterator[DemoShop]:
    """The demo shop and its model, for the length of a `with`."""
    port = free_port()
    stub = [sys.executable, "-m", "chatplatform.testing.stub_model", "--port", str(port)]
    model = subprocess.Popen([*stub, "--script", "ok"], cwd=ROOT)
    try:
        running = DemoShop(folder, port, **environ)
        try:
            yield running
        finally:
            running.stop()
    finally:
        model.terminate()
        model.wait(10)
