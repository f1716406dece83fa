"""Move a client from one cell to another while it writes, by the steps of docs/operations.md.

nginx routes each API key to its cell, one of two whole platforms. Callers repeat refused calls;
nothing may be lost or doubled, and other clients must not be affected.

    python -m pytest drills/test_client_moves.py -s
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from drills.load import Receiver
from drills.nginx import Balancer
from drills.platform import ROOT, Platform, environ_of, wait_until
from drills.test_backup import owners
from local.data_dir import read_urls

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx"),
]
# A word in the client's name, its customers' names and their messages.
MARKER = "Quokkamarker"
PASSWORD = "correct-horse-battery"
QUESTION = "How many days do I have to return an item?"
TEXT = "# {} shop\n\n## Returns\n\nYou have 30 days to return an item, unused."
WRITERS = 6
BEFORE_SECONDS, AFTER_SECONDS = 10, 10
AGAIN_SECONDS = 0.25
# Both cells have this key while a client moves.
TRANSFER_KEY = "only for the drill of a move"


class Company:
    """A company in a cell, with a trained bot and a key."""

    def __init__(self, cell: Platform, name: str) -> None:
        self.name, self.email = name, f"owner@{name.lower()}.example"
        company = {"company_name": name, "full_name": f"Ann {name}", "email": self.email}
        who = company | {"password": PASSWORD}
        made = cell.call("POST", "/identity/register-trial", {}, json=who)
        self.code = str(made["code"])
        self.owner = cell.login(self.email, PASSWORD)
        asked = {"bot_name": f"Bot of {name}", "is_visible": True}
        self.bot = cell.call("POST", "/ai/bot", self.owner, json=asked)["id"]
        self.train(cell)
        body = {"name": "server", "scope": "secret"}
        self.key = cell.call("POST", "/identity/api-keys", self.owner, json=body)["key"]

    def train(self, cell: Platform) -> None:
        path = f"/ai/{self.bot}/train/document"
        text = TEXT.format(self.name).encode()
        cell.call("POST", path, self.owner, files={"files": ("shop.md", text, "text/markdown")})

        def is_trained() -> bool:
            items = cell.call("GET", path, self.owner)["items"]
            return bool(items) and items[0]["status"] == "trained"

        wait_until(is_trained, what="the training")

    @property
    def prefix(self) -> str:
        """The public part of the key."""
        return self.key.partition(".")[0]


class Writer(threading.Thread):
    """A client's server, which sends messages of one chat and repeats each until accepted."""

    def __init__(self, front: str, company: Company, number: int) -> None:
        super().__init__(daemon=True)
        self._client = httpx2.Client(base_url=front, timeout=30)
        self._headers, self._number = {"API-KEY": company.key}, number
        self.stop = threading.Event()
        # The time at which each message was accepted, and the refusals by their code.
        self.accepted: dict[str, float] = {}
        self.refused = Counter[str]()
        self.fault: BaseException | None = None
        self._words = f"{QUESTION} {company.name}"
        body = {"bot_id": company.bot, "customer": {"name": f"{company.name} {number}"}}
        self.chat = self._call("POST", "/ai/client/chat", json=body).json()["id"]

    def run(self) -> None:
        try:
            count = 0
            while not self.stop.is_set():
                count += 1
                self._send(f"{self._number}-{count}")
        except BaseException as exc:
            self.fault = exc

    def _send(self, own_id: str) -> None:
        body = {"text": self._words, "client_message_id": own_id, "reply": "async"}
        while True:
            reply = self._call("POST", f"/ai/client/chat/{self.chat}", json=body)
            if reply.status_code in {200, 202}:
                self.accepted[own_id] = time.monotonic()
                time.sleep(0.2)
                return
            self._again(reply)

    def _again(self, reply: httpx2.Response) -> None:
        refusal = reply.json()
        assert (reply.status_code, refusal["code"]) == (503, "client_frozen"), reply.text
        assert int(reply.headers["Retry-After"]) > 0
        self.refused[refusal["code"]] += 1
        time.sleep(AGAIN_SECONDS)

    def _call(self, method: str, path: str, **more: Any) -> httpx2.Response:
        return self._client.request(method, path, headers=self._headers, **more)

    def close(self) -> None:
        self._client.close()

    def history(self) -> list[dict[str, Any]]:
        path, found, query = f"/ai/client/chat/history/{self.chat}", [], {"limit": "100"}
        while True:
            page = self._call("GET", path, params=query).raise_for_status().json()
            found += page["items"]
            if not page["next_cursor"]:
                return list(found)
            query["cursor"] = page["next_cursor"]

    def longest_pause(self) -> float:
        times = list(self.accepted.values())
        return max(later - earlier for earlier, later in zip(times, times[1:], strict=False))


