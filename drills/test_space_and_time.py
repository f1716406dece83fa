"""Accepted messages are answered once despite a full volume, wrong clocks or a migration.

Customers write while the database's volume is full, while the hosts' clocks differ, and while a
migration is applied under the previous version.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from drills.platform import (
    ROOT,
    DemoShop,
    command_of,
    demo_shop,
    environ_of,
    free_port,
    wait_until,
)
from drills.releases import version_before_a_migration
from drills.test_faults_are_survived import QUESTION, first_success_after, traffic
from local.postgres import DATABASE

pytestmark = pytest.mark.timeout(900)
VOLUME_MB = 500
FAKE_TIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
MINUTES = 10


@contextmanager
def small_volume(folder: Path) -> Iterator[Path]:
    """A small in-memory volume for all of the platform's data."""
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={VOLUME_MB}m", "drill", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"no volume can be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(volume: Path) -> Path:
    """Fill a volume completely, as somebody else's files would."""
    ballast = volume / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            with suppress(OSError):  # no space is left for a piece of this size
                while file.write(bytes(size)):
                    pass
    assert not os.statvfs(volume).f_bavail
    return ballast


def test_the_volume_of_the_database_is_full(tmp_path: Path) -> None:
    # The platform's own log is on this volume, too.
    with small_volume(tmp_path) as volume, demo_shop(volume, JOB_LEASE_SECONDS="5") as shop:
        kept = shop.open_chat()
        shop.ask(kept, text=QUESTION, reply="wait")
        before, long = shop.history(kept), shop.open_chat()
        with traffic(shop) as going:
            ballast = fill(volume)
            # The space that is allocated already holds many short messages.
            wait_until(lambda: _is_refused(shop, long), what="a message is refused", seconds=120)
            wait_until(lambda: 503 in going.failed(), what="a short one, too", seconds=120)
            time.sleep(5)
            assert shop.history(kept) == before, "what is stored can be read meanwhile"
            ballast.unlink()
            recovered = first_success_after(going, time.monotonic())
        print(f"\na full volume: {going.summary()}; takes messages again after {recovered:.1f} s")
        assert set(going.failed()) == {503}
        assert shop.history(kept) == before


def _is_refused(shop: DemoShop, chat: str) -> bool:
    """Whether one of 100 long messages that need no reply is refused."""
    for _ in range(100):
        body = {"text": os.urandom(3_900).hex(), "reply": "none"}
        reply = shop.client.post(f"/ai/client/chat/{chat}", json=body, headers=shop.key)
        if reply.status_code == 503:
            return True
        assert reply.status_code == 200
    return False


@contextmanager
def elsewhere(shop: DemoShop, word: str, *, minutes: int) -> Iterator[int]:
    """A further process like the shop's `word`, on a host whose clock is wrong; yields its port."""
    pid, port = next(shop.processes(word)), free_port()
    command = [str(port) if part == str(shop.port) else part for part in command_of(pid)]
    command = [part.replace("@%h", f"@clock{minutes}") for part in command]
    environ = environ_of(pid) | {
        "LD_PRELOAD": str(FAKE_TIME),
        "FAKETIME": f"{minutes:+d}m",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=shop.log, stderr=shop.log)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(40)


def test_clocks_differ_by_minutes(tmp_path: Path) -> None:
    if not FAKE_TIME.exists():
        pytest.skip("the package faketime is not installed")
    with (
        demo_shop(tmp_path) as shop,
        elsewhere(shop, "web.serve", minutes=MINUTES) as ahead,
        elsewhere(shop, "worker@", minutes=-MINUTES),
        httpx2.Client(base_url=f"http://127.0.0.1:{ahead}", timeout=90) as web,
    ):
        wait_until(lambda: web.get("/health").status_code == 200, what="the web process ahead")
        owner = shop.owner()
        form = {"grant_type": "password", "username": "owner@demo.example"}
        form["password"] = (shop.data / "keys" / "demo_password").read_text()
        issued = web.post("/identity/token2", data=form).json()["access_token"]
        # Each accepts tokens that the other issued.
        shop.call("GET", "/identity/users/me", {"Authorization": f"Bearer {issued}"})
        assert web.get("/identity/users/me", headers=owner).status_code == 200
        with traffic(shop) as going:
            chat = shop.open_chat()
            for number in range(20):
                body = {"text": QUESTION, "client_message_id": f"n-{number}", "reply": "wait"}
                host = web if number % 2 else shop.client
                reply = host.post(f"/ai/client/chat/{chat}", json=body, headers=shop.key)
                assert reply.status_code == 200
                assert reply.json()["status"] == "answered"
            time.sleep(5)
        print(f"\nclocks that differ by {MINUTES} minutes: {going.summary()}")
        assert going.failed() == []
        stored = shop.history(chat)
        assert [m["seq"] for m in stored] == list(range(1, len(stored) + 1))
        assert sum(m["in_reply_to"] is not None for m in stored) == 20
        times = [datetime.fromisoformat(m["created_at"]) for m in stored]
        assert max(times) - min(times) > timedelta(minutes=MINUTES), "the clocks were right"


def test_a_migration_is_applied_while_the_version_before_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = version_before_a_migration(tmp_path / "before")
    monkeypatch.setattr("drills.platform.ROOT", before)
    with demo_shop(tmp_path) as shop, traffic(shop) as going:
        applied = migrate(shop)
        assert "Applying" in applied, applied
        time.sleep(10)
    names = ", ".join(line.split()[1] for line in applied.splitlines() if "Applying" in line)
    print(f"\n{names} under the version before: {going.summary()}")
    assert going.failed() == []


def migrate(shop: DemoShop) -> str:
    """Apply this version's migrations to the database of a running platform."""
    environ = environ_of(next(shop.processes("manage.py relay")))
    address = urlsplit(environ["DATABASE_URL"])
    password = (shop.data / "postgres.password").read_text().strip()
    owner = f"{DATABASE}:{password}@{address.hostname}:{address.port}"
    environ["DATABASE_OWNER_URL"] = address._replace(netloc=owner).geturl()
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"], cwd=ROOT, env=environ,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
