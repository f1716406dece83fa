"""Deploy a release, host by host, under load, and roll it back, without anybody noticing.

The previous version is the version before the newest migration, or the commit DRILL_OLD_VERSION. If
no database from before the newest migration can be migrated, it is the newest commit.
Processes are stopped with SIGTERM; nginx is not informed, and has to notice by itself.
"""

import collections
import http.client
import os
import ssl
import threading
import time
from contextlib import closing
from pathlib import Path
from shutil import which

import pytest

from drills.hosts import Host
from drills.load import Load
from drills.nginx import trust
from drills.outcome import Outcome
from drills.platform import ROOT
from drills.releases import (
    checkout,
    migrations,
    newest_migration,
    version_before_a_migration,
)
from drills.several_hosts import World, world

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(which("nginx") is None, reason="needs nginx"),
]
SPREAD = (
    ("web", "worker", "worker-webhook", "relay", "beat"),
    ("web", "worker", "worker-webhook", "worker-bulk", "relay"),
)
KNOCKS_PER_SECOND = 50
DEAD = "from chatplatform.models import Job; print(Job.objects.filter(state='dead').count())"


class Knocking:
    """Many cheap POSTs, which nginx retries elsewhere only if a host refused the connection."""

    def __init__(self, port: int, trusted: ssl.SSLContext) -> None:
        self.answers = collections.Counter[str]()
        self._port, self._trusted = port, trusted
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ends.is_set():
            line = http.client.HTTPSConnection(
                "localhost", self._port, timeout=30, context=self._trusted
            )
            with closing(line):
                self._knock(line)

    def _knock(self, line: http.client.HTTPSConnection) -> None:
        """Send requests until nginx closes the connection, after a thousand of them."""
        while not self._ends.wait(1 / KNOCKS_PER_SECOND):
            line.request("POST", "/ai/client/chat", b"{}", {"Content-Type": "application/json"})
            reply = line.getresponse()
            reply.read()
            self.answers[str(reply.status)] += 1
            if reply.will_close:
                return

    def stop(self) -> None:
        assert self._thread.is_alive(), "a connection broke"
        self._ends.set()
        self._thread.join(60)


def replace(made: World, host: Host, root: Path) -> float:
    """Stop a host's processes as systemd does, and start those of the version in `root`.

    Returns how long the stop took.
    """
    began = time.monotonic()
    codes = host.stop()
    took = time.monotonic() - began
    print(f"{host.name} stopped after {took:.1f} s: {codes}")
    host.root = root
    host.start()
    made.wait_until_up()
    return took


def test_host_by_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_older = newest_migration() or os.environ.get("DRILL_OLD_VERSION")
    folder = tmp_path / "before"
    before = version_before_a_migration(folder) if has_older else checkout("HEAD", folder)
    with world(tmp_path, monkeypatch, SPREAD, root=before) as made:
        made.wait_until_up()
        made.shared.model.play("slow:1")  # jobs are under way at every moment
        load = Load(made.site, made.receiver, patience=20)  # no call should be given up
        outcome = Outcome(made.site, load, made.receiver)
        port = made.site.client.base_url.port
        assert port
        knocking = Knocking(port, trust(tmp_path))
        load.start()
        try:
            with outcome.during("the migrations"):
                applied = made.shared.manage("migrate")
                assert ("Applying" in applied) == (migrations(before) != migrations(ROOT)), applied
                time.sleep(3)
            for name, root in (
                ("the new version", ROOT),
                ("the same version again", ROOT),
                ("a rollback", before),
            ):
                for host in made.hosts:
                    with outcome.during(f"{name} on {host.name}"):
                        replace(made, host, root)
                        # As in docs/operations.md: until then nginx may use only the next host.
                        time.sleep(8)
            outcome.check()
        finally:
            load.stop()
            knocking.stop()
        outcome.report()
        print(f"knocks: {dict(knocking.answers)}")
        assert set(knocking.answers) == {"401"}
        assert [call for call in load.calls if call.refused] == []
        assert made.shared.manage("shell", "-c", DEAD).split()[-1] == "0"
