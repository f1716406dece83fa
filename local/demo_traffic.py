"""`make demo`: simulated customers write to the demo shop for ten minutes, and its agents reply.

It uses the API of a running `make run`, like a shop's own programs, and prints what happens.
"""

import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from local.os_processes import ServerError, exit_code
from local.parts import ROOT, data_dir_of

SCRIPT: dict[str, Any] = json.loads(
    (ROOT / "commands" / "samples" / "chats.json").read_text(encoding="utf-8")
)
CONCURRENT_CUSTOMERS = 4  # customers who write at the same time
PAUSE_SECS = 6.0  # between two customers, on average
TYPING_SECS = (2.0, 7.0)
AGENT_SECS = (5.0, 15.0)
TIMEOUT_SECS = 90


@dataclass
class Shop:
    """The demo client, as its own programs see it. `pace` divides every pause."""

    origin: str
    key: str
    logins: list[dict[str, str]]
    pace: float = 1
    chance: random.Random = field(default_factory=random.Random)

    def call(self, path: str, body: Mapping[str, Any], *, token: str = "") -> Any:
        """POST as the shop's server, or as an agent with `token`; return the response's JSON."""
        credential = {"Authorization": f"Bearer {token}"} if token else {"API-KEY": self.key}
        headers = {"Content-Type": "application/json", **credential}
        data = json.dumps(body).encode()
        return self._send(urllib.request.Request(self.origin + path, data, headers))

    def sign_in(self) -> tuple[str, str]:
        """Sign in as one of the agents; return the agent's name and an access token."""
        login = self.chance.choice([item for item in self.logins if item["role"] == "Agent"])
        form = {"username": login["email"], "password": login["password"]}
        data = urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(f"{self.origin}/identity/token2", data)
        return login["email"].partition("@")[0], self._send(request)["access_token"]

    def wait(self, least: float, most: float) -> None:
        time.sleep(self.chance.uniform(least, most) / self.pace)

    def _send(self, request: urllib.request.Request) -> Any:
        # No proxy: the machine's HTTP_PROXY is not meant for our own server.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=TIMEOUT_SECS) as reply:
            return json.loads(reply.read() or b"null")


def read_shop(environ: Mapping[str, str]) -> Shop:
    """The demo client of the platform that runs with this PORT and DATA_DIR."""
    keys = data_dir_of(environ) / "keys"
    try:
        key = (keys / "demo_api_key").read_text().strip()
        logins = json.loads((keys / "demo_logins").read_text())
    except FileNotFoundError:
        raise ServerError(
            f"There is no demo in {keys.parent}: start one with `make run`, with DEBUG on."
        ) from None
    return Shop(f"http://127.0.0.1:{environ.get('PORT') or 8000}", key, logins)


def visit(shop: Shop, number: int) -> None:
    """One customer's chat: they ask, say thanks and leave, or are handed over to an agent."""
    customer = shop.chance.randrange(len(SCRIPT["customers"]))
    name = SCRIPT["customers"][customer]
    language = "vi" if name in SCRIPT["vietnamese"] else "en"
    person = {"external_id": f"shop-{1001 + customer}", "name": name}
    opening = {"customer": person, "language": language, "channel": "web"}
    path = f"/ai/client/chat/{shop.call('/ai/client/chat', opening)['id']}"
    for line in _lines(shop, language, number):
        shop.wait(*TYPING_SECS)
        turn = shop.call(path, {"text": line, "reply": "wait"})
        _say(name, line)
        if turn["reply"]:
            texts = [part.get("text") or "" for part in turn["reply"]["content"]]
            _say("  the bot", " ".join(texts))
        if turn["status"] == "handed_off":
            _say("  the shop", f"{name} waits for a person: {turn['handoff_reason']}")
            _answer(shop, path.rpartition("/")[2], name, language)
            return


def _lines(shop: Shop, language: str, number: int) -> list[str]:
    """What a customer writes. Every third customer asks for something that only a person can do."""
    topics = shop.chance.sample(SCRIPT["topics"], 2)
    questions = [shop.chance.choice(topic[language]["questions"]) for topic in topics]
    if number % 3 == 2:
        # The bot may ask the customer to rephrase; the customer then asks for a person.
        kinds = shop.chance.choice([["unknown", "person"], ["person"]])
        lines = [shop.chance.choice(SCRIPT["lines"][kind][language]) for kind in kinds]
        return [questions[0], *lines]
    return [*questions, shop.chance.choice(SCRIPT["lines"]["thanks"][language])]


def _answer(shop: Shop, chat_id: str, name: str, language: str) -> None:
    """An agent takes the chat and replies. Some chats are left for the person who watches."""
    if shop.chance.random() < 0.3:
        _say("  the shop", f"{name} is left waiting: take the chat at the desk")
        return
    shop.wait(*AGENT_SECS)
    agent, token = shop.sign_in()
    chat = f"/ai/chat/{chat_id}"
    try:
        shop.call(f"{chat}/assign", {"assign_type": "agent"}, token=token)
        _say(f"  {agent}", f"takes the chat of {name}")
        shop.wait(*TYPING_SECS)
        text = shop.chance.choice(SCRIPT["lines"]["agent"][language])
        shop.call(f"{chat}/manual", {"text": text}, token=token)
        _say(f"  {agent}", text)
        shop.wait(*TYPING_SECS)
        shop.call(f"{chat}/agent-end", {}, token=token)
        _say(f"  {agent}", f"ends the chat of {name}")
    except urllib.error.HTTPError as error:
        if error.code != 409:
            raise
        _say(f"  {agent}", f"leaves the chat of {name} to a colleague who was faster")


def _say(who: str, what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {who:<16} {' '.join(what.split())}", flush=True)  # noqa: T201


def run(environ: Mapping[str, str]) -> int:
    shop = read_shop(environ)
    ends_at = time.monotonic() + 60 * float(environ.get("MINUTES") or 10)
    _say("make demo", f"customers write to {shop.origin}; watch it at {shop.origin}/admin/")
    visits: list[Future[None]] = []
    number = 0
    with ThreadPoolExecutor(CONCURRENT_CUSTOMERS) as customers:
        try:
            while time.monotonic() < ends_at:
                visits = [item for item in visits if not _has_ended(item)]
                if len(visits) < CONCURRENT_CUSTOMERS:
                    visits.append(customers.submit(visit, shop, number))
                    number += 1
                shop.wait(PAUSE_SECS / 2, PAUSE_SECS * 1.5)
        except KeyboardInterrupt:
            _say("make demo", "no more customers come; those who write are heard out")
    for item in visits:
        _has_ended(item)
    _say("make demo", f"{number} customers wrote")
    return 0


def _has_ended(one: Future[None]) -> bool:
    """Whether a visit has ended. Raises ServerError if it failed, which ends the demo."""
    if not one.done():
        return False
    try:
        one.result()
    except urllib.error.HTTPError as error:
        text = error.read().decode()[:300]
        raise ServerError(f"{error.url} answered {error.code}: {text}") from error
    except OSError as error:
        raise ServerError(f"The platform cannot be reached ({error}): is `make run` up?") from error
    return True


if __name__ == "__main__":
    sys.exit(exit_code(lambda: run(os.environ), data_dir_of(os.environ)))
