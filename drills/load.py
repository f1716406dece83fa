"""The load of a client's people, customers and servers at once, with a record of each call.

Callers behave like a careful client: they repeat a call that is refused (502, 503, 504), gets no
answer in time or loses its connection, with the same `client_message_id` or `Idempotency-Key`.
"""

import json
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

QUESTION = "How many days do I have to return an unused item?"
PATIENCE = 5.0  # seconds without a byte, after which a caller gives a connection up
AGAIN = {409, 502, 503, 504}
PAUSE = 0.2
CUSTOMERS, CHATS = 4, 8
# Longer than any outage: a repeated call sends the same time, which must not be over.
SNOOZE_SECONDS = 20
# Events of one person: other readers do not see them.
PERSONAL = "notification."


@dataclass
class Call:
    """One call, with all its attempts."""

    what: str
    began: float
    seconds: float = 0.0
    refused: list[tuple[float, str]] = field(default_factory=list)  # the time and the reason


class Receiver(ThreadingHTTPServer):
    """The client's own server, which receives webhooks and records each event's arrival."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: str) -> None:
        super().__init__((address, 0), _Taker)
        self.arrivals: list[tuple[str, float, bytes]] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}/"

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Taker(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        # The demo's endpoint, which fails on purpose, has another path on this server.
        if found := self.path == "/":
            self.server.arrivals.append((self.headers["webhook-id"], time.time(), body))
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class Site:
    """The platform as its callers see it, at one address."""

    def __init__(self, client: httpx2.Client, key: str, password: str) -> None:
        self.client, self.key = client, {"API-KEY": key}
        form = {"grant_type": "password", "username": "owner@demo.example", "password": password}
        token = client.post("/identity/token2", data=form).raise_for_status().json()["access_token"]
        self.owner = {"Authorization": f"Bearer {token}"}

    def get(self, path: str, caller: dict[str, str], **query: Any) -> Any:
        return self.client.get(path, headers=caller, params=query).raise_for_status().json()

    def post(self, path: str, caller: dict[str, str], body: Any) -> Any:
        return self.client.post(path, headers=caller, json=body).raise_for_status().json()

    def open_chat(self) -> str:
        return str(self.post("/ai/client/chat", self.key, {})["id"])

    def pages(self, path: str, caller: dict[str, str], **query: Any) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.get(path, caller, limit=100, **query, **cursor)
            items += page["items"]
            if not page["items"] or not page["next_cursor"]:
                return items
            cursor = {"cursor": page["next_cursor"]}

    def history(self, chat: str) -> list[dict[str, Any]]:
        return self.pages(f"/ai/client/chat/history/{chat}", self.key)


class Load:
    """The callers, each in a thread, from `start` to `stop`."""

    def __init__(self, site: Site, receiver: Receiver, *, patience: float = PATIENCE) -> None:
        self.site, self.patience = site, patience
        site.post("/webhook/config", site.owner, {"url": receiver.url})
        first = site.open_chat()
        query = {"conversation_id": first, "type": "conversation.created"}
        (created,) = site.get("/webhook/events", site.owner, **query)["items"]
        self.first_event = created["id"]
        self.calls: list[Call] = []
        self.broken: list[str] = []  # callers' unexpected errors
        self.accepted: dict[str, list[str]] = defaultdict(list)  # chat: client_message_ids
        self.streamed: dict[str, str] = {}  # client_message_id: the reply's id, from `done`
        self.answers: list[str] = []  # by the agent
        self.feeds: list[list[tuple[str, float]]] = [
            [],
            [],
        ]  # each reader's event ids, with their times
        self.reconnected = 0
        self.snoozed: list[str] = []
        self.chats = [site.open_chat() for _ in range(CHATS)]
        self.manual = first
        me = site.get("/identity/users/me", site.owner)["id"]
        taken = {"assign_type": "agent", "user_id": me}
        site.post(f"/ai/chat/{self.manual}/assign", site.owner, taken)
        self._ends, self._over = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self._readers: list[threading.Thread] = []

    def start(self) -> None:
        for number in range(CUSTOMERS):
            chats = self.chats[number::CUSTOMERS]
            self._every(1.0, lambda turn, chats=chats: self._write(chats[turn % len(chats)]))
        streaming = self.site.open_chat()
        self._every(2.0, lambda _: self._ask_streaming(streaming))
        self._every(1.0, self._work)
        self._every(4.0, lambda _: self._snooze())
        for seen in self.feeds:
            self._readers.append(self._run(lambda seen=seen: self._follow(seen)))

    def _every(self, seconds: float, act: Callable[[int], None]) -> None:
        def run() -> None:
            turn = 0
            while not self._ends.wait(seconds):
                act(turn)
                turn += 1

        self._threads.append(self._run(run))

    def _run(self, act: Callable[[], None]) -> threading.Thread:
        def guarded() -> None:
            try:
                act()
            except Exception as exc:  # nothing catches a thread's errors: the drill checks `broken`
                self.broken.append(f"{type(exc).__name__}: {exc}")

        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        return thread

    def stop_calling(self) -> None:
        """Stop all calls; the readers of the feed go on."""
        self._ends.set()
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive(), "a call was never accepted"
        assert not self.broken, self.broken

    def stop(self) -> None:
        self._ends.set()
        self._over.set()
        for thread in self._readers:
            thread.join(60)

    def call(self, what: str, method: str, path: str, caller: dict[str, str], body: Any) -> Any:
        """Make a call until it is accepted."""
        call = Call(what, time.monotonic())
        self.calls.append(call)
        headers = caller | ({"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {})
        while True:
            try:
                reply = self.site.client.request(
                    method, path, headers=headers, json=body, timeout=self.patience
                )
                came = str(reply.status_code)
            except httpx2.TransportError as exc:
                reply, came = None, type(exc).__name__
            call.seconds = time.monotonic() - call.began
            if reply is not None and reply.is_success:
                return reply.json()
            call.refused.append((time.monotonic(), came))
            if reply is not None and reply.status_code not in AGAIN:
                raise AssertionError(f"{path}: {came} {reply.text}")
            time.sleep(PAUSE)

    def _write(self, chat: str) -> None:
        name = f"m-{uuid.uuid4()}"
        body = {"text": QUESTION, "client_message_id": name, "reply": "async"}
        self.call("message", "POST", f"/ai/client/chat/{chat}", self.site.key, body)
        self.accepted[chat].append(name)

    def _ask_streaming(self, chat: str) -> None:
        """Ask a question until the stream of its answer is complete."""
        name, call = f"s-{uuid.uuid4()}", Call("stream of a reply", time.monotonic())
        self.calls.append(call)
        body = {"text": QUESTION, "client_message_id": name, "reply": "stream"}
        path = f"/ai/client/chat/{chat}"
        while name not in self.streamed:
            turn: dict[str, Any] | None = None
            try:
                with self.site.client.stream(
                    "POST", path, headers=self.site.key, json=body, timeout=4 * self.patience
                ) as reply:
                    came = str(reply.status_code)
                    if reply.is_success:
                        for event, data, _ in server_sent(reply):
                            turn = json.loads(data) if event == "done" else None
            except httpx2.TransportError as exc:
                came = type(exc).__name__
            call.seconds = time.monotonic() - call.began
            if turn is None:
                call.refused.append((time.monotonic(), came))
            elif turn["reply"]:
                self.streamed[name] = turn["reply"]["id"]
                break
            # Otherwise the stopping process said that the reply comes later.
            time.sleep(PAUSE)
        self.accepted[chat].append(name)

    def _work(self, turn: int) -> None:
        """Do an agent's work: answer, read the list, or label the chat."""
        path, owner = f"/ai/chat/{self.manual}", self.site.owner
        if turn % 2:
            self.call("list", "GET", "/ai/chats", owner, None)
            return
        text = f"Answer {uuid.uuid4()}"
        self.call("agent's message", "POST", f"{path}/manual", owner, {"text": text})
        self.answers.append(text)

    def _snooze(self) -> None:
        chat = self.call("new chat", "POST", "/ai/client/chat", self.site.key, {})["id"]
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + SNOOZE_SECONDS))
        path = f"/ai/chat/{chat}/snooze"
        self.call("snooze", "POST", path, self.site.owner, {"until": until})
        self.snoozed.append(chat)

    def _follow(self, seen: list[tuple[str, float]]) -> None:
        """Read the live feed; after a break continue from the last event seen."""
        while not self._over.is_set():
            last = {"Last-Event-ID": seen[-1][0]} if seen else {}
            try:
                with self.site.client.stream(
                    "GET", "/ai/chat/events", headers=self.site.owner | last, timeout=self.patience
                ) as reply:
                    if not reply.is_success:
                        assert reply.status_code in AGAIN, reply.status_code
                        time.sleep(PAUSE)
                        continue
                    for event, _, number in server_sent(reply):
                        if number and not event.startswith(PERSONAL):
                            seen.append((number, time.time()))
                        if self._over.is_set():
                            return
            except httpx2.TransportError:
                time.sleep(PAUSE)
            self.reconnected += 1


def server_sent(reply: httpx2.Response) -> Any:
    """The events of a stream as name, data and id; an incomplete last event is left out."""
    fields: dict[str, str] = {}
    for line in reply.iter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield fields.get("event", ""), fields.get("data", ""), fields.get("id", "")
            fields = {}
