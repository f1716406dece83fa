"""Runs child processes that read untrusted input.

They get no secrets, and their time, memory and output are limited.
"""

import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Enough for the longest extracted text as JSON.
MAX_OUTPUT_BYTES = 16 * 2**20
_PROJECT = Path(__file__).resolve().parents[2]


class TimedOut(Exception):
    """The child process did not end in time."""


class OutputTooLarge(Exception):
    """The child process printed more than `MAX_OUTPUT_BYTES`."""


@dataclass(frozen=True)
class Finished:
    """The output of a child process, and its exit status.

    A negative status is the negated number of the signal that killed the process.
    """

    output: bytes
    status: int

    @property
    def timed_out(self) -> bool:
        """Whether the child process was killed because it reached its limit of CPU time."""
        return self.status == -signal.SIGXCPU


def run(
    module: str, *arguments: str, timeout_seconds: float, stdin: IO[bytes] | None = None
) -> Finished:
    """Run `python -m module arguments` in a process group that is killed before this returns.

    Raises TimedOut or OutputTooLarge.
    """
    command = [sys.executable, "-B", "-m", module, *arguments]
    with subprocess.Popen(
        [argument.replace("\x00", "") for argument in command],
        stdin=stdin or subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_PROJECT,
        # The environment contains no secrets. It allows only one thread, since numeric libraries
        # would otherwise reserve address space for each core.
        env={
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        try:
            output = _read_output(child.stdout, deadline=time.monotonic() + timeout_seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
    return Finished(output, child.returncode)


def _read_output(stream: IO[bytes], *, deadline: float) -> bytes:
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise TimedOut
            block = os.read(stream.fileno(), 65_536)
            if not block:
                return bytes(output)
            output += block
            if len(output) > MAX_OUTPUT_BYTES:
                raise OutputTooLarge


def limit_resources(memory_mb: int, cpu_seconds: int) -> None:
    """Limit the memory and CPU time of this process, and forbid writing files."""
    memory = memory_mb * 2**20
    for resource_id, maximum in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(resource_id, (maximum, maximum))
    # SIGXCPU at the lower limit tells the parent process why this process ended. If both limits
    # were equal, the kernel would send SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    # Some libraries ask for the temporary folder when they are loaded. Python would look for one by
    # writing a file, which is forbidden here.
    tempfile.tempdir = os.sep


def print_and_exit(output: bytes) -> None:
    """Print the output and exit at once: a parser may have left threads or a corrupt heap."""
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    os._exit(0)
