"""Simulate hosts on one machine: each is a network namespace with its own folder and processes.

A bridge connects them to the servers that they share: PostgreSQL, Valkey, an S3 store and a model.
Cutting a host off detaches it from the bridge: packets are lost, and neither side gets an error.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from chatplatform.testing import s3, stub_model
from drills.platform import ROOT
from drills.releases import python_of
from local import postgres
from local.os_processes import die_with_parent
from local.parts import Config, parts
from local.postgres import Postgres
from local.valkey import Valkey

PORT = 8000


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    """A switch: a bridge with an address for the shared servers, and a cable for each host."""

    def __init__(self) -> None:
        self.name, number = f"drill{os.getpid() % 10_000}", os.getpid() % 256
        self.prefix = f"198.18.{number}"  # for tests, by RFC 2544
        self.address = f"{self.prefix}.1"
        self._hosts: list[int] = []

    def __enter__(self) -> "Network":
        try:
            ip("link", "add", self.name, "address", self.hardware(1), "type", "bridge")
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("no network can be made here: needs root and iproute2")
        ip("addr", "add", f"{self.address}/24", "dev", self.name)
        ip("link", "set", self.name, "up")
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._hosts:
            ip("link", "del", self._cable(number))
            ip("netns", "del", self.namespace(number))
        ip("link", "del", self.name)

    def namespace(self, number: int) -> str:
        return f"{self.name}-{number}"

    def hardware(self, number: int) -> str:
        return f"02:00:00:00:00:{number:02x}"

    def address_of(self, number: int) -> str:
        return f"{self.prefix}.{number}"

    def add(self, number: int) -> None:
        """Add a host with one interface.

        It and the shared servers have static ARP entries for each other, so that a failing ARP
        request cannot reveal that a host is gone.
        """
        space, cable = self.namespace(number), self._cable(number)
        ip("netns", "add", space)
        self._hosts.append(number)
        ip("link", "add", cable, "type", "veth", "peer", "name", "net0", "netns", space)
        inside = ("-n", space)
        ip(*inside, "link", "set", "net0", "address", self.hardware(number))
        ip(*inside, "addr", "add", f"{self.address_of(number)}/24", "dev", "net0")
        for device in ("lo", "net0"):
            ip(*inside, "link", "set", device, "up")
        ip("link", "set", cable, "up")
        self.join(number)
        known = ("nud", "permanent", "dev")
        shared = ("lladdr", self.hardware(1))
        ip(*inside, "neigh", "replace", self.address, *shared, *known, "net0")
        own = ("lladdr", self.hardware(number))
        ip("neigh", "replace", self.address_of(number), *own, *known, self.name)

    def cut(self, number: int) -> None:
        ip("link", "set", self._cable(number), "nomaster")

    def join(self, number: int) -> None:
        ip("link", "set", self._cable(number), "master", self.name)

    def _cable(self, number: int) -> str:
        return f"{self.name}c{number}"


class Host:
    """A host that runs some of the platform's processes, observed only from outside."""

    def __init__(
        self, network: Network, number: int, folder: Path, kinds: Iterable[str],
        environ: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.name, self.number, self.network = f"host{number}", number, network
        self.address = network.address_of(number)
        self.folder = folder / self.name
        self.folder.mkdir()
        network.add(number)
        known = {part.name: part for part in parts(Config(self.address, PORT, self.folder))}
        self.parts = {kind: known[kind] for kind in kinds}
        self.environ = dict(environ) | {"DATA_DIR": str(self.folder), "PORT": str(PORT)}
        self.root = ROOT
        self.log = (folder / f"{self.name}.log").open("a")
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        return f"http://{self.address}:{PORT}"

    def start(self, *kinds: str) -> None:
        """Start these processes, or all, each in a process group that ends with the drill."""
        for kind in kinds or self.parts:
            part = self.parts[kind]
            own = {sys.executable: python_of(self.root)}
            command = [own.get(w, w).replace("@%h", f"@{self.name}") for w in part.command]
            if command[0] == "nice":  # hosts do not share their processors
                command = command[3:]
            if kind == "web":  # and few are lent to all of them here
                # As in deploy/systemd: `make run` stops sooner than a real site does.
                command = [*command, "--workers", "1", "--workers-kill-timeout", "50"]
            self.running[kind] = subprocess.Popen(
                ["ip", "netns", "exec", self.network.namespace(self.number), *command],
                cwd=self.root, env=self.environ | dict(part.environ), stdin=subprocess.DEVNULL,
                stdout=self.log, stderr=self.log, process_group=0,
                preexec_fn=die_with_parent(signal.SIGKILL),
            )  # fmt: skip

    def signal(self, signum: int, *kinds: str) -> None:
        """Send a signal to whole process groups, to simulate a crashed or frozen host."""
        for kind in kinds or list(self.running):
            with suppress(ProcessLookupError):
                os.killpg(self.running[kind].pid, signum)

    def kill(self, *kinds: str) -> None:
        self.signal(signal.SIGKILL, *kinds)
        for kind in kinds or list(self.running):
            self.running.pop(kind).wait(10)

    def close(self) -> None:
        self.kill()
        self.log.close()

    def stop(self, *kinds: str, patience: float = 60) -> dict[str, int]:
        """Stop as systemd does: SIGTERM to each process, and wait; returns their exit codes."""
        chosen = {kind: self.running.pop(kind) for kind in kinds or list(self.running)}
        for process in chosen.values():
            process.terminate()
        return {kind: process.wait(patience) for kind, process in chosen.items()}

    def cut(self) -> None:
        self.network.cut(self.number)

    def join(self) -> None:
        self.network.join(self.number)


class _Database(Postgres):
    """PostgreSQL for the hosts of a network."""

    network: Network

    def prepare(self) -> None:
        super().prepare()
        rules = self.folder / "pg_hba.conf"
        rule = f"host all all {self.network.prefix}.0/24 scram-sha-256\n"
        if rule not in rules.read_text():
            rules.write_text(rules.read_text() + rule)

    def url_of(self, url: str) -> str:
        return url.replace("127.0.0.1", self.network.address)


class _Broker(Valkey):
    network: Network

    def _config(self, port: int) -> str:
        own = super()._config(port)
        return own.replace("bind 127.0.0.1", f"bind 127.0.0.1 {self.network.address}")

    @property
    def url(self) -> str:
        return super().url.replace("127.0.0.1", self.network.address)


@dataclass
class Shared:
    """The servers that the hosts share, and the hosts' settings for them."""

    database: _Database
    broker: _Broker
    files: s3.S3Server
    model: stub_model.StubModel
    environ: dict[str, str]
    owner_environ: dict[str, str]

    def manage(self, *command: str, root: Path = ROOT, **environ: str) -> str:
        """Run a `manage.py` command with the database role that owns the tables."""
        done = subprocess.run(
            [python_of(root), "manage.py", *command], cwd=root, capture_output=True, text=True,
            env=self.environ | self.owner_environ | environ, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def shared_servers(
    network: Network, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shared]:
    listens = f"127.0.0.1,{network.address}"
    monkeypatch.setitem(postgres.POSTGRES_SETTINGS, "listen_addresses", listens)
    monkeypatch.setattr(_Database, "network", network, raising=False)
    monkeypatch.setattr(_Broker, "network", network, raising=False)
    folder.mkdir()
    folder.chmod(0o711)
    database, broker = _Database(folder), _Broker(folder)
    with ExitStack() as stack:
        for server in (database, broker):
            stack.callback(server.stop)
            server.start()
        files = stack.enter_context(s3.running(network.address))
        model = stack.enter_context(stub_model.running(address=network.address))
        environ = _base() | files.environ | {
            "DATABASE_URL": database.url_of(database.application_url),
            "REDIS_URL": broker.url,
            "LLM_BASE_URL": model.base_url, "LLM_MODEL": "stub", "LLM_API_KEY": "stub",
            "SECRET_KEY": "drill" * 12, "ALLOWED_HOSTS": "localhost",
            "TRUSTED_PROXIES": network.address, "RATE_LIMIT_SCALE": "1000",
            "WEBHOOK_RETRY_SCALE": "1000", "JOB_LEASE_SECONDS": "5",
        }  # fmt: skip
        owner = {"DATABASE_OWNER_URL": database.url_of(database.url)}
        yield Shared(database, broker, files, model, environ, owner)


def _base() -> dict[str, str]:
    """A host's environment besides its settings, without the variables of the drill itself."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    return kept | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "LC_ALL": "C.UTF-8"}