class Reader(threading.Thread):
    """A person's live feed, which continues in the new cell from its last event."""

    def __init__(self, cells: tuple[Platform, Platform], company: Company) -> None:
        super().__init__(daemon=True)
        self._cells, self._email = cells, company.email
        self.at, self.stop = 0, threading.Event()
        self.ids: list[str] = []

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self._follow(self._cells[self.at])
            except (httpx2.HTTPError, AssertionError):  # refused, cut, or nobody to sign in to
                time.sleep(AGAIN_SECONDS)

    def _follow(self, cell: Platform) -> None:
        headers = cell.login(self._email, PASSWORD)
        if self.ids:
            headers["Last-Event-ID"] = self.ids[-1]
        with httpx2.Client(base_url=str(cell.client.base_url), timeout=5) as client:
            stream = client.stream("GET", "/ai/chat/events", headers=headers)
            with stream as reply:
                reply.raise_for_status()
                for line in reply.iter_lines():
                    if line.startswith("id:"):
                        self.ids.append(line.removeprefix("id:").strip())
                    if self.stop.is_set():
                        return


@contextmanager
def two_cells(folder: Path, receiver: Receiver) -> Iterator[tuple[Platform, Platform]]:
    """Two installations that share SECRET_KEY but not their encryption keys."""
    cells = list[Platform]()
    try:
        for name, key in (("first", "QUFB" * 10 + "QUE="), ("second", "QkJC" * 10 + "QkI=")):
            (folder / name).mkdir()
            more = {
                "SECRET_KEY": "cells" * 12, "INSTANCE_ID": name, "FIELD_KEYS": f"{name}:{key}",
                "EGRESS_ALLOW": f"127.0.0.1:{receiver.server_port}", "SSE_REAUTH_SECONDS": "2",
            }  # fmt: skip
            cells.append(Platform(folder / name, **more))
        yield cells[0], cells[1]
    finally:
        for cell in cells:
            cell.stop()


def manage(cell: Platform, *arguments: str) -> tuple[str, float]:
    """Run a management command on a cell as its operator; return its output and its seconds."""
    web = environ_of(next(iter(cell.processes("web.serve"))))
    environ = web | {"TRANSFER_KEY": TRANSFER_KEY, "DATABASE_OWNER_URL": owners(cell.data)}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, time.monotonic() - began


def rows_of(cell: Platform, company: Company) -> dict[str, Any]:
    """The number of a client's rows in each table, and a checksum of their content."""
    found: dict[str, Any] = {}
    with psycopg.connect(read_urls(cell.data)["DATABASE_URL"]) as connection:
        (client,) = one(connection, "SELECT id FROM identity_client WHERE code = %s", company.code)
        tables = connection.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND column_name = 'client_id' ORDER BY 1"
        ).fetchall()
        assert len(tables) > 40
        for (table,) in tables:
            found[table] = one(
                connection,
                f"SELECT count(*), md5(string_agg(md5(t::text), '' ORDER BY t::text))"
                f' FROM "{table}" t WHERE client_id = %s',
                client,
            )
    return found


def one(connection: Any, statement: str, *values: Any) -> Any:
    return connection.execute(statement, values).fetchone()


def places_of(cell: Platform, word: str) -> list[str]:
    """The tables and files of a cell in which a word occurs."""
    places = []
    with psycopg.connect(owners(cell.data)) as connection:
        tables = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'months')"
        ).fetchall()
        for schema, table in tables:
            statement = (
                f'SELECT count(*) FROM "{schema}"."{table}" t'
                " WHERE t::text ILIKE %s OR t::text ILIKE %s"
            )
            if one(connection, statement, f"%{word}%", f"%{word.encode().hex()}%")[0]:
                places.append(table)
    files = [path for path in (cell.data / "media").rglob("*") if path.is_file()]
    return places + [str(path) for path in files if word.encode() in path.read_bytes()]


class Move:
    """The move of a client, step by step, with the duration of each step."""

    def __init__(self, cells: tuple[Platform, Platform], company: Company, file: Path) -> None:
        self._first, self._second = cells
        self._company, self._file = company, file
        self.seconds: dict[str, float] = {}

    def make(self, balancer: Balancer) -> str:
        """Freeze and export the client, import it, route its key to the new cell, unfreeze it."""
        code, file = self._company.code, str(self._file)
        self._step("freeze", self._first, "freeze_client", code)
        self._step("export", self._first, "export_client", code, file, "--move")
        report = self._step("import", self._second, "import_client", file)
        balancer.lead(self._company.prefix, 1)
        self._step("unfreeze", self._second, "freeze_client", code, "--undo")
        return report

    def erase(self) -> None:
        code, file = self._company.code, str(self._file)
        self._step("erase", self._first, "erase_client", code, "--yes", "--moved", file)

    def _step(self, name: str, cell: Platform, *arguments: str) -> str:
        output, self.seconds[name] = manage(cell, *arguments)
        return output


