"""A real web process for what the test client cannot do, such as streams and closed connections."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

from django.conf import settings as django_settings
from django.db import connection


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


@contextmanager
def web(**environment: str) -> Iterator[int]:
    """A web process on this test's database and broker; yields its port."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "asgi", "--host", "127.0.0.1",
        "--port", str(port), "--workers", "1", "--no-ws", "chatplatform.asgi:application",
    ]  # fmt: skip
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings",
        "DATABASE_URL": database_url(),
        "REDIS_URL": django_settings.REDIS_URL,
        "SECRET_KEY": django_settings.SECRET_KEY,
        **environment,
    }
    process = subprocess.Popen(command, env=env)
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        assert process.poll() is None, "the web process ended"
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the web process did not start to listen")
