"""U+FDFA and 1,400 other signs, 1 to 300 times, by four doors: no process dies, no 5xx.

A page's public key, a secret key, an agent's token and a session on the site send them in messages,
names and searches, and files of them are trained. `SIGNS_SHARE=10` takes every tenth sign only,
`SIGNS_SECONDS` is the limit for what the workers do with them.
"""

import json
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unicodedata import category
from urllib.parse import urlencode

import httpx2
import pytest

from bots.tests.every_sign import some_signs
from chatplatform.tests.test_guard_site import PAGES, url
from drills.platform import OWNER, START_SECONDS, Platform, wait_until

SHARE = int(os.environ.get("SIGNS_SHARE", "1"))
SECONDS = float(os.environ.get("SIGNS_SECONDS", "900"))
pytestmark = pytest.mark.timeout(1800 + 2 * SECONDS)
WORST = "\ufdfa"
LENGTHS = (1, 3, 18, 75, 300)
# A sign alone, before a letter, before a combining mark, in an emoji, and in reversed text.
BEHIND = ("", "a", "\u0301", "\u200d", "\ufe0f", "\u202e")
SENDERS, CHATS = 12, 20
CHAT = "/ai/client/chat"
AT_WORK = """SELECT 1 FROM chatplatform_job WHERE state IN ('queued', 'running')
    AND name IN ('chats.generate_reply', 'bots.train_document')"""
IN_VAIN = "SELECT name, last_error FROM chatplatform_job WHERE state = 'dead' OR crashes > 0"
FILES = "SELECT file_name, status, error_code FROM bots_document WHERE file_name LIKE 'signs-%'"
encoded = partial(urlencode, errors="surrogatepass")


def texts(turn: int) -> list[str]:
    """The worst sign in all lengths, and each other in one, which differs from turn to turn."""
    worst = [(WORST + behind) * length for length, behind in product(LENGTHS, BEHIND)]
    made = [(sign + BEHIND[n % 6]) * LENGTHS[(n + turn) % 5] for n, sign in enumerate(some_signs())]
    assert 1_000 < len(made) < 1_500
    return worst + made[::SHARE]