def test_a_client_moves_while_it_writes(tmp_path: Path) -> None:
    receiver = Receiver("127.0.0.1")
    with two_cells(tmp_path, receiver) as cells:
        first, second = cells
        balancer = Balancer(tmp_path / "nginx", cells)
        try:
            move_under_load(tmp_path, cells, balancer, receiver)
        finally:
            balancer.stop()
            receiver.close()


def move_under_load(
    folder: Path, cells: tuple[Platform, Platform], balancer: Balancer, receiver: Receiver
) -> None:
    first, second = cells
    company = Company(first, MARKER)
    still = [Company(cell, f"Still{number}") for number, cell in enumerate(cells)]
    neighbours = [Company(cell, f"Neighbour{number}") for number, cell in enumerate(cells)]
    balancer.lead(neighbours[1].prefix, 1)
    first.call("POST", "/webhook/config", company.owner, json={"url": receiver.url})
    front = f"http://127.0.0.1:{balancer.port}"
    wait_until(lambda: httpx2.get(f"{front}/health/live").status_code == 200, what="nginx")
    link = upload(front, company)
    for cell, one_of in zip(cells, still, strict=True):
        assert cell.feed(one_of.owner), "its events have their places"
    before = [rows_of(cell, one_of) for cell, one_of in zip(cells, still, strict=True)]
    writers = [Writer(front, company, number) for number in range(WRITERS)]
    others = [Writer(front, neighbour, 0) for neighbour in neighbours]
    reader = Reader(cells, company)
    for thread in (*writers, *others, reader):
        thread.start()
    try:
        move, report, page = move_now(cells, company, balancer, folder / "client.zip", reader)
    finally:
        for thread in (*writers, *others):
            thread.stop.set()
            thread.join(60)
    move.erase()
    try:
        assert not any(thread.fault for thread in (*writers, *others)), writers[0].fault
        check_nobody_else(cells, still, before, others)
        check_messages(writers)
        ann = second.login(company.email, PASSWORD)
        feed = check_feed(second, ann, reader, page)
        clients = {item["client_id"] for item in (feed[0], page["items"][0])}
        doubled = check_webhooks(receiver, clients, feed)
        check_files_and_bot(second, ann, company, front, link)
    finally:
        reader.stop.set()
        reader.join(60)
        for writer in (*writers, *others):
            writer.close()
    assert "To be entered again" not in report, report
    assert places_of(first, MARKER) == []
    assert len(places_of(second, MARKER)) > 10
    assert "fit their chains" in manage(second, "check_audit")[0]
    print(f"\n{doubled} of {len(feed)} events were delivered twice, with the same id")
    tell(move, writers, others, report)


def move_now(
    cells: tuple[Platform, Platform],
    company: Company,
    balancer: Balancer,
    file: Path,
    reader: Reader,
) -> tuple[Move, str, dict[str, Any]]:
    """Move the client while it writes; also return a list page of events read before."""
    time.sleep(BEFORE_SECONDS)
    query = {"order": "asc", "limit": "10"}
    page = cells[0].call("GET", "/webhook/events", company.owner, params=query)
    move = Move(cells, company, file)
    report = move.make(balancer)
    reader.at = 1
    time.sleep(AFTER_SECONDS)
    return move, report, page


def upload(front: str, company: Company) -> str:
    """Upload a customer's file; return its chat."""
    headers = {"API-KEY": company.key}
    with httpx2.Client(base_url=front, timeout=30) as client:
        asked = {"bot_id": company.bot}
        chat = client.post("/ai/client/chat", json=asked, headers=headers).json()["id"]
        files = {"files": ("notes.txt", f"A file of {MARKER}".encode())}
        sent = client.post(
            f"/ai/client/chat/files/{chat}", files=files, data={"reply": "none"}, headers=headers
        )
        sent.raise_for_status()
    return str(chat)


def check_nobody_else(
    cells: tuple[Platform, Platform],
    still: list[Company],
    before: list[dict[str, Any]],
    others: list[Writer],
) -> None:
    """Check that idle companies have the same rows, and that other writers were never refused."""
    for cell, company, rows in zip(cells, still, before, strict=True):
        assert rows_of(cell, company) == rows
    for writer in others:
        assert not writer.refused
        assert len(writer.accepted) > 10


