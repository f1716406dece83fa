"""The whole platform as `make run` starts it, with its own port and data folder."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import httpx2
import psycopg

from chatplatform.testing import stub_model
from chatplatform.testing.stub_model import StubModel
from drills.releases import python_of
from local.data_dir import read_urls
from local.os_processes import die_with_parent, free_port

ROOT = Path(__file__).resolve().parent.parent
OWNER = "owner@demo.example"
HTML = {"Accept": "text/html"}
START_SECONDS = 600.0  # on a busy machine; a drill's own limit is for what it measures


def wait_until(condition: Callable[[], Any], *, what: str, seconds: float = 120) -> None:
    """Wait until a condition is true; the server may be unreachable meanwhile."""
    ends_at = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except (httpx2.HTTPError, OSError) as exc:
            error = type(exc).__name__
        else:
            error = "false"
        assert time.monotonic() < ends_at, f"not in {seconds:.0f} s: {what} ({error})"
        time.sleep(0.5)


def command_of(pid: int) -> list[str]:
    """The command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]


def environ_of(pid: int) -> dict[str, str]:
    """The environment that a process was started with."""
    pairs = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if pair)


def log_in(site: httpx2.Client, email: str, password: str, **more: str) -> httpx2.Response:
    """Send the site's form to sign in; `site` keeps the session."""
    site.get("/admin/login/")
    form = {
        "username": email,
        "password": password,
        "csrfmiddlewaretoken": site.cookies["csrftoken"],
    }
    return site.post("/admin/login/", data=form | more)


