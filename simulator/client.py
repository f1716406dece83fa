"""A client of the simulator's control API, for tests and drills."""

import json
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

from simulator.world import Json


class Refused(Exception):
    """The simulator refused a call; its message says why."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Client:
    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())

    @property
    def host_port(self) -> str:
        return self.origin.partition("://")[2]

    def control(self, method: str, name: str, values: Json | None = None) -> Any:
        """Call `/control/{name}`; `values` are the query of a GET, otherwise the body."""
        url = f"{self.origin}/control/{name}".rstrip("/")
        data = None
        if method == "GET":
            url += "?" + urlencode(values or {})
        else:
            data = json.dumps(values or {}).encode()
        request = urllib.request.Request(url, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with self._opener.open(request, timeout=30) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise Refused(error.read().decode()) from None

    # Customers

    def act(self, account: str, user: str, kind: str, **values: Any) -> Json:
        """Act as a customer; `GET /control` lists the kinds of each channel."""
        body = {"account": account, "user": user, "kind": kind, **values}
        answer: Json = self.control("POST", "act", body)
        return answer

    def write_text(self, channel: str, account: str, user: str, text: str, **more: Any) -> Json:
        return self.act(account, user, "text", channel=channel, text=text, **more)

    def thread(self, account: str, user: str) -> Json:
        answer: Json = self.control("GET", "thread", {"account": account, "user": user})
        return answer

    def replies(self, account: str, user: str) -> list[Json]:
        """The messages that the customer received."""
        messages = self.thread(account, user)["messages"]
        return [message for message in messages if not message["by_customer"]]

    # What happened

    def state(self) -> Json:
        answer: Json = self.control("GET", "state")
        return answer

    def calls(self, **wanted: Any) -> list[Json]:
        """The platform's calls, filtered by channel, account, what, method, path, …"""
        answer: list[Json] = self.control("GET", "calls", wanted)
        return answer

    def deliveries(self, **wanted: Any) -> list[Json]:
        answer: list[Json] = self.control("GET", "deliveries", wanted)
        return answer

    def wait_until_quiet(self, secs: float = 30) -> None:
        """Wait until no callback is being sent or waiting for a retry."""
        ends_at = time.monotonic() + secs
        while waiting := self.state()["waiting"]:
            if time.monotonic() > ends_at:
                raise Refused(f"{waiting} events are still waiting")
            time.sleep(0.01)

    # How it behaves

    def fault(self, kind: str, **values: Any) -> Json:
        answer: Json = self.control("POST", "faults", {"kind": kind, **values})
        return answer

    def clear_faults(self) -> None:
        self.control("DELETE", "faults")

    def modes(self, **values: Any) -> Json:
        answer: Json = self.control("POST", "modes", values)
        return answer

    def release(self) -> int:
        return int(self.control("POST", "release")["events"])

    def behaviour(self, **values: Any) -> Json:
        answer: Json = self.control("POST", "behaviour", values)
        return answer

    def advance(self, secs: float) -> None:
        self.control("POST", "clock", {"advance": secs})

    # Accounts and tokens

    def add_accounts(self, kind: str, count: int, **values: Any) -> list[Json]:
        body = {"kind": kind, "count": count, **values}
        answer: list[Json] = self.control("POST", "accounts", body)
        return answer

    def change_account(self, account: str, **values: Any) -> Json:
        answer: Json = self.control("PUT", "accounts", {"account": account, **values})
        return answer

    def subscribe(self, account: str, app: str = "") -> Json:
        answer: Json = self.control("POST", "subscribe", {"account": account, "app": app})
        return answer

    def handshake(self, channel: str) -> Json:
        answer: Json = self.control("POST", "handshake", {"channel": channel})
        return answer

    def token(self, app: str, account: str = "") -> str:
        """Issue a token without a consent page, for a person or an account."""
        return self.tokens(app, account)["access_token"]

    def tokens(self, app: str, account: str = "") -> dict[str, str]:
        answer: dict[str, str] = self.control("POST", "tokens", {"app": app, "account": account})
        return answer

    def end_tokens(self, how: str = "revoked", **which: Any) -> int:
        return int(self.control("DELETE", "tokens", {"how": how, **which})["tokens"])

    def consent(self, url: str, *, allow: bool = True, accounts: list[str] | None = None) -> str:
        """Submit a consent page, as a person would.

        Returns the URL to which the browser is redirected, or the page if it is not redirected.
        """
        page = self._opener.open(url, timeout=30).read().decode()
        offered = [part.partition('"')[0] for part in page.split(' name="target_')[1:]]
        chosen = offered[:1] if accounts is None else accounts
        form = {
            "asked": url.partition("?")[2],
            "decision": "allow" if allow else "refuse",
            **{f"target_{account}": "on" for account in chosen},
        }
        try:
            with self._opener.open(url, urlencode(form).encode(), timeout=30) as reply:
                return str(reply.read().decode())
        except urllib.error.HTTPError as error:
            if error.code == 302:
                return str(error.headers["Location"])
            raise Refused(error.read().decode()) from None
