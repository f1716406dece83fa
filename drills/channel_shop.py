"""A client's bot on a messaging channel of a running platform, and the simulated provider."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import httpx2
import psycopg

from drills.platform import OWNER, Platform, wait_until
from local.data_dir import read_urls
from simulator import defaults
from simulator.client import Client

QUESTION, ANSWER = "How many days do I have to return an item?", "30 days"
# The accounts of the channels that a person connects by a consent, and of the others.
CONSENTED = {
    "socialnet": "1048576000001", "photoapp": "17840000000000001",
    "chatapp": "1122334455667", "localapp": "3662000000000000001",
}  # fmt: skip
ACCOUNTS = CONSENTED | {"telegram": "7100000001"}
_SIMULATOR = re.compile(r"channel simulator on (http://[^/\s]+)")
_ITEMS = "SELECT outcome, count(*) FROM channels_app_inbounditem GROUP BY 1"
# A worker that is killed between a call and its answer leaves a send uncertain, which is not
# repeated.
_SENT = (
    "SELECT channel, count(*) FROM channels_app_outboundsend send"
    " JOIN channels_app_channelconnection connection ON connection.id = send.connection_id"
    " WHERE state IN ('sent', 'uncertain') GROUP BY 1"
)
_UNCERTAIN = (
    "SELECT recipient_id, count(*) FROM channels_app_outboundsend"
    " WHERE state = 'uncertain' GROUP BY 1"
)
_DEAD = "SELECT name, count(*) FROM chatplatform_job WHERE state = 'dead' GROUP BY 1"


@dataclass
class Shop:
    """A client's bot on a channel, and the channel's simulated provider."""

    platform: Platform
    sim: Client
    owner: dict[str, str]
    client_id: int = 1
    bot: int = 1
    channel: str = ""

    @classmethod
    def open(cls, platform: Platform, channel: str = "") -> Self:
        """The demo client's, once its bot is trained and the simulator runs."""
        log = Path(platform.log.name)
        wait_until(lambda: _SIMULATOR.search(log.read_text()), what="the simulator")
        owner = platform.login(OWNER, platform.secret("demo_password"))

        def is_trained() -> bool:
            documents = platform.call("GET", "/ai/1/train/document", owner)["items"]
            return {document["status"] for document in documents} == {"trained", "failed"}

        wait_until(is_trained, what="training")
        sim = Client(_SIMULATOR.findall(log.read_text())[0])
        return cls(platform, sim, owner, channel=channel)

    @property
    def account(self) -> str:
        return ACCOUNTS[self.channel]

    def path(self, operation: str) -> str:
        return f"/{self.channel}/{self.client_id}/{operation}"

    def call(self, method: str, operation: str, **more: Any) -> Any:
        return self.platform.call(method, self.path(operation), self.owner, **more)

    def consent(self, *, allow: bool = True) -> dict[str, str]:
        """The values with which a person returns from a consent."""
        if self.channel == "chatapp":
            dialog = f"{self.sim.origin}/www/dialog/oauth?client_id={defaults.app('chatapp').id}"
            found = re.search("<pre>(.*?)</pre>", self.sim.consent(dialog, allow=allow), re.DOTALL)
            return dict(json.loads(found[1])) if found else {}
        body = {"redirect_uri": f"{self.sim.origin}/"}
        pending = self.call("POST", f"connect/{self.bot}", json=body)
        back = self.sim.consent(pending["consent_url"], allow=allow)
        if self.channel == "localapp":
            back = httpx2.get(back).headers["Location"]
        return dict(parse_qsl(urlsplit(back).query))

    def connect(self) -> None:
        came = self.consent() if self.channel in CONSENTED else {}
        if self.channel == "localapp":
            assert came["status"] == "connected", came
            return
        body: dict[str, Any] = {"redirect_uri": f"{self.sim.origin}/", **came}
        if self.channel == "telegram":
            body = {"token": self.sim.token("telegram", self.account)}
        if self.channel == "chatapp":
            phone = {"phone_number_id": came["phone_number_id"]}
            body = {
                "code": came["code"], "business_account_id": came["waba_id"], "phone": phone,
            }  # fmt: skip
        self.call("POST", f"connect/{self.bot}", json=body)
        if self.channel in {"socialnet", "photoapp"}:
            self.call("POST", f"connect_page/{self.bot}", json={"page_id": self.account})

    def disconnect(self) -> None:
        has_page = self.channel in {"socialnet", "localapp"}
        done = self.call("PUT", f"disconnect{'_page' * has_page}/{self.bot}")
        assert done["status"] == "disconnected", done

    def messages(self) -> list[dict[str, Any]]:
        """All messages that are stored at the client, newest first."""
        found, query = [], {"limit": "100"}
        while True:
            page = self.call("GET", f"messages/{self.bot}", params=query)
            found += page["items"]
            if not page["next_cursor"]:
                return found
            query["cursor"] = page["next_cursor"]

    def written(self) -> list[str]:
        """The texts of customers that are stored at the client."""
        theirs = [m for m in self.messages() if m["sender"]["type"] == "customer"]
        return sorted(message["content"][0]["text"] for message in theirs)

    def send_body(self, texts: dict[str, str]) -> None:
        """Each customer writes a text, all in one body if the provider sends such bodies."""
        self.sim.modes(hold=True, batch=len(texts))
        for user, text in texts.items():
            self.sim.write_text(self.channel, self.account, user, text)
        self.sim.modes(hold=False)
        assert self.sim.release() == len(texts), "the provider sends the account's events"

    def waiting(self) -> int:
        """The number of received items that have not been processed."""
        return self._count(_ITEMS).get("waiting", 0)

    def sent(self) -> int:
        """The number of messages that the channel's provider has accepted, or may have."""
        return self._count(_SENT).get(self.channel, 0)

    def uncertain(self) -> set[str]:
        """The customers to whom it is unknown whether a message was sent."""
        return set(self._count(_UNCERTAIN))

    def _count(self, query: str) -> dict[str, int]:
        with psycopg.connect(read_urls(self.platform.data)["DATABASE_URL"]) as connection:
            return dict(connection.execute(query).fetchall())

    def callbacks(self, **wanted: Any) -> list[dict[str, Any]]:
        return self.sim.deliveries(channel=self.channel, **wanted)

    def check_no_faults(self) -> None:
        """Check that nothing waits for good, no job is dead, and no callback was refused."""
        wait_until(lambda: not self.waiting(), what="receipts are processed, too")
        assert self._count(_DEAD) == {}
        attempts = [attempt for row in self.callbacks() for attempt in row["attempts"]]
        statuses = Counter(attempt["status"] for attempt in attempts)
        slowest = max(attempt["ms"] for attempt in attempts)
        print(f"\n{self.channel}: callbacks {dict(statuses)}, the slowest {slowest:.0f} ms")
        assert set(statuses) <= {0, 200}, "0 is no response in time: the provider repeats it"
