"""A real streaming replica: reports read it, notice its lag, and work without it."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from drills.platform import Platform, free_port, wait_until
from local import postgres as local_postgres

pytestmark = pytest.mark.timeout(900)
SEARCH, EXPORT = "/report/adhoc/search", "/report/adhoc/export"
PASSWORD = "0123456789abcdef"  # of the application's role, known before the first start
MAX_LAG = 6
READS_PRIMARY = "reports use the primary database"


class Replica:
    """A standby of a platform's embedded PostgreSQL, run by the same system account."""

    def __init__(self, platform: Platform, port: int) -> None:
        self.port, self.folder = port, platform.data / "replica"
        password = (platform.data / "postgres.password").read_text().strip()
        self._owner = f"postgresql://chatplatform:{password}@127.0.0.1:%s/chatplatform"
        urls = (platform.data / "urls").read_text().splitlines()
        address = dict(line.split("=", 1) for line in urls)["DATABASE_URL"]
        primary = psycopg.conninfo.conninfo_to_dict(address)["port"]
        cluster = platform.data / "postgres"
        self._account = local_postgres._postgres_account(cluster)
        self._bin = local_postgres._postgres_bin(platform.data, self._account)
        with (cluster / "pg_hba.conf").open("a") as rules:
            rules.write("host replication all 127.0.0.1/32 scram-sha-256\n")
        self._execute(int(str(primary)), "SELECT pg_reload_conf()")
        self.folder.mkdir(mode=0o700)
        if self._account:
            os.chown(self.folder, self._account.uid, self._account.gid)
        source = self._owner % primary
        copy = self._run("pg_basebackup", "-d", source, "-R", "-X", "stream", "-c", "fast")
        assert copy.wait(120) == 0
        self.start()

    def start(self) -> None:
        self.process = self._run(
            "postgres", "-c", f"port={self.port}", "-c", "listen_addresses=127.0.0.1",
            "-c", "unix_socket_directories=", "-c", "max_connections=200",
        )  # fmt: skip

    def _run(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        account = self._account
        return subprocess.Popen(
            [str(self._bin / program), *options, "-D", "/proc/self/cwd"],
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            process_group=0,
        )

    def _execute(self, port: int, statement: str) -> None:
        with psycopg.connect(self._owner % port, autocommit=True) as connection:
            connection.execute(statement)

    def pause(self) -> None:
        self._execute(self.port, "SELECT pg_wal_replay_pause()")

    def resume(self) -> None:
        self._execute(self.port, "SELECT pg_wal_replay_resume()")

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)


@contextmanager
def running(folder: Path, port: int) -> Iterator[Platform]:
    data = folder / "data"
    data.mkdir(mode=0o755)
    known = data / "postgres.application-password"
    known.touch(mode=0o600)
    known.write_text(PASSWORD)
    with Platform(
        folder,
        DATABASE_REPLICA_URL=f"postgresql://chatplatform_app:{PASSWORD}@127.0.0.1:{port}/chatplatform",
        REPLICA_MAX_LAG_SECONDS=str(MAX_LAG),
        EXPORT_INLINE_LIMIT="1",
    ) as platform:
        yield platform


class Reader:
    """The demo's owner, who reads reports."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        password = (platform.data / "keys" / "demo_password").read_text()
        self.headers = platform.login("owner@demo.example", password)
        self.key = {"API-KEY": (platform.data / "keys" / "demo_api_key").read_text()}

    def chats(self) -> int:
        found = self.platform.call("POST", SEARCH, self.headers, json={})
        return int(found["totals"]["chats"])

    def health(self) -> str:
        parts = self.platform.client.get("/health").json()["parts"]
        return str(next(part["detail"] for part in parts if part["name"] == "replica"))

    def open_chat(self) -> Any:
        return self.platform.call("POST", "/ai/client/chat", self.key, json={})

    def export(self) -> int:
        """The number of lines of a report that a worker writes."""
        body = {"format": "csv"}
        export = self.platform.call("POST", EXPORT, self.headers, json=body)
        path = f"{EXPORT}/{export['id']}"

        def is_written() -> bool:
            return self.platform.client.get(path, headers=self.headers).status_code == 200

        wait_until(is_written, what="the export", seconds=120)
        reply = self.platform.client.get(path, headers=self.headers)
        return reply.text.count("\n") - 1


def test_reports_read_the_replica_and_do_without_it(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port) as platform:
        reader = Reader(platform)
        assert READS_PRIMARY in reader.health()
        before = reader.chats()
        replica = Replica(platform, port)
        try:
            wait_until(lambda: READS_PRIMARY not in reader.health(), what="a replica in step")
            time.sleep(6)  # until each process has found it
            # Make a change to replay, since the lag is measured from the last replayed one.
            reader.open_chat()
            before += 1
            wait_until(lambda: reader.chats() == before, what="a chat on the replica")
            replica.pause()
            reader.open_chat()
            seen = [reader.chats() for _ in range(10)]
            assert set(seen) == {before}, "the replica does not know the new chat yet"
            wait_until(lambda: reader.chats() == before + 1, what="reports of the primary")
            wait_until(lambda: READS_PRIMARY in reader.health(), what="the lag in the health")
            print(f"behind: {reader.health()}")
            replica.resume()
            wait_until(lambda: READS_PRIMARY not in reader.health(), what="in step again")
            time.sleep(6)
            assert reader.chats() == reader.export() == before + 1
            replica.kill()
            assert {reader.chats() for _ in range(20)} == {before + 1}
            assert reader.export() == before + 1
            assert READS_PRIMARY in reader.health()
        finally:
            if replica.process.poll() is None:
                replica.kill()
