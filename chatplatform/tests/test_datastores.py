"""The embedded servers as real processes: started, killed, restarted, stopped."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from local.data_dir import make_data_dir
from local.datastore_base import Server
from local.os_processes import processes_marked
from local.postgres import Postgres
from local.valkey import Valkey

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]


def run_exec(*command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    outside = {key: value for key, value in os.environ.items() if not key.endswith("_URL")}
    return subprocess.run(
        [sys.executable, "-m", "local.datastores", "exec", "--", *command],
        cwd=ROOT,
        env=outside | environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    # Other accounts cannot read pytest's folder: the hardest case for a run as root.
    return make_data_dir(tmp_path / "a folder" / "data")


@pytest.fixture
def postgres(data_dir: Path) -> Iterator[Postgres]:
    server = Postgres(data_dir)
    server.start()
    yield server
    server.stop()


def pid_of(server: Server) -> int:
    assert server.process is not None
    return server.process.pid


def test_rows_and_port_survive_a_kill(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    url = postgres.url
    os.kill(pid_of(postgres), signal.SIGKILL)
    postgres.start()
    assert postgres.url == url
    with psycopg.connect(postgres.url) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_another_run_replaces_an_orphaned_server(postgres: Postgres) -> None:
    second = Postgres(postgres.data_dir)
    second.start()
    assert postgres.is_dead()
    assert not second.is_dead()
    second.stop()


def test_stop_leaves_no_process(postgres: Postgres) -> None:
    marker = postgres.marker
    assert processes_marked(marker, "postgres")
    postgres.stop()
    assert not processes_marked(marker, "postgres")


def test_the_password_is_required_and_private(postgres: Postgres) -> None:
    password_file = postgres.data_dir / "postgres.password"
    assert password_file.stat().st_mode & 0o777 == 0o600
    wrong = postgres.url.replace(password_file.read_text(), "wrong")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)


def test_a_lost_password_is_replaced(data_dir: Path) -> None:
    server = Postgres(data_dir, throwaway=True)
    server.start()
    server.stop()
    password_file = data_dir / "postgres.password"
    lost = password_file.read_text()
    password_file.unlink()
    server.start()
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    server.stop()
    assert password_file.read_text() != lost


def test_valkey_data_survives_a_kill(data_dir: Path) -> None:
    server = Valkey(data_dir)
    server.start()
    with redis.Redis.from_url(server.url) as client:
        client.set("word", "stored")
        # Valkey writes to disk once a second: wait until it has.
        assert client.execute_command("WAITAOF", 1, 0, 30_000) == [1, 0]
    os.kill(pid_of(server), signal.SIGKILL)
    server.start()
    with redis.Redis.from_url(server.url) as client:
        assert client.get("word") == b"stored"
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    server.stop()


def test_exec_gives_servers_and_the_exit_code_and_cleans_up() -> None:
    show = (
        "import os; print(os.environ['DATABASE_URL'], os.environ['REDIS_URL']); raise SystemExit(7)"
    )
    completed = run_exec(sys.executable, "-c", show)
    assert completed.returncode == 7, completed.stderr
    database_url, redis_url = completed.stdout.split()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(database_url, connect_timeout=2)
    assert redis_url.startswith("redis://:")


def test_exec_uses_servers_that_the_environment_names() -> None:
    urls = {"DATABASE_URL": "postgresql://one", "REDIS_URL": "redis://two"}
    completed = run_exec("sh", "-c", 'echo "$DATABASE_URL $REDIS_URL"', **urls)
    assert completed.stdout == "postgresql://one redis://two\n"


def test_an_unknown_command_is_reported_in_one_sentence() -> None:
    completed = run_exec("no-such-command", DATABASE_URL="a", REDIS_URL="b")
    assert completed.returncode == 1
    assert completed.stderr == "Cannot run no-such-command: No such file or directory.\n"


def test_no_other_account_enters_the_data_folder(tmp_path: Path, data_dir: Path) -> None:
    earlier, shared = tmp_path / "earlier", tmp_path / "shared"
    for folder, mode in ((earlier, 0o711), (shared, 0o750)):
        folder.mkdir()
        folder.chmod(mode)
        make_data_dir(folder)
    modes = [folder.stat().st_mode & 0o777 for folder in (data_dir, earlier, shared)]
    assert modes == [0o700, 0o700, 0o750]
