"""A site on several hosts, behind a real nginx, with one PostgreSQL, one Valkey, one S3 store."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from drills.hosts import Host, Network, Shared, shared_servers
from drills.load import Receiver, Site
from drills.nginx import nginx, trust
from drills.platform import ROOT, START_SECONDS, free_port, wait_until


@dataclass
class World:
    """The hosts, their shared servers, and the site as its callers see it."""

    hosts: list[Host]
    shared: Shared
    site: Site
    receiver: Receiver
    direct: httpx2.Client  # to one host, past nginx

    def web_hosts(self) -> list[Host]:
        return [host for host in self.hosts if "web" in host.parts]

    def wait_until_up(self) -> None:
        for host in self.web_hosts():
            wait_until(
                lambda host=host: self.direct.get(f"{host.url}/health/live").is_success,
                what=f"the web process of {host.name}",
            )
        wait_until(
            lambda: self.direct.get(f"{host.url}/health").is_success,
            what="the whole platform",
        )


@contextmanager
def world(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    spread: Sequence[Sequence[str]],
    root: Path = ROOT,
) -> Iterator[World]:
    """A site with the demo's trained bot on several hosts, two of them with a web process.

    `root` is the checkout of the version that they run.
    """
    with ExitStack() as stack:
        network = stack.enter_context(Network())
        shared = stack.enter_context(shared_servers(network, folder / "shared", monkeypatch))
        receiver = Receiver(network.address)
        stack.callback(receiver.close)
        shared.environ["EGRESS_ALLOW"] = receiver.url.removeprefix("http://").rstrip("/")
        data = folder / "first"
        data.mkdir()
        if root != ROOT:  # where `make static` has done it
            shared.manage("collectstatic", "--noinput", root=root, DATA_DIR=str(data))
        # DEBUG only for the demo's bot and people; the hosts run as on a real site.
        shared.manage("set_up", root=root, DEBUG="true", DATA_DIR=str(data))
        port = free_port()
        shared.environ["PUBLIC_URL"] = f"https://localhost:{port}"
        hosts = [
            Host(network, 11 + number, folder, kinds, shared.environ)
            for number, kinds in enumerate(spread)
        ]
        for host in hosts:
            stack.callback(host.close)
            host.root = root
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
        wait_until(lambda: client.get("/health").is_success, what="the site", seconds=START_SECONDS)
        key, password = (
            (data / "keys" / name).read_text() for name in ("demo_api_key", "demo_password")
        )
        direct = httpx2.Client(headers={"Host": "localhost"}, timeout=30, verify=False)
        stack.enter_context(direct)
        yield World(hosts, shared, Site(client, key, password), receiver, direct)
