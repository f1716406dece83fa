"""A real web process for what the test client cannot do, such as streams and closed connections."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import TransactionTestCase

from chatplatform.testing.documented import BREACHES_FILE, IDLE_PATH


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def database_url() -> str:
    db = connection.settings_dict
    host = quote(str(db["HOST"]), safe="")
    password = f":{quote(db['PASSWORD'])}" if db["PASSWORD"] else ""
    return f"postgres://{db['USER']}{password}@{host}:{db['PORT']}/{db['NAME']}"


@pytest.fixture(scope="session")
def outside_ports() -> list[int]:
    """Ports for servers of tests that the shared web process may call; each test uses one."""
    return [free_port() for _ in range(8)]


@pytest.fixture(scope="session")
def site_port(outside_ports: list[int], django_db_setup: None) -> Iterator[int]:
    """The port of the web process that tests share: starting another takes seconds."""
    port = free_port()
    with web(
        port=port,
        DJANGO_SETTINGS_MODULE="chatplatform.tests.cached_site",
        PUBLIC_URL=f"http://127.0.0.1:{port}",
        EGRESS_ALLOW=",".join(f"127.0.0.1:{outside}" for outside in outside_ports),
    ):
        yield port


@pytest.fixture
def web_port(site_port: int, transactional_db: TransactionTestCase) -> Iterator[int]:
    """The port of the shared web process, which has finished all requests when the test ends."""
    yield site_port
    wait_until_idle(site_port)


@contextmanager
def web(port: int | None = None, **environment: str) -> Iterator[int]:
    """A web process on this test's database and broker; yields its port."""
    with web_process(port, **environment) as (port, _):
        yield port


@contextmanager
def web_process(
    port: int | None = None, **environment: str
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Like `web`, but also yields the process, for a test that stops it itself."""
    port = port or free_port()
    command = [
        sys.executable, "-m", "chatplatform.web.serve",
        "chatplatform.tests.checked_asgi:application",
        "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
    ]  # fmt: skip
    breaches = Path(tempfile.mkstemp(prefix="breaches-")[1])
    env = {
        **os.environ,
        BREACHES_FILE: str(breaches),
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings",
        "DATABASE_URL": database_url(),
        "REDIS_URL": django_settings.REDIS_URL,
        "SECRET_KEY": django_settings.SECRET_KEY,
        **environment,
    }
    process = subprocess.Popen(command, env=env, start_new_session=True)
    try:
        _wait_for(port, process)
        yield port, process
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            # Kill the group: an open stream may keep its worker alive.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(5)
    lines = sorted(set(breaches.read_text().splitlines()))
    breaches.unlink()
    assert not lines, "\n".join(lines)


def wait_until_idle(port: int) -> None:
    """Wait until all requests except streams are finished, before the tables are emptied."""
    with urlopen(f"http://127.0.0.1:{port}{IDLE_PATH}", timeout=60) as idle:
        assert idle.status == 204


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        assert process.poll() is None, "the web process ended"
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the web process did not start to listen")