class Doors:
    """The doors of a platform, what is sent by each, and how it was answered."""

    def __init__(self, platform: Platform, site: httpx2.Client) -> None:
        self.platform, self.site = platform, site
        password, secret = platform.secret("demo_password"), platform.secret("demo_api_key")
        self.owner = platform.login(OWNER, password)
        self.bot = platform.call("GET", "/ai/bot", self.owner)["items"][0]["id"]
        page = {"API-KEY": platform.secret("demo_page_key")}
        visit = platform.call("POST", CHAT, page, json={})
        self.visit, page["Visitor-Token"] = visit["id"], visit["visitor_token"]
        agent = platform.login("amy@demo.example", password)
        self.headers = {"page": page, "secret": {"API-KEY": secret}, "agent": agent, "site": {}}
        self.statuses = {door: Counter[int]() for door in self.headers}
        self.faults: list[str] = []
        lists = [url(model, "changelist") for model, its in PAGES.items() if its.search_fields]
        self.lists = [path for path in lists if site.get(path).status_code == 200]
        self.chats = [self.ask("secret", "POST", CHAT, {"channel": "api"}) for _ in range(CHATS)]
        for chat in self.chats:
            self.ask("agent", "POST", f"/ai/chat/{chat['id']}/assign", {"assign_type": "agent"})

    def ask(self, door: str, method: str, path: str, body: Any = None, **query: str) -> Any:
        """Send even what no client library encodes; return the JSON of what was accepted."""
        client, kind, encode = self.platform.client, "json", json.dumps
        if door == "site":
            client, kind, encode = self.site, "x-www-form-urlencoded", encoded
        at = f"{path}?{encoded(query)}" if query else path
        headers = self.headers[door] | {"Content-Type": f"application/{kind}"}
        reply = client.request(method, at, headers=headers, content=encode(body) if body else None)
        self.statuses[door][reply.status_code] += 1
        if reply.status_code >= 500:
            self.faults.append(f"{method} {at[:99]} {ascii(body)[:99]}: {reply.text[:200]}")
        return reply.json() if reply.is_success and door != "site" else None

    def send(self, number: int, by_page: str, by_secret: str, by_agent: str, by_site: str) -> None:
        """Send one text by each door; the bot answers the page's."""
        chat, list_ = self.chats[number % CHATS], self.lists[number % len(self.lists)]
        path, customer = f"/ai/chat/{chat['id']}", chat["customer_id"]
        self.ask("page", "POST", CHAT, {"message": by_page})
        person = {"name": by_page[:200], "attributes": {by_page[:50]: by_page}}
        self.ask("page", "POST", f"{CHAT}/customer/{self.visit}", person)
        self.ask("secret", "POST", f"{CHAT}/{chat['id']}", {"text": by_secret, "reply": "none"})
        if number % 4:
            found = ("/ai/customers", f"{CHAT}s", f"/ai/{self.bot}/search")[number % 3]
            self.ask("secret", "GET", found, q=by_secret[:200])
        else:
            self.ask("secret", "PUT", f"/ai/customers/{customer}", {"name": by_secret[:200]})
        self.ask("agent", "POST", f"{path}/manual", {"text": by_agent})
        saved = {"shortcut": f"{number}{by_agent[:30]}", "texts": {"en": by_agent}}
        more = (
            ("POST", "/ai/chat/saved-replies", saved),
            ("PUT", f"{path}/tags", {"tags": [by_agent[:50]]}),
            ("POST", f"{CHAT}/suggestions/{chat['id']}", {"count": 3}),
            ("POST", f"{path}/sentiment"),
            ("GET", f"/ai/chats?{encoded({'q': by_agent[:200]})}"),
        )
        self.ask("agent", *more[number % 5])
        self.ask("site", "GET", list_, q=by_site[:200])
        if number % 3 == 0:
            form = {"name": by_site[:200], "csrfmiddlewaretoken": self.site.cookies["csrftoken"]}
            self.ask("site", "POST", f"/admin/chats/customer/{customer}/edit/", form)

    def upload(self) -> None:
        """Upload files of all signs: one of controls, which may be refused as no text."""
        files = []
        for turn, controls in product((0, 3), (False, True)):
            # Only the worst sign in full: training takes its time for each token.
            cut = (text if text[0] == WORST else text[:40] for text in texts(turn))
            found = [text for text in cut if (category(text[0]) in ("Cc", "Cs")) == controls]
            content = "\n\n".join(found).encode("utf-8", "surrogatepass")
            files.append(("files", (f"signs-{turn}-{controls}.txt", content)))
        self.platform.call("POST", f"/ai/{self.bot}/train/document", self.owner, files=files)


def test_no_sign_ends_a_process_or_breaks_an_answer(tmp_path: Path) -> None:
    with Platform(tmp_path) as platform, platform.signed_in(OWNER) as site:
        doors = Doors(platform, site)
        wait_until(platform.answers, what="an answer", seconds=START_SECONDS)
        before, began = platform.lasting(), time.monotonic()
        doors.upload()
        turns = zip(*(texts(turn) for turn in range(4)), strict=True)
        with ThreadPoolExecutor(SENDERS) as senders:
            list(senders.map(lambda row: doors.send(row[0], *row[1]), enumerate(turns)))
        wait_until(
            lambda: not platform.sql(AT_WORK), what="every reply, every file", seconds=SECONDS
        )
        print(f"\n{time.monotonic() - began:.0f} s; {platform.sql(FILES)}")
        for door, statuses in doors.statuses.items():
            print(f"{door:>8}: {statuses.total():5} {dict(sorted(statuses.items()))}")
        assert not doors.faults, "\n".join(doors.faults[:20])
        assert not (gone := before.keys() - platform.lasting().keys()), [
            before[pid] for pid in gone
        ]
        assert not platform.sql(IN_VAIN)
        assert " again in " not in Path(platform.log.name).read_text(), "a process died"
        assert platform.answers()
        assert doors.statuses["page"][201] > len(texts(0)) * 0.9
