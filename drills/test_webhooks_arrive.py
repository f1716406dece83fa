"""Deliver events to twenty endpoints, most of them faulty; then again while processes are killed.

The whole platform runs as with `make run` and is observed only from outside. The receivers are in
this process, which records the accepted messages and the arrivals.
"""

import asyncio
import collections
import itertools
import json
import os
import random
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from drills.platform import Platform

PASSWORD = "correct-horse-battery"
# Two clients have ten endpoints each.
VICTIMS = ("-n worker-webhook@", "-n worker@", "manage.py relay", "valkey-server")
GOOD, BAD = ["fine"] * 4, ["500", "hang", "drip", "301", "close", "busy"]
EVENTS, PER_SECOND = int(os.environ.get("DRILL_EVENTS", "2000")), 25


Arrival = tuple[str, float, dict[str, Any]]  # webhook-id, when, body


class Receivers:
    """Servers, each with its own behavior; `arrivals` records the requests by port."""

    def __init__(self) -> None:
        self.arrivals: dict[int, list[Arrival]] = collections.defaultdict(list)
        self.behaviour: dict[int, str] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def add(self, behaviour: str) -> int:
        future = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)
        port = future.result(10)
        self.behaviour[port] = behaviour
        return port

    async def _serve(self) -> int:
        server = await asyncio.start_server(self._serve_connection, "127.0.0.1", 0)
        return int(server.sockets[0].getsockname()[1])

    async def _serve_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        port = writer.get_extra_info("sockname")[1]
        # Senders disconnect on purpose.
        with suppress(asyncio.IncompleteReadError, ConnectionError, TimeoutError), closing(writer):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
                body = await reader.readexactly(int(headers["content-length"]))
                self.arrivals[port].append((headers["webhook-id"], time.time(), json.loads(body)))
                if not await self._answer(self.behaviour[port], writer):
                    break

    async def _answer(self, behaviour: str, writer: asyncio.StreamWriter) -> bool:
        status, more = {
            "fine": ("200 OK", ""),
            "500": ("500 No", ""),
            "301": ("301 Moved", "Location: http://127.0.0.1:1/\r\n"),
            "410": ("410 Gone", ""),
            "busy": ("429 Busy", "Retry-After: 2\r\n"),
        }.get(behaviour, ("", ""))
        if behaviour == "flap":
            status = random.choice(["200 OK", "500 No"])
        if behaviour == "hang":
            await asyncio.sleep(60)
        if behaviour == "drip":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(60):
                writer.write(b".")
                await writer.drain()
                await asyncio.sleep(1)
        if not status:
            return False
        writer.write(f"HTTP/1.1 {status}\r\n{more}Content-Length: 0\r\n\r\n".encode())
        await writer.drain()
        return True


class WebhookPlatform(Platform):
    """The running platform, with two clients of ten endpoints each."""

    def __init__(self, folder: Path, receivers: Receivers) -> None:
        self.receivers = receivers
        behaviours = [behaviour for _ in range(2) for behaviour in (*GOOD, *BAD)]
        self.endpoints = {receivers.add(behaviour): behaviour for behaviour in behaviours}
        self.extra = {receivers.add("410"): "410", receivers.add("flap"): "flap"}
        allowed = [f"127.0.0.1:{port}" for port in (*self.endpoints, *self.extra)]
        super().__init__(
            folder,
            EGRESS_ALLOW=",".join(allowed),
            WEBHOOK_RETRY_SCALE="1000",
            WEBHOOK_TIMEOUT_SECONDS="5",
            JOB_LEASE_SECONDS="5",
        )
        ports = list(self.endpoints)
        self.tenants = [self.tenant(number, ports[number * 10 :][:10]) for number in range(2)]

    def tenant(self, number: int, ports: list[int]) -> dict[str, Any]:
        mail = f"owner{number}@drill.example"
        company = {
            "company_name": f"Drill {number}", "full_name": "Dan", "email": mail,
            "password": PASSWORD,
        }  # fmt: skip
        self.call("POST", "/identity/register-trial", {}, json=company)
        owner = self.login(mail, PASSWORD)
        bot = self.call("POST", "/ai/bot", owner, json={"bot_name": "Helper"})["id"]
        body = {"name": "drill", "scope": "secret", "bot_id": bot}
        key = {"API-KEY": self.call("POST", "/identity/api-keys", owner, json=body)["key"]}
        configs = {
            port: self.call(
                "POST", "/webhook/config", owner,
                json={"url": f"http://127.0.0.1:{port}/", "event_types": ["message.created"]},
            )["id"]
            for port in ports
        }  # fmt: skip
        chats = [self.call("POST", "/ai/client/chat", key, json={})["id"] for _ in range(5)]
        return {"owner": owner, "key": key, "chats": chats, "configs": configs, "ports": ports}

    def send_message(self, tenant: dict[str, Any], chat: str, number: str) -> str:
        """Send a message until it is accepted; return its id."""
        body = {"text": f"Message {number}", "reply": "none", "client_message_id": number}
        ends_at = time.monotonic() + 60
        while True:
            try:
                reply = self.client.post(
                    f"/ai/client/chat/{chat}", headers=tenant["key"], json=body
                )
                if reply.status_code < 300:
                    return str(reply.json()["message"]["id"])
            except httpx2.HTTPError as exc:
                print(f"again: {type(exc).__name__}")
            assert time.monotonic() < ends_at
            time.sleep(0.2)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebhookPlatform]:
    with WebhookPlatform(tmp_path_factory.mktemp("drill"), Receivers()) as running:
        yield running


