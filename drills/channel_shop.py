"""A client's bot on a messaging channel of a running platform, and the simulated provider."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import httpx2
import psycopg

from drills.platform import Platform, wait_until
from drills.test_channels_by_hand import CHANNELS
from local.data_dir import read_urls
from simulator.client import Client

ACCOUNTS = dict(CHANNELS) | {"telegram": "7100000001"}
_ITEMS = "SELECT outcome, count(*) FROM channels_app_inbounditem GROUP BY 1"
# A worker that is killed between a call and its answer leaves a send uncertain, which is not
# repeated.
_SENT = (
    "SELECT channel, count(*) FROM channels_app_outboundsend send"
    " JOIN channels_app_channelconnection connection ON connection.id = send.connection_id"
    " WHERE state IN ('sent', 'uncertain') GROUP BY 1"
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

    @property
    def account(self) -> str:
        return ACCOUNTS[self.channel]

    def call(self, method: str, operation: str, **more: Any) -> Any:
        path = f"/{self.channel}/{self.client_id}/{operation}"
        return self.platform.call(method, path, self.owner, **more)

    def connect(self) -> None:
        connect = f"connect/{self.bot}"
        if self.channel == "localapp":
            pending = self.call("POST", connect, json={"redirect_uri": f"{self.sim.origin}/"})
            back = httpx2.get(self.sim.consent(pending["consent_url"])).headers["Location"]
            assert "status=connected" in back, back
            return
        token = self.sim.token(self.channel, self.account * (self.channel == "telegram"))
        if self.channel == "telegram":
            self.call("POST", connect, json={"token": token})
            return
        self.call("POST", "user-token", json={"access_token": token})
        if self.channel == "chatapp":
            self.call("POST", connect, json={"phone": {"phone_number_id": self.account}})
        else:
            self.call("POST", f"connect_page/{self.bot}", json={"page_id": self.account})

    def disconnect(self) -> None:
        has_page = self.channel in {"socialnet", "localapp"}
        self.call("PUT", f"disconnect{'_page' * has_page}/{self.bot}")

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
