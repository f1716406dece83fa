"""The setting of the story: a running platform, the servers around it, and its callers."""

import collections
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from bots.tests import web_site
from chatplatform.signatures import new_secret
from chatplatform.testing import mcp_server, stub_model, tool_server
from drills.platform import ROOT, Platform, wait_until
from simulator.client import Client as ProviderClient

DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text())
OPERATIONS = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
Json = dict[str, Any]


def template_of(method: str, path: str) -> tuple[str, str]:
    """The operation that serves a path; if several match, the one with the fewest ids."""
    fitting = [
        (path_template.count("{"), path_template)
        for served, path_template in OPERATIONS
        if served == method
        and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path_template.rstrip("/")), path.rstrip("/"))
    ]
    assert fitting, f"the document has no {method} {path}"
    return method, min(fitting)[1]


class Caller:
    """A person, a key or an anonymous caller, whose calls of each operation are recorded."""

    def __init__(self, world: "World", kind: str, headers: dict[str, str]) -> None:
        self.world, self.kind, self.headers = world, kind, headers

    def call(
        self, method: str, path: str, *, status: int | None = None, **more: Any
    ) -> httpx2.Response:
        """Send a request that must succeed, or must be answered with `status`."""
        headers = self.headers | more.pop("headers", {})
        reply = self.world.http.request(method, path, headers=headers, **more)
        is_fine = reply.is_success or reply.status_code == 302
        assert reply.status_code == status if status else is_fine, (
            f"{method} {path}: {reply.status_code} {reply.text}"
        )
        if is_fine:
            served = template_of(method, reply.request.url.path)
            documented = OPERATIONS[served]["responses"]
            assert str(reply.status_code) in documented, f"{served}: {reply.status_code}"
            self.world.driven[served].add(self.kind)
            if self.kind == "public key" and "visitor_token" in reply.text:
                self.headers["Visitor-Token"] = reply.json()["visitor_token"]
        return reply

    def get(self, path: str, **query: Any) -> Any:
        return self.call("GET", path, params=query).json()

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return answer_of(self.call("POST", path, json=body, **more))

    def put(self, path: str, body: Any = None) -> Any:
        return answer_of(self.call("PUT", path, json=body))

    def delete(self, path: str) -> Any:
        return answer_of(self.call("DELETE", path))

    def upload(self, path: str, files: list[tuple[str, Any]], **fields: Any) -> Any:
        return answer_of(self.call("POST", path, files=files, data=fields))

    def refused(self, status: int, method: str, path: str, body: Any = None) -> Any:
        return self.call(method, path, status=status, json=body).json()


def answer_of(reply: httpx2.Response) -> Any:
    return reply.json() if reply.content else None


class World:
    """The state that the chapters of the story share and extend."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.model = stack.enter_context(stub_model.running())
        # Called by the bot's functions, and by webhooks.
        self.tool = stack.enter_context(tool_server.running())
        self.mcp = stack.enter_context(mcp_server.running())
        self.site = stack.enter_context(web_site.serving())
        self.payment_secret = new_secret()
        self.platform = Platform(
            folder,
            LLM_BASE_URL=self.model.base_url,
            EXPORT_INLINE_LIMIT="1",
            LLM_MODEL="stub",
            # The model's server is also the one that a company connects as its own.
            EGRESS_ALLOW=f"{self.tool.host_port},{self.site.host_port},"
            f"127.0.0.1:{self.model.server_port},{self.mcp.host_port}",
            PAYMENT_WEBHOOK_SECRET=self.payment_secret,
            CRAWL_DELAY_SECONDS="0",
        )
        stack.callback(self.platform.stop)
        self.log = folder / "run.log"
        self.http = self.platform.client
        self.driven: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
        self.nobody = Caller(self, "nobody", {})
        self.started_at = time.monotonic()
        # Filled by the chapters.
        self.ann = self.ben = self.server = self.page = self.nobody
        self.client_id = self.bot_id = 0

    @property
    def providers(self) -> ProviderClient:
        """The simulated providers of the channels, which the platform has started."""
        found = re.search(r"channels +(http\S+)/ \(simulated\)", self.log.read_text())
        assert found
        return ProviderClient(found[1])

    def person(self, email: str, password: str) -> Caller:
        """Sign in."""
        form = {"grant_type": "password", "username": email, "password": password}
        token = self.nobody.call("POST", "/identity/token2", data=form).json()["access_token"]
        return Caller(self, "bearer", {"Authorization": f"Bearer {token}"})

    def key(self, secret: str, scope: str) -> Caller:
        return Caller(self, f"{scope} key", {"API-KEY": secret})

    def mails(self, *words: str) -> list[str]:
        """The mails with all of these words, from the log: without a mail server they go there."""
        text = re.sub(r"^\S+ *\| ?", "", self.log.read_text(), flags=re.MULTILINE)
        printed = text.split("Content-Type: text/plain")[1:]
        return [mail for mail in printed if all(word in mail for word in words)]

    def events(self, type: str, **query: Any) -> list[Json]:
        """The newest events of a type."""
        found: list[Json] = self.ann.get("/webhook/events", type=type, limit=100, **query)["items"]
        return found

    def credits_left(self) -> int:
        return int(self.ann.get("/identity/subscription")["credits_left"])

    @contextmanager
    def spends(self) -> Iterator[None]:
        """Check that the block costs credits."""
        before = self.credits_left()
        yield
        assert self.credits_left() < before

    @contextmanager
    def model_writes(self, answer: Any) -> Iterator[None]:
        """Have the model answer each request in the block with this JSON."""
        self.model.json_answer = answer
        self.model.play("json")
        try:
            yield
        finally:
            self.model.play("ok")

    def open_chat(self, caller: Caller | None = None, **body: Any) -> Json:
        chat: Json = (caller or self.server).post("/ai/client/chat", body)
        return chat

    def ask(self, chat_id: str, text: str, *, reply: str = "wait", by: Caller | None = None) -> Any:
        body = {"text": text, "reply": reply}
        return (by or self.server).post(f"/ai/client/chat/{chat_id}", body)

    def history(self, chat_id: str) -> list[Json]:
        messages: list[Json] = self.ann.get(f"/ai/chat/{chat_id}/history", limit=100)["items"]
        return messages


def eventually(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a worker until the condition is true; return the condition's value."""
    found: list[Any] = []

    def check() -> bool:
        found.append(condition())
        return bool(found[-1])

    wait_until(check, what=what, seconds=60)
    return found[-1]


@contextmanager
def beginning(folder: Path) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(folder, stack)


# Only a real site asks to confirm a mailbox (identity/tests/test_confirm_registration.py).
NOT_HERE = {("POST", "/identity/confirm-registration")}


def undriven(world: World) -> list[str]:
    """Documented operations that were not called, or not with every kind of credential."""
    missing = []
    for served, operation in OPERATIONS.items():
        if served in NOT_HERE:
            continue
        kinds = {next(iter(entry)) for entry in operation.get("security", [])}
        by = {"bearer" if kind == "bearer" else "api_key" for kind in world.driven[served]}
        if not world.driven[served]:
            missing.append(f"{served}: by nobody")
        elif kinds - by:
            missing.append(f"{served}: not by {kinds - by}")
    return missing


def table(world: World) -> str:
    lines = [
        f"{' '.join(served):<75} {', '.join(sorted(world.driven[served]))}" for served in OPERATIONS
    ]
    return "\n".join(lines)
