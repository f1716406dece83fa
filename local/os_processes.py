"""Starts processes that end when this process ends, finds them again, and waits for them."""

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ServerError(Exception):
    """An error whose message explains it, in one sentence, to the person at the terminal."""


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int


def exit_code(run: Callable[[], int], data_dir: object) -> int:
    """What `run` returns; 1 after an error, which is printed in one sentence."""
    try:
        return run()
    except ServerError as error:
        sentence = str(error)
    except OSError as error:
        sentence = f"Cannot start the servers: {error}."
        if error.errno == errno.ENOSPC:
            sentence = f"The disk that holds {data_dir} is full: free some space and start again."
    sys.stderr.write(sentence + "\n")
    return 1


def _load_libc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


# Loaded before any fork, since a forked child process must not run the loader.
_LIBC = _load_libc()


def die_with_parent(signum: int) -> Callable[[], None]:
    """A `preexec_fn` for Popen: the kernel signals the child process when the parent thread ends.

    It must run after setuid, which clears the setting; Popen does it in this order.
    """
    parent = os.getpid()

    def prepare() -> None:
        if _LIBC is None:
            return
        _LIBC.prctl(PR_SET_PDEATHSIG, signum)
        if os.getppid() != parent:  # the parent ended before the call
            os._exit(1)

    return prepare


def free_port(preferred: int = 0) -> int:
    """A free port: the preferred one if it is free, else any."""
    with socket.socket() as probe, suppress(OSError, OverflowError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", preferred))
        return int(probe.getsockname()[1])
    return free_port()


def can_reach(account: Account, path: Path) -> bool:
    """Whether `account` may run or enter `path`. A child process tries it as that account."""
    pid = os.fork()
    if pid == 0:
        allowed = False
        with suppress(OSError):
            os.setgroups([])
            os.setgid(account.gid)
            os.setuid(account.uid)
            allowed = os.access(path, os.R_OK | os.X_OK)
        os._exit(0 if allowed else 1)
    return os.waitpid(pid, 0)[1] == 0


def processes_marked(marker: str, program: str) -> list[int]:
    """The ids of running processes of `program` whose title contains the marker.

    Root in a container cannot read cwd and exe of other accounts' processes in /proc, but it can
    read their titles.
    """
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "comm").read_text().strip() != program:
                continue
            if marker.encode() in (folder / "cmdline").read_bytes():
                pids.append(int(folder.name))
    return pids


def send(pid: int, signum: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signum)


def wait_until(condition: Callable[[], bool], *, secs: float) -> bool:
    deadline = time.monotonic() + secs
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def run_command(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run a command like a shell: forward signals to it, and return its exit code."""
    try:
        process = subprocess.Popen(
            command, env=dict(environ), preexec_fn=die_with_parent(signal.SIGTERM)
        )
    except OSError as error:
        raise ServerError(f"Cannot run {command[0]}: {error.strerror}.") from None

    def forward(signum: int, _frame: FrameType | None) -> None:
        # A terminal sends Ctrl-C to the whole group, so the command already has it.
        if signum != signal.SIGINT or not _is_foreground():
            send(process.pid, signum)

    before = {signum: signal.signal(signum, forward) for signum in STOP_SIGNALS}
    try:
        code = process.wait()
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
    return code if code >= 0 else 128 - code


def _is_foreground() -> bool:
    with suppress(OSError):
        return os.tcgetpgrp(0) == os.getpgrp()
    return False