def check_messages(writers: list[Writer]) -> None:
    """Check that each accepted message is stored once with its reply, and nothing else."""
    for writer in writers:

        def is_answered(writer: Writer = writer) -> bool:
            answered = [item for item in writer.history() if item["in_reply_to"]]
            return len(answered) >= len(writer.accepted)

        wait_until(is_answered, what="the replies of a chat")
        found = writer.history()
        assert [item["seq"] for item in found] == list(range(1, len(found) + 1))
        stored = {
            item["client_message_id"]: item["id"] for item in found if item["client_message_id"]
        }
        own = [item for item in found if item["sender"]["type"] == "customer"]
        assert [item["client_message_id"] for item in own] == list(writer.accepted)
        replies = Counter(item["in_reply_to"] for item in found if item["in_reply_to"])
        assert set(replies) == set(stored.values()), "a message without its reply"
        assert set(replies.values()) == {1}
        assert writer.refused, "it wrote while the client moved"


def check_feed(
    second: Platform, ann: dict[str, str], reader: Reader, page: dict[str, Any]
) -> list[dict[str, Any]]:
    """Check that the reader has each event once, in order, and that the old cell's cursor works."""
    feed = second.feed(ann)
    assert [item["id"] for item in feed[:10]] == [item["id"] for item in page["items"]]
    query = {"order": "asc", "limit": "5", "cursor": page["next_cursor"]}
    more = second.call("GET", "/webhook/events", ann, params=query)["items"]
    assert [item["id"] for item in more] == [item["id"] for item in feed[10:15]]
    # Notifications go to one person only; earlier events are not sent to the reader.
    shown = [item["id"] for item in feed if item["type"] != "notification.created"]
    began = shown.index(reader.ids[0])
    wait_until(lambda: reader.ids[-1] == shown[-1], what="the reader's last event")
    reader.stop.set()
    assert reader.ids == shown[began:]
    assert len(reader.ids) > 100
    return feed


def check_webhooks(receiver: Receiver, clients: set[int], feed: list[dict[str, Any]]) -> int:
    """Check that all events since the endpoint's creation arrived; count the repeated ones."""
    wanted = {item["id"] for item in feed if item["deliveries"]}
    assert len(wanted) > 100

    def arrived() -> Counter[str]:
        # The demo's endpoint is at the same address.
        bodies = [json.loads(body) for _, _, body in receiver.arrivals]
        return Counter(body["id"] for body in bodies if body["client_id"] in clients)

    wait_until(lambda: wanted <= set(arrived()), what="the webhooks")
    assert set(arrived()) == wanted
    return sum(count - 1 for count in arrived().values())


def check_files_and_bot(
    second: Platform, ann: dict[str, str], company: Company, front: str, chat: str
) -> None:
    """Check that the file opens, and that the bot answers from its content of the old cell."""
    headers = {"API-KEY": company.key}
    with httpx2.Client(base_url=front, timeout=60) as client:
        found = client.get(f"/ai/client/chat/history/{chat}", headers=headers).json()["items"]
        link = next(item["content"][0]["url"] for item in found if item["content"][0]["url"])
        assert client.get(link).content == f"A file of {MARKER}".encode()
        (bot,) = second.call("GET", "/ai/bot", ann)["items"]
        asked = {"bot_id": bot["id"]}
        chat = client.post("/ai/client/chat", json=asked, headers=headers).json()["id"]
        body = {"text": QUESTION, "reply": "wait"}
        answer = client.post(f"/ai/client/chat/{chat}", json=body, headers=headers).json()
        assert answer["status"] == "answered"
        assert "30 days" in str(answer["reply"])
    with psycopg.connect(read_urls(second.data)["DATABASE_URL"]) as connection:
        trained = one(
            connection,
            "SELECT count(*) FROM chatplatform_job j JOIN identity_client c ON c.id = j.client_id"
            " WHERE j.name LIKE 'bots.%%' AND c.code = %s",
            company.code,
        )
    assert trained == (0,)


def tell(move: Move, writers: list[Writer], others: list[Writer], report: str) -> None:
    pauses = [writer.longest_pause() for writer in writers]
    steps = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in move.seconds.items())
    print(
        f"\nmoved: {sum(len(item.accepted) for item in writers)} messages accepted,"
        f" {sum(sum(item.refused.values()) for item in writers)} refused and sent again,"
        f" longest pause of a writer {max(pauses):.1f} s ({steps});"
        f" of others in the same cells {max(other.longest_pause() for other in others):.2f} s."
        f" {report.splitlines()[0]} Load {os.getloadavg()[0]:.1f}"
    )
