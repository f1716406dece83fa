"""Helpers for the simulator's tests: a recording platform, and the calls of a platform."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPMessage
from typing import Any
from urllib.parse import parse_qs, urlencode

from simulator.testing import RunningSimulator, simulator

NOW = 1795226400.0
PAGE, OTHER_PAGE, PHOTO = "1048576000001", "1048576000002", "17840000000000001"
WABA, NUMBER, OA = "102290129340398", "1122334455667", "3662000000000000001"


class Platform:
    """Records callbacks and answers with `statuses` in turn, then always with the last one."""

    def __init__(self) -> None:
        self.statuses: list[int | Exception] = [200]
        self.challenge: bytes | None = None
        self.got: list[tuple[str, str, dict[str, str], bytes]] = []

    def call(
        self, method: str, url: str, headers: dict[str, str], body: bytes, *, timeout: float
    ) -> tuple[int, bytes]:
        self.got.append((method, url, headers, body))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if isinstance(status, Exception):
            raise status
        if method == "GET" and self.challenge is None:
            return status, parse_qs(url.partition("?")[2])["hub.challenge"][0].encode()
        return status, self.challenge or b""

    def close(self) -> None:
        """Nothing is open."""

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(body) for method, _, _, body in self.got if method == "POST"]


class Answer:
    def __init__(self, status: int, headers: HTTPMessage, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> tuple[int, int | None]:
        """Code and subcode of a Graph error."""
        error = self.json["error"]
        return error["code"], error.get("error_subcode")


class Caller:
    """Calls to a running simulator."""

    def __init__(self, sim: RunningSimulator, platform: Platform) -> None:
        self.sim, self.platform = sim, platform

    def call(
        self, method: str, path: str, body: Any = None, token: str = "", **headers: str
    ) -> Answer:
        data = body
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(body).encode()
            headers = {"Content-Type": "application/json", **headers}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = HTTPConnection(self.sim.host_port, timeout=10)
        try:
            connection.request(method, path, data, headers)
            reply = connection.getresponse()
            return Answer(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    def graph(self, method: str, path: str, body: Any = None, token: str = "") -> Answer:
        return self.call(method, f"/graph/v26.0/{path}", body, token)

    def form(self, path: str, values: dict[str, str], **headers: str) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.call("POST", path, urlencode(values).encode(), **kind, **headers)

    def localapp(self, method: str, path: str, body: Any = None, token: str = "") -> Answer:
        return self.call(method, f"/localapp{path}", body, access_token=token)

    def page(self, account: str = PAGE) -> str:
        """Subscribe to a page, and return its token."""
        self.sim.subscribe(account)
        return self.sim.token("socialnet", account)

    def written(self, account: str, user: str = "an", text: str = "hi") -> str:
        """Write as a customer, and return the customer's id at the account."""
        return str(self.sim.act(account, user, "text", text=text)["user_id"])

    def events(self) -> list[Any]:
        """Send what is due, and return the bodies that came."""
        before = len(self.platform.bodies)
        self.sim.deliver()
        return self.platform.bodies[before:]


@contextmanager
def caller() -> Iterator[Caller]:
    platform = Platform()
    with simulator(wire=platform, now=NOW) as sim:
        yield Caller(sim, platform)
