"""Processes that are kept alive, and the lines that they print."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from chatplatform.local.parts import Part
from chatplatform.local.processes import die_with_parent

ROOT = Path(__file__).resolve().parents[2]
FIRST_DELAY_SECS, LONGEST_DELAY_SECS, STABLE_SECS = 0.2, 10.0, 30.0
COLOURS = {
    "web": 32,
    "worker": 36,
    "worker-webhook": 31,
    "worker-bulk": 34,
    "beat": 35,
    "relay": 33,
}


class Output:
    """Prints the lines of all processes, one at a time, each with the name of its process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_tty = sys.stdout.isatty()

    def line(self, text: str, *, name: str = "run") -> None:
        label = f"{name:<14} | "
        if self._is_tty:
            label = f"\033[{COLOURS.get(name, 1)}m{label}\033[0m"
        # A reader that has gone (`make run | head`) must not end the supervisor.
        with self._lock, suppress(BrokenPipeError):
            sys.stdout.write(f"{label}{text}\n")
            sys.stdout.flush()

    def copy(self, popen: subprocess.Popen[bytes], name: str) -> None:
        """Print the lines of a process until it closes its output."""
        assert popen.stdout is not None
        with popen.stdout as lines:
            for line in lines:
                self.line(line.decode(errors="replace").rstrip(), name=name)


class Delay:
    """0.2 s, doubling to 10 s; back to 0.2 s after 30 s of life."""

    def __init__(self) -> None:
        self._secs = FIRST_DELAY_SECS
        self._started_at = self._due_at = time.monotonic()

    def started(self) -> None:
        self._started_at = time.monotonic()

    def died(self) -> float:
        now = time.monotonic()
        if now - self._started_at > STABLE_SECS:
            self._secs = FIRST_DELAY_SECS
        delay, self._secs = self._secs, min(self._secs * 2, LONGEST_DELAY_SECS)
        self._due_at = now + delay
        return delay

    def is_over(self) -> bool:
        return time.monotonic() >= self._due_at


class Process:
    """A part that is kept alive: restarted with a growing delay, stopped with its whole group."""

    def __init__(self, part: Part, environ: Mapping[str, str], output: Output) -> None:
        self.part = part
        self._environ = dict(environ) | dict(part.environ)
        self._output = output
        self._popen: subprocess.Popen[bytes] | None = None
        self._delay = Delay()

    def start(self) -> None:
        self._popen = subprocess.Popen(
            self.part.command,
            cwd=ROOT,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )
        self._delay.started()
        threading.Thread(
            target=self._output.copy, args=(self._popen, self.part.name), daemon=True
        ).start()

    def watch(self) -> None:
        """Start it again if it has died and its delay is over."""
        if self._popen is not None and self._popen.poll() is not None:
            self.signal(signal.SIGKILL)  # children that outlived it would hold its port
            delay = self._delay.died()
            ended = f"ended with {self._popen.returncode}"
            self._output.line(f"{self.part.name} {ended}: starting it again in {delay:.1f} s")
            self._popen = None
        if self._popen is None and self._delay.is_over():
            self.start()

    def signal(self, signum: signal.Signals) -> None:
        if self._popen is not None:
            with suppress(ProcessLookupError, PermissionError):
                if signum == signal.SIGKILL:
                    os.killpg(self._popen.pid, signum)
                elif self._popen.poll() is None:
                    # To the leader alone: it stops its children in its own order.
                    os.kill(self._popen.pid, signum)

    def has_ended(self) -> bool:
        return self._popen is None or self._popen.poll() is not None