class Platform:
    """A running platform and its processes, observed only from outside."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.port, self.data = free_port(), folder / "data"
        env = os.environ | {"PORT": str(self.port), "DATA_DIR": str(self.data)}
        # These belong to the process that runs the drills.
        for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY"):
            env.pop(name, None)
        # Drills send more requests than the usual limits allow.
        env |= {"RATE_LIMIT_SCALE": "1000"} | environ
        self.log = (folder / "run.log").open("w")
        self.supervisor = subprocess.Popen(
            [python_of(ROOT), "-m", "local.launcher"],
            cwd=ROOT, env=env, stdout=self.log, stderr=self.log,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )  # fmt: skip
        limits = httpx2.Limits(max_connections=200)
        self.client = httpx2.Client(
            base_url=f"http://127.0.0.1:{self.port}", timeout=90, limits=limits
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def _wait_until_ready(self) -> None:
        wait_until(self._is_up, what="health", seconds=START_SECONDS)

    def _is_up(self) -> bool:
        if self.supervisor.poll() is not None:
            raise AssertionError(f"the launcher ended by itself: see {self.log.name}")
        return self.client.get("/health").status_code == 200

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def secret(self, name: str) -> str:
        """What the set-up has stored, such as `demo_password`."""
        return (self.data / "keys" / name).read_text()

    def call(self, method: str, path: str, headers: dict[str, str], **more: Any) -> Any:
        reply = self.client.request(method, path, headers=headers, **more)
        assert reply.status_code < 300, (path, reply.status_code, reply.text)
        return reply.json()

    def login(self, email: str, password: str) -> dict[str, str]:
        """Sign in; return the header of the user's requests."""
        form = {"grant_type": "password", "username": email, "password": password}
        token = self.call("POST", "/identity/token2", {}, data=form)["access_token"]
        return {"Authorization": f"Bearer {token}"}

    @contextmanager
    def signed_in(self, email: str, password: str = "") -> Iterator[httpx2.Client]:
        """A person's session on the site; without a password, one of the demo's people."""
        password = password or self.secret("demo_password")
        origin = f"http://127.0.0.1:{self.port}"
        with httpx2.Client(base_url=origin, timeout=90, headers=HTML) as site:
            assert log_in(site, email, password).status_code == 302
            yield site

    def feed(self, person: dict[str, str]) -> list[dict[str, Any]]:
        """All events of a person's client, oldest first, by their cursor."""
        items: list[dict[str, Any]] = []
        query = {"order": "asc", "limit": "100"}
        while True:
            page = self.call("GET", "/webhook/events", person, params=query)
            if not page["items"]:
                return items
            items += page["items"]
            query["cursor"] = page["next_cursor"]

    def kill(self, word: str, signum: int = signal.SIGKILL) -> int:
        """Send a signal to this platform's processes whose command line contains `word`."""
        killed = 0
        for pid in self.processes(word):
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signum)
                killed += 1
        return killed

    def processes(self, word: str) -> Iterator[int]:
        """The ids of this platform's processes whose command line contains `word`."""
        for pid in self.family():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                if word in " ".join(command_of(pid)):
                    yield pid

    def family(self) -> list[int]:
        """The process ids of the supervisor's descendants."""
        pids, todo = [], [self.supervisor.pid]
        while todo:
            pid = todo.pop()
            with suppress(FileNotFoundError, ProcessLookupError):
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                todo += [int(child) for child in children]
                pids += [int(child) for child in children]
        return pids

    def answers(self) -> bool:
        """Whether the demo's bot answers a usual question."""
        path, key = "/ai/client/chat", {"API-KEY": self.secret("demo_api_key")}
        chat = self.call("POST", path, key, json={})["id"]
        question = {"text": "How many days do I have to return an item?", "reply": "wait"}
        turn = self.call("POST", f"{path}/{chat}", key, json=question)
        return bool(turn["status"] == "answered")

    def lasting(self) -> dict[int, str]:
        """The processes that no request or job begins or ends, with their command lines.

        Of the database's, only one of those that all begin anew if a session of it crashes.
        """
        found = {}
        for pid in self.family():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                found[pid] = " ".join(command_of(pid))
        return {
            pid: command
            for pid, command in found.items()
            if " -B -m " not in command
            and ("walwriter" in command or not command.startswith("postgres: "))
        }

    def sql(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement as the application; return its rows."""
        address = read_urls(self.data)["DATABASE_URL"]
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def stop(self) -> None:
        self.supervisor.terminate()
        self.supervisor.wait(40)
        self.client.close()
        self.log.close()


class DemoShop(Platform):
    """The platform with the demo client's trained bot; with a scripted model, if one is given."""

    def __init__(self, folder: Path, model: StubModel | None = None, **environ: str) -> None:
        self.model = model
        if model:
            environ |= {"LLM_BASE_URL": model.base_url, "LLM_MODEL": "stub", "LLM_API_KEY": "stub"}
        super().__init__(folder, **environ)

    def _wait_until_ready(self) -> None:
        super()._wait_until_ready()
        self.key = {"API-KEY": self.secret("demo_api_key")}
        wait_until(self.answers, what="an answer", seconds=START_SECONDS)
        if self.model:
            assert self.model.requests, "the model was never asked"

    def owner(self) -> dict[str, str]:
        return self.login(OWNER, self.secret("demo_password"))

    def open_chat(self) -> str:
        return str(self.call("POST", "/ai/client/chat", self.key, json={})["id"])

    def ask(self, chat: str, **message: Any) -> dict[str, Any]:
        """Send a customer's message; return the answer: the message, its status and reply."""
        return dict(self.call("POST", f"/ai/client/chat/{chat}", self.key, json=message))

    async def ask_alone(self, chat: str, **message: Any) -> dict[str, Any]:
        """`ask` on its own connection, for hundreds of calls at once.

        Without a client library, which would use more processor time than the server.
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
        return dict(json.loads(rest.partition(b"\r\n\r\n")[2]))

    def history(self, chat: str) -> list[dict[str, Any]]:
        path, query = f"/ai/client/chat/history/{chat}", {"limit": 100}
        return list(self.call("GET", path, self.key, params=query)["items"])


@contextmanager
def demo_shop(folder: Path, **environ: str) -> Iterator[DemoShop]:
    """Start the demo shop and its model."""
    with stub_model.running() as model, DemoShop(folder, model, **environ) as shop:
        yield shop
