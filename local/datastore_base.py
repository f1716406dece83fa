"""What the embedded PostgreSQL and Valkey have in common."""

import errno
import importlib.util
import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

from local.os_processes import (
    ServerError,
    free_port,
    processes_marked,
    send,
    wait_until,
)

RETRY_SECS = 15  # a killed server's lock file and socket may remain for some seconds
READY_SECS = 120  # leaves time for a long crash recovery
LOG_LIMIT_BYTES = 20 * 1024 * 1024
PASSING_FAILURES = ("lock file", "pre-existing shared memory block", "starting up")
PORT_FAILURES = ("Address already in use", "could not bind", "Failed listening on port")


class Server(ABC):
    """A server process that can be started, with retries, watched, and stopped."""

    name: str
    program: str
    soft_stop: signal.Signals

    def __init__(self, data_dir: Path, *, throwaway: bool = False) -> None:
        self.data_dir = data_dir.resolve()
        self.folder = self.data_dir / self.name
        self.throwaway = throwaway
        self.port: int | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self._log = self.data_dir / "logs" / f"{self.name}.log"
        self._log_offset = 0

    @property
    def marker(self) -> str:
        """Marks this folder's server processes in their titles; does not depend on the path."""
        status = self.folder.stat()
        return f"chatplatform-{status.st_dev:x}-{status.st_ino:x}."

    def start(self) -> None:
        """Start the server, and wait until it accepts connections; a restart keeps the port."""
        self.prepare()
        deadline = time.monotonic() + RETRY_SECS
        while True:
            self.stop_leftovers()
            self._reap()
            port = self.port or free_port()
            self.process = self.launch(port)
            if self._wait_ready(port):
                self.port = port
                return
            reason = self._new_log_lines()
            passing = any(words in reason for words in PASSING_FAILURES + PORT_FAILURES)
            if not passing or time.monotonic() > deadline:
                raise ServerError(self._sentence(reason))
            time.sleep(0.3)

    def _reap(self) -> None:
        """Collect the exit code of an ended process, which would otherwise stay a zombie."""
        if self.process is not None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    def is_dead(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def stop(self, *, secs: float = 10) -> None:
        """Stop the server cleanly, or by force after `secs`. Both are safe for the data."""
        process = self.process
        if process is None:
            return
        for signum, patience in ((self.soft_stop, secs), (signal.SIGQUIT, 2), (signal.SIGKILL, 5)):
            if process.poll() is None:
                send(process.pid, signum)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(patience)
        self.stop_leftovers()
        self.process = None

    def stop_leftovers(self) -> None:
        """Stop servers and backends of a killed run that still use this folder."""
        if not self._leftovers():
            return
        for pid in self._leftovers():
            send(pid, self.soft_stop)
        if not wait_until(lambda: not self._leftovers(), secs=RETRY_SECS):
            for pid in self._leftovers():
                send(pid, signal.SIGKILL)
            wait_until(lambda: not self._leftovers(), secs=5)

    def _leftovers(self) -> list[int]:
        return processes_marked(self.marker, self.program)

    @abstractmethod
    def prepare(self) -> None:
        """Prepare the data folder for a start."""

    @abstractmethod
    def launch(self, port: int) -> subprocess.Popen[bytes]:
        """Start the process on a port."""

    @abstractmethod
    def answers(self, port: int) -> bool:
        """Whether the server accepts connections."""

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for clients."""

    def open_log(self) -> int:
        self._log.parent.mkdir(exist_ok=True)
        if self._log.exists() and self._log.stat().st_size > LOG_LIMIT_BYTES:
            self._log.replace(self._log.with_suffix(".log.old"))
        fd = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._log_offset = os.fstat(fd).st_size
        return fd

    def _wait_ready(self, port: int) -> bool:
        if not wait_until(lambda: self.is_dead() or self.answers(port), secs=READY_SECS):
            self.stop()
            raise ServerError(f"{self.name} was not ready after {READY_SECS} s; see {self._log}.")
        return not self.is_dead()

    def _new_log_lines(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._log_offset)
            return log.read()[-4000:].decode(errors="replace")

    def _sentence(self, reason: str) -> str:
        if os.strerror(errno.ENOSPC) in reason:
            return f"The disk that holds {self.data_dir} is full: free some space and start again."
        return f"{self.name} did not start: {_reason_line(reason)} (see {self._log})."


def _reason_line(text: str) -> str:
    """The log line with the reason of a failure, without its prefix."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for word in ("PANIC:", "FATAL:", "error:", "Error", "#"):
        for line in lines:
            if word in line:
                return line.split(word, 1)[1].strip(" .:") or line
    return lines[-1].rstrip(".") if lines else "it printed nothing"


def wheel_folder(name: str, wheel: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ServerError(f"The package {wheel} is not installed: run `make run` or `make test`.")
    return Path(spec.submodule_search_locations[0]).resolve()
