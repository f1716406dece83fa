"""Three hosts serve one site, and each is killed, frozen and cut off while everybody works.

Nothing ties the platform to one machine: two of each process, spread over the hosts, behind a real
nginx, with one PostgreSQL, one Valkey and one S3 store.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import httpx2
import pytest

from drills.hosts import Host, Network, shared_servers
from drills.load import Load, Receiver, Site
from drills.nginx import nginx, trust
from drills.outcome import Outcome
from drills.platform import free_port, wait_until

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(which("nginx") is None, reason="needs nginx"),
]
# Longer than the leases of jobs (5 s): another worker takes them over.
SECONDS = float(os.environ.get("DRILL_FAULT_SECONDS", "8"))
SPREAD = (
    ("web", "worker", "relay", "beat"),
    ("web", "worker-webhook", "worker-bulk", "relay"),
    ("worker", "worker-webhook", "worker-bulk", "beat"),
)
DIRECT = {"Host": "localhost"}  # for calls past nginx


@dataclass
class World:
    hosts: list[Host]
    site: Site
    receiver: Receiver

    def web_hosts(self) -> list[Host]:
        return [host for host in self.hosts if "web" in host.parts]

    def wait_until_up(self) -> None:
        for host in self.web_hosts():
            wait_until(
                lambda host=host: httpx2.get(f"{host.url}/health/live", headers=DIRECT).is_success,
                what=f"the web process of {host.name}",
            )
        wait_until(
            lambda: httpx2.get(f"{host.url}/health", headers=DIRECT, timeout=10).is_success,
            what="the whole platform",
        )


@contextmanager
def world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A site on three hosts, set up and with the demo's trained bot."""
    with ExitStack() as stack:
        network = stack.enter_context(Network())
        shared = stack.enter_context(shared_servers(network, folder / "shared", monkeypatch))
        receiver = Receiver(network.address)
        stack.callback(receiver.shutdown)
        shared.environ["EGRESS_ALLOW"] = receiver.url.removeprefix("http://").rstrip("/")
        data = folder / "first"
        data.mkdir()
        # The demo's bot and people; the hosts themselves are a real site's.
        shared.manage("set_up", DEBUG="true", DATA_DIR=str(data))
        port = free_port()
        shared.environ["PUBLIC_URL"] = f"https://localhost:{port}"
        hosts = [
            Host(network, 11 + number, folder, kinds, shared.environ)
            for number, kinds in enumerate(SPREAD)
        ]
        for host in hosts:
            stack.callback(host.kill)
            host.start()
        addresses = [f"{host.address}:8000" for host in hosts if "web" in host.parts]
        stack.enter_context(nginx(folder, port, addresses))
        limits = httpx2.Limits(max_connections=200)
        client = stack.enter_context(
            httpx2.Client(
                base_url=f"https://localhost:{port}",
                timeout=60,
                limits=limits,
                verify=trust(folder),
            )
        )
        wait_until(lambda: client.get("/health").is_success, what="the site")
        key, password = (
            (data / "keys" / name).read_text() for name in ("demo_api_key", "demo_password")
        )
        yield World(hosts, Site(client, key, password), receiver)


def move_a_file(world: World, chat: str) -> None:
    """A file that is uploaded at one host is downloaded from the other."""
    one, other = world.web_hosts()
    for came, goes in ((one, other), (other, one)):
        data = b"%PDF-1.4\n" + os.urandom(200_000)
        reply = httpx2.post(
            f"{came.url}/ai/client/chat/files/{chat}/", headers=world.site.key | DIRECT, timeout=30,
            data={"reply": "none"}, files={"files": ("bill.pdf", data, "application/pdf")},
        )  # fmt: skip
        assert reply.is_success, reply.text
        (file,) = (part for part in reply.json()["message"]["content"] if part["url"])
        back = httpx2.get(goes.url + file["url"], headers=DIRECT, timeout=30)
        assert back.content == data


def kill(host: Host) -> None:
    host.kill()
    time.sleep(SECONDS)
    host.start()


def freeze(host: Host, *kinds: str) -> None:
    host.signal(signal.SIGSTOP, *kinds)
    time.sleep(SECONDS)
    host.signal(signal.SIGCONT, *kinds)


def cut(host: Host) -> None:
    host.cut()
    time.sleep(SECONDS)
    host.join()


def test_each_host_is_killed_frozen_and_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path, monkeypatch) as made:
        made.wait_until_up()
        files = made.site.open_chat()
        load = Load(made.site, made.receiver)
        outcome = Outcome(made.site, load, made.receiver)
        load.start()
        try:
            with outcome.during("nothing"):
                time.sleep(SECONDS)
                move_a_file(made, files)
            for act in (kill, freeze, cut):
                for host in made.hosts:
                    with outcome.during(f"{act.__name__} {host.name} ({', '.join(host.parts)})"):
                        act(host)
                        made.wait_until_up()
                        time.sleep(2)
                        move_a_file(made, files)
            outcome.check()
        finally:
            load.stop()
        outcome.report()
