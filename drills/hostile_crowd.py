"""Strangers who hold connections and write hostile messages, in a process of their own.

The process reads its plan from the first line of the standard input, prints a line when all
connections are held and writing begins, goes on until the standard input ends, and prints what
came of it as JSON.
"""

import asyncio
import itertools
import json
import random
import resource
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from bots.tests import hostile_texts

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
AGAIN_SECONDS = 1.0
DIGITS, LENGTH = 7_900, 7_980
# What no message may contain is left out: such a message would not reach the bot.
REFUSED = str.maketrans("", "", "\ud800\x00\x01")


@contextmanager
def crowd(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Run a crowd during the block; yields what came of it, which is filled at the end.

    The plan has the `port`; groups of connections to be `held`, each with a `count`, the text
    `said` on them, and whether they come from `many_addresses`; and the `messages`: a public `key`,
    the kind of `texts`, how many are written `at_once`, and how many `at_least`.
    """
    command = ["nice", "-n", "19", sys.executable, "-m", "drills.hostile_crowd"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(plan) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "held\n"
        outcome: dict[str, Any] = {}
        yield outcome
        outcome |= json.loads(process.communicate(timeout=300)[0])


def different_numbers() -> Iterator[str]:
    """Numbers of thousands of digits."""
    while True:
        yield "".join(random.choices(string.digits, k=DIGITS))


def all_kinds() -> Iterator[str]:
    """Texts that are long words, runs, or what patterns look for: the best known kinds first."""
    word = "".join(random.choices(string.ascii_lowercase, k=12))
    first = (
        "\ufdfa", word, "\u0301", "([{<", "]})>", "(030) 123-45 67 ", "+49 170 1234567, ", "a@",
        f"https://{word}.example/{word}?{word}=", f"{word}@{word}.", f"{word}\n", "\u200b\u200d",
        "字", "配送料金", "🏽", "𝔘", "1,234.5 ", f"{word}-",
    )  # fmt: skip
    others = [text.translate(REFUSED) for text in hostile_texts.texts()]
    random.shuffle(others)
    for text in itertools.cycle([*map(hostile_texts.filled, first), *filter(None, others)]):
        # No text is like an earlier one, nor are there spaces at its ends, which are not stored.
        own = "".join(random.choices(string.ascii_letters, k=8))
        yield own + text[:LENGTH] + own


TEXTS = {"numbers": different_numbers, "kinds": all_kinds}


class Group:
    """Connections on which the same text was sent. One that the server closes is opened again."""

    def __init__(self, port: int, plan: dict[str, Any]) -> None:
        self.port, self.said, self.count = port, plan["said"].encode(), plan["count"]
        self.many_addresses = plan["many_addresses"]
        # The status of each connection's first answer, and those of the connections that the server
        # closed; "none" if it waits for the rest of the request.
        self.first, self.closed = dict[int, str](), Counter[str]()
        self.is_held = asyncio.Event()

    async def hold(self, number: int) -> None:
        """Hold one connection until this is cancelled."""
        address = f"127.1.{number // 250}.{number % 250 + 1}" if self.many_addresses else HOST
        while True:
            status = "refused"
            try:
                opening = asyncio.open_connection(HOST, self.port, local_addr=(address, 0))
                reader, writer = await opening
                with closing(writer):
                    writer.write(self.said)
                    status = "none"
                    if self.said.endswith(b"\r\n\r\n"):
                        status = (await reader.readline()).decode().split()[1]
                    self._record(number, status)
                    while await reader.read(1 << 16):
                        pass
            except (OSError, IndexError):  # refused, reset, or closed without an answer
                self._record(number, "refused")
            self.closed[status] += 1
            await asyncio.sleep(AGAIN_SECONDS)

    def _record(self, number: int, status: str) -> None:
        self.first.setdefault(number, status)
        if len(self.first) == self.count:
            self.is_held.set()


class Visitors:
    """A website's visitors, each of whom writes one message."""

    def __init__(self, port: int, plan: dict[str, Any]) -> None:
        self.port, self.plan, self.texts = port, plan, TEXTS[plan["texts"]]()
        self.begun, self.is_over = 0, False
        self.written: list[dict[str, Any]] = []

    async def write(self) -> None:
        """Write for one visitor after the other, each of whom waits for the reply."""
        while not self.is_over or self.begun < self.plan["at_least"]:
            self.begun += 1
            text = next(self.texts)
            _, chat = await self._post("", {}, "")
            body, token = {"text": text, "reply": "wait"}, chat.get("visitor_token", "-")
            status, turn = await self._post(f"/{chat.get('id')}", body, token)
            entry = {"chat": chat.get("id"), "text": text, "http_status": status}
            self.written.append(entry | {"status": turn.get("status")})

    async def _post(self, path: str, body: dict[str, Any], token: str) -> tuple[int, Any]:
        """The status of an answer and its body; 0 if there is no answer."""
        sent = json.dumps(body)
        head = [
            f"POST /ai/client/chat{path} HTTP/1.1", f"Host: {HOST}", "Connection: close",
            f"API-KEY: {self.plan['key']}", *([f"Visitor-Token: {token}"] if token else []),
            "Content-Type: application/json", f"Content-Length: {len(sent)}", "", sent,
        ]  # fmt: skip
        try:
            reader, writer = await asyncio.open_connection(HOST, self.port)
            with closing(writer):
                writer.write("\r\n".join(head).encode())
                answer = await reader.read()
        except OSError:
            answer = b""
        status, _, rest = answer.partition(b"\r\n")
        if not status:
            return 0, {}
        return int(status.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2])


async def main() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    plan = json.loads(sys.stdin.readline())
    groups = [Group(plan["port"], part) for part in plan["held"]]
    holding = [
        asyncio.create_task(group.hold(number)) for group in groups for number in range(group.count)
    ]
    for group in groups:
        await group.is_held.wait()
    visitors = Visitors(plan["port"], plan["messages"])
    writing = [asyncio.create_task(visitors.write()) for _ in range(plan["messages"]["at_once"])]
    print("held", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    visitors.is_over = True
    await asyncio.gather(*writing)
    for task in holding:
        task.cancel()
    held = [{"first": Counter(g.first.values()), "closed": g.closed} for g in groups]
    print(json.dumps({"held": held, "written": visitors.written}))


if __name__ == "__main__":
    asyncio.run(main())