_run = itertools.count()


def send_messages(platform: WebhookPlatform, count: int) -> dict[int, set[str]]:
    """Send messages at a steady rate, for both clients in turn; accepted ids by tenant number."""
    accepted: dict[int, set[str]] = collections.defaultdict(set)
    next_at, name = time.monotonic(), f"{next(_run)}"
    for number in range(count):
        which = number % 2
        tenant = platform.tenants[which]
        chat = tenant["chats"][number // 2 % len(tenant["chats"])]
        accepted[which].add(platform.send_message(tenant, chat, f"{name}-{number}"))
        next_at = max(next_at + 1 / PER_SECOND, time.monotonic() - 1)
        time.sleep(max(next_at - time.monotonic(), 0))
    return accepted


def good_ports(platform: WebhookPlatform, which: int) -> list[int]:
    return [p for p in platform.tenants[which]["ports"] if platform.endpoints[p] == "fine"]


def wait_until_all_arrived(
    platform: WebhookPlatform, accepted: dict[int, set[str]], seconds: float
) -> None:
    ends_at = time.monotonic() + seconds
    for which, expected in accepted.items():
        for port in good_ports(platform, which):
            while missing := expected - set(message_ids(platform, port)):
                assert time.monotonic() < ends_at, f"{len(missing)} did not arrive at {port}"
                time.sleep(0.5)


def message_ids(platform: WebhookPlatform, port: int) -> list[str]:
    return [body["data"]["message"]["id"] for _, _, body in list(platform.receivers.arrivals[port])]


def check_feed(platform: WebhookPlatform, accepted: dict[int, set[str]]) -> None:
    """Each accepted message is in the feed once; each delivery has succeeded or will be retried."""
    for which, expected in accepted.items():
        tenant = platform.tenants[which]
        log = platform.feed(tenant["owner"])
        ids = [event["id"] for event in log]
        assert len(ids) == len(set(ids))
        announced = [e["data"]["message"]["id"] for e in log if e["type"] == "message.created"]
        assert expected <= set(announced)
        assert len(announced) == len(set(announced))
        by_message = {
            e["data"]["message"]["id"]: e["id"] for e in log if e["type"] == "message.created"
        }
        for chat in tenant["chats"]:
            numbers = [e["sequence"] for e in log if e["conversation_id"] == chat]
            assert numbers == list(range(1, len(numbers) + 1)), "in order, without gaps"
        for port in tenant["ports"]:
            for event_id, _, body in list(platform.receivers.arrivals[port]):
                assert by_message[body["data"]["message"]["id"]] == event_id == body["id"]
        check_states(platform, tenant, [e for e in log if e["type"] == "message.created"])


def check_states(
    platform: WebhookPlatform, tenant: dict[str, Any], events: list[dict[str, Any]]
) -> None:
    good = {tenant["configs"][p] for p in tenant["ports"] if platform.endpoints[p] == "fine"}
    states: collections.Counter[str] = collections.Counter()
    for event in events:
        assert {sent["config_id"] for sent in event["deliveries"]} >= good
        for sent in event["deliveries"]:
            states[sent["status"]] += 1
            assert sent["config_id"] not in good or sent["status"] == "succeeded"
            assert sent["attempt"] <= 10
            if sent["status"] == "failed":
                assert sent["attempts"][-1]["error"]
    print(dict(states))


def figures(platform: WebhookPlatform, accepted: dict[int, set[str]]) -> tuple[float, float]:
    """Seconds from an event's time to its first arrival at good endpoints: p50, p95."""
    durations, extra = [], 0
    for which, expected in accepted.items():
        for port in good_ports(platform, which):
            first: dict[str, float] = {}
            for event_id, at, body in list(platform.receivers.arrivals[port]):
                if body["data"]["message"]["id"] in expected:
                    announced_at = datetime.fromisoformat(body["timestamp"]).timestamp()
                    extra += event_id in first
                    first.setdefault(event_id, at - announced_at)
            durations += first.values()
    durations.sort()
    p50, p95 = statistics.median(durations), durations[int(len(durations) * 0.95)]
    print(
        f"good endpoints: {len(durations)} deliveries, {extra} doubles,"
        f" p50 {p50 * 1e3:.0f} ms, p95 {p95 * 1e3:.0f} ms, longest {durations[-1]:.1f} s;"
        f" load {os.getloadavg()[0]:.1f}"
    )
    return p50, p95


def test_bad_receivers_slow_no_good_one(platform: WebhookPlatform) -> None:
    accepted = send_messages(platform, EVENTS)
    wait_until_all_arrived(platform, accepted, 60)
    _, p95 = figures(platform, accepted)
    check_feed(platform, accepted)
    assert p95 < 2


def test_killed_at_random_nothing_is_lost(platform: WebhookPlatform) -> None:
    stop = threading.Event()
    killed: collections.Counter[str] = collections.Counter()

    def kill() -> None:
        pick = random.Random(7)
        while not stop.wait(4):
            word = pick.choice(VICTIMS)
            killed[word] += platform.kill(word)

    killer = threading.Thread(target=kill)
    killer.start()
    accepted = send_messages(platform, EVENTS // 2)
    stop.set()
    killer.join()
    wait_until_all_arrived(platform, accepted, 90)
    print(f"killed: {dict(killed)}")
    assert killed["-n worker-webhook@"]
    figures(platform, accepted)
    # A killed worker's deliveries are due again when their leases end.
    time.sleep(16)
    check_feed(platform, accepted)


def test_flapping_and_gone(platform: WebhookPlatform) -> None:
    tenant = platform.tenants[0]
    for port in [p for p, behaviour in platform.endpoints.items() if behaviour in ("hang", "drip")][
        :2
    ]:
        if port in tenant["configs"]:
            path = f"/webhook/config/{tenant['configs'][port]}"
            assert platform.client.delete(path, headers=tenant["owner"]).status_code == 204
    config_ids = {
        behaviour: platform.call(
            "POST", "/webhook/config", tenant["owner"],
            json={"url": f"http://127.0.0.1:{port}/", "event_types": ["message.created"]},
        )["id"]
        for port, behaviour in platform.extra.items()
    }  # fmt: skip
    flapping = next(port for port, behaviour in platform.extra.items() if behaviour == "flap")
    accepted = send_messages(platform, 200)[0]
    platform.receivers.behaviour[flapping] = "fine"
    ends_at = time.monotonic() + 60
    while accepted - set(message_ids(platform, flapping)):
        assert time.monotonic() < ends_at
        time.sleep(0.5)
    ids = collections.defaultdict(set)
    for event_id, _, body in platform.receivers.arrivals[flapping]:
        ids[body["data"]["message"]["id"]].add(event_id)
    assert {len(event_ids) for event_ids in ids.values()} == {1}, "doubles have the same id"
    query = {"config_id": config_ids["410"]}
    gone = platform.call("GET", "/webhook/config", tenant["owner"], params=query)
    assert (gone["is_active"], gone["disabled_reason"]) == (False, "gone")
