"""The documented way with containers: build, up, first company, restarts, upgrade and rollback.

The release before is the oldest that has today's initial migrations, or the commit
DRILL_OLD_VERSION. docker-compose.yml and docs/operations.md are followed; what the machine does not
allow is worked around, and printed.
"""

import functools
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from drills.containers import BEHIND_WEB, DATASTORES, WEB, Podman, Site
from drills.load import PAUSE, QUESTION, Call, Load, Receiver
from drills.load import Site as Callers
from drills.nginx import nginx, trust
from drills.outcome import Outcome
from drills.platform import OWNER, START_SECONDS, wait_until
from drills.releases import checkout
from local.os_processes import free_port

pytestmark = pytest.mark.timeout(5400)  # with two builds, on a busy machine
OLDEST = "6da6326c"
PAID = """from identity.services import credit_orders
from identity.models import CreditOrder
credit_orders.pay(CreditOrder.objects.get(), by=None)"""
PASSWORD = "a-long-word-for-7-drills"
TEXT = "# Returns\n\nYou have 30 days to return an unused item, with the receipt.\n"
GATEWAY = "172.30.57.1"  # of the network in .env.example
LONGEST_REFUSAL = 2.0  # seconds, with two web services


class Drill:
    """A site in containers, behind nginx, with its company and callers."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.podman = Podman()
        self.podman.make_base_images()
        commit = os.environ.get("DRILL_OLD_VERSION", OLDEST)
        self.before = _complete(checkout(commit, folder / "before"))
        self.releases = {"before": self.before, "now": checkout("HEAD", folder / "now")}
        for name, root in self.releases.items():
            took = self.podman.build(root, f"chatplatform:{name}")
            size = self.podman.megabytes(f"chatplatform:{name}")
            print(f"image of {name}: {size} MB, built in {took:.0f} s")
        self.ports = [free_port(), free_port()]
        self.site = Site(self.podman, checkout(commit, folder / "site"))
        self._start()

    def _start(self) -> None:
        port = free_port()
        site, stack = self.site, self.stack
        site.set(
            PUBLIC_URL=f"https://localhost:{port}", ALLOWED_HOSTS="localhost",
            PUBLISH=f"127.0.0.1:{self.ports[0]}", PUBLISH_SECOND=f"127.0.0.1:{self.ports[1]}",
            COMPOSE_PROFILES="two", REGISTRATION_OPEN="true", EMAIL_URL="consolemail://",
            # Drills send more requests than the usual limits allow.
            RATE_LIMIT_SCALE="1000", WEBHOOK_RETRY_SCALE="1000",
        )  # fmt: skip
        site.take(self.before, "chatplatform:before")
        stack.enter_context(site.removed_at_last())
        began = time.monotonic()
        site.replace(*DATASTORES)  # and with them the network
        self.receiver = Receiver(GATEWAY)
        stack.callback(self.receiver.close)
        site.set(EGRESS_ALLOW=f"{GATEWAY}:{self.receiver.server_port}")
        site.up()
        addresses = [f"127.0.0.1:{port}" for port in self.ports]
        stack.enter_context(nginx(self.folder, port, addresses))
        self.client = stack.enter_context(
            httpx2.Client(
                base_url=f"https://localhost:{port}", timeout=60, verify=trust(self.folder),
                limits=httpx2.Limits(max_connections=200),
            )
        )  # fmt: skip
        self.wait_until_up()
        print(f"up after {time.monotonic() - began:.0f} s\n{site.memory()}")

    def wait_until_live(self, number: int) -> None:
        url, host = f"http://127.0.0.1:{self.ports[number]}/health/live", {"Host": "localhost"}
        wait_until(lambda: httpx2.get(url, headers=host).is_success, what=url, seconds=300)

    def wait_until_up(self) -> None:
        for number in (0, 1):
            self.wait_until_live(number)
        for service in (*DATASTORES, *WEB, *BEHIND_WEB):
            wait_until(
                lambda service=service: self.site.is_healthy(service),
                what=f"the health check of {service}",
                seconds=START_SECONDS,
            )
        wait_until(
            lambda: self.client.get("/health").is_success, what="/health", seconds=START_SECONDS
        )

    def post(self, path: str, caller: dict[str, str], body: object) -> dict[str, str]:
        reply = self.client.post(path, headers=caller, json=body)
        assert reply.is_success, (path, reply.status_code, reply.text)
        return dict(reply.json())

    def register(self) -> Callers:
        """Make the first staff, a company with a trained bot, and return its callers."""
        printed = self.site.compose(
            "exec", "-T", "web", "python", "manage.py", "make_admin", "staff@chat.example"
        )
        assert "staff@chat.example" in printed
        who = {"email": OWNER, "password": PASSWORD, "full_name": "Ann", "company_name": "Shop"}
        self.post("/identity/register-trial", {}, who)

        def mailed() -> list[str]:
            return re.findall(r"token=([\w-]+)", self.site.log("worker-webhook"))

        wait_until(mailed, what="a mail with a link")
        confirmed = {"token": mailed()[0], "password": PASSWORD}
        self.post("/identity/confirm-registration", {}, confirmed)
        form = {"username": OWNER, "password": PASSWORD, "grant_type": "password"}
        reply = self.client.post("/identity/token2", data=form).raise_for_status()
        owner = {"Authorization": f"Bearer {reply.json()['access_token']}"}
        order = {"amount": 1_000_000, "reference": "drill"}  # a trial ends after 1,000 answers
        self.post("/identity/subscription/top-up", owner, order)
        self.site.compose("exec", "-T", "web", "python", "manage.py", "shell", "-c", PAID)
        bot = self.post("/ai/bot", owner, {"bot_name": "Shop", "is_visible": True})["id"]
        path = f"/ai/{bot}/train/document"
        files = {"files": ("shop.md", TEXT.encode(), "text/markdown")}
        self.client.post(path, headers=owner, files=files).raise_for_status()

        def is_trained() -> bool:
            items = self.client.get(path, headers=owner).json()["items"]
            return bool(items) and items[0]["status"] == "trained"

        wait_until(is_trained, what="the training", seconds=300)
        key = self.post("/identity/api-keys", owner, {"name": "server", "scope": "secret"})["key"]
        callers = Callers(self.client, key, PASSWORD)
        asked = {"text": QUESTION, "reply": "wait"}
        turn = callers.post(f"/ai/client/chat/{callers.open_chat()}", callers.key, asked)
        assert turn["status"] == "answered", turn
        return callers

    def restart(self, service: str) -> None:
        self.site.compose("restart", service)
        self.wait_until_up()

    def down_and_up(self) -> None:
        self.site.compose("down")
        self.site.up()
        self.wait_until_up()

    def become(self, name: str) -> None:
        """Follow "One host: upgrade and rollback" of docs/operations.md."""
        self.site.take(self.releases[name], f"chatplatform:{name}")
        self.site.compose("run", "--rm", "-T", "--no-deps", "migrate")
        for number, service in zip((1, 0), WEB, strict=True):
            self.site.replace(service)
            self.wait_until_live(number)
            time.sleep(8)
        self.site.replace(*BEHIND_WEB)
        self.wait_until_up()


@pytest.fixture
def drill(tmp_path: Path) -> Iterator[Drill]:
    with ExitStack() as stack:
        yield Drill(tmp_path, stack)


def _complete(root: Path) -> Path:
    """Let catalogs into the image of a release that does not start without them."""
    rules = root / ".dockerignore"
    if "django.po" in (root / "chatplatform" / "settings.py").read_text():
        print("the release before starts only with catalogs, which its .dockerignore leaves out")
        rules.write_text(rules.read_text().replace("!locale/**/*.mo", "!locale/**/*.[mp]o"))
    return root


def play(drill: Drill, steps: Mapping[str, Callable[[], None]]) -> list[Call]:
    """Do the steps under load, check that each message is there once, return the refused calls."""
    load = Load(drill.register(), drill.receiver, patience=20)
    outcome = Outcome(load.site, load, drill.receiver)
    load.start()
    try:
        for name, act in steps.items():
            with outcome.during(name):
                act()
        print(drill.site.memory())
        outcome.check()
    finally:
        load.stop()
    outcome.report()
    return [call for call in load.calls if call.refused]


def test_upgrade_and_rollback_refuse_nobody_for_long(drill: Drill) -> None:
    steps = {"upgrade": lambda: drill.become("now"), "rollback": lambda: drill.become("before")}
    refused = play(drill, steps)
    waits = [call.refused[-1][0] - call.refused[0][0] + PAUSE for call in refused]
    print(f"{len(waits)} calls were refused, for at most {max(waits, default=0):.1f} s")
    assert max(waits, default=0) <= LONGEST_REFUSAL


def test_each_container_is_restarted_and_all_are_removed(drill: Drill) -> None:
    services = (*DATASTORES, *WEB, *BEHIND_WEB)
    steps = {f"restart of {name}": functools.partial(drill.restart, name) for name in services}
    play(drill, steps | {"down and up": drill.down_and_up})
