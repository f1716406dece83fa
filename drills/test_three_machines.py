"""Three hosts serve one site, and each is killed, frozen and cut off under load.

Two of each process are spread over the hosts, behind a real nginx, with one PostgreSQL, one Valkey
and one S3 store.
"""

import os
import signal
import time
from pathlib import Path
from shutil import which

import httpx2
import pytest

from drills.hosts import Host
from drills.load import QUESTION, Load
from drills.outcome import Outcome
from drills.several_hosts import World, world

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(which("nginx") is None, reason="needs nginx"),
]
# Longer than the leases of jobs (5 s), so that another worker takes the jobs over.
SECONDS = float(os.environ.get("DRILL_FAULT_SECONDS", "8"))
NOTICED = 25.0  # seconds in which TCP notices that the other end is gone (settings: 20)
SPREAD = (
    ("web", "worker", "relay", "beat"),
    ("web", "worker-webhook", "worker-bulk", "relay"),
    ("worker", "worker-webhook", "worker-bulk", "beat"),
)


def move_a_file(made: World, chat: str) -> None:
    """Upload a file through one host, and download it from the other."""
    one, other = made.web_hosts()
    for came, goes in ((one, other), (other, one)):
        data = b"%PDF-1.4\n" + os.urandom(200_000)
        reply = made.direct.post(
            f"{came.url}/ai/client/chat/files/{chat}/", headers=made.site.key,
            data={"reply": "none"}, files={"files": ("bill.pdf", data, "application/pdf")},
        )  # fmt: skip
        assert reply.is_success, reply.text
        (file,) = (part for part in reply.json()["message"]["content"] if part["url"])
        back = made.direct.get(goes.url + httpx2.URL(file["url"]).raw_path.decode())
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


# Each fault on each host; the first three already cover all kinds and all hosts.
FAULTS = [(act, (turn + at) % 3) for turn in range(3) for at, act in enumerate((kill, freeze, cut))]


def test_each_host_is_killed_frozen_and_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path, monkeypatch, SPREAD) as made:
        made.wait_until_up()
        made.shared.model.play("slow:0.5")  # answers are under way at every moment
        files = made.site.open_chat()
        load = Load(made.site, made.receiver)
        outcome = Outcome(made.site, load, made.receiver)
        load.start()
        try:
            with outcome.during("nothing"):
                time.sleep(SECONDS)
                move_a_file(made, files)
            for act, number in FAULTS[: int(os.environ.get("DRILL_FAULTS", "9"))]:
                host = made.hosts[number]
                with outcome.during(f"{act.__name__} {host.name} ({', '.join(host.parts)})"):
                    act(host)
                    made.wait_until_up()
                    time.sleep(2)
                    move_a_file(made, files)
            outcome.check()
        finally:
            load.stop()
        outcome.report()


def test_a_host_that_missed_the_brokers_restart_works_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut off during the restart, so its connections still look open."""
    spread = (
        ("web", "worker", "worker-webhook", "worker-bulk", "relay", "beat"),
        ("web", "worker"),
    )
    with world(tmp_path, monkeypatch, spread) as made:
        made.wait_until_up()
        first, second = made.hosts
        second.cut()
        made.shared.broker.stop()
        made.shared.broker.start()
        second.join()
        time.sleep(NOTICED)
        first.kill("worker")
        body = {"text": QUESTION, "reply": "wait"}
        chat = f"/ai/client/chat/{made.site.open_chat()}"
        began = time.monotonic()
        turn = made.site.post(chat, made.site.key, body)
        assert turn["status"] == "answered", "its worker takes no jobs"
        print(f"\nanswered by {second.name} after {time.monotonic() - began:.1f} s")
