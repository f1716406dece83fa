"""Child processes for hostile input: no secrets, no files to write, an end by time and memory."""

import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# What the parent reads from a child: the longest text in JSON.
MAX_OUTPUT_BYTES = 16 * 2**20
_PROJECT = Path(__file__).resolve().parents[2]


class TookTooLong(Exception):
    """The child did not end in its time."""


class SaidTooMuch(Exception):
    """The child printed more than anybody wants to read."""


@dataclass(frozen=True)
class Ended:
    """What a child printed, and its exit status (negative: the signal that killed it)."""

    output: bytes
    status: int

    @property
    def ran_out_of_time(self) -> bool:
        """Whether it used up its processor time."""
        return self.status == -signal.SIGXCPU


def run(
    module: str, *arguments: str, timeout_seconds: float, stdin: IO[bytes] | None = None
) -> Ended:
    """`python -m module arguments` in a group of its own, of which nothing outlives this call."""
    command = [sys.executable, "-B", "-m", module, *arguments]
    with subprocess.Popen(
        [argument.replace("\x00", "") for argument in command],
        stdin=stdin or subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_PROJECT,
        # No secret of ours belongs in a process that reads strangers' files; one thread, since
        # numeric libraries otherwise reserve address space for each core.
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
            _kill_group(child.pid)
    return Ended(output, child.returncode)


def _read_output(stream: IO[bytes], *, deadline: float) -> bytes:
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise TookTooLong
            block = os.read(stream.fileno(), 65_536)
            if not block:
                return bytes(output)
            output += block
            if len(output) > MAX_OUTPUT_BYTES:
                raise SaidTooMuch


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def limit(memory_mb: int, cpu_seconds: int) -> None:
    """Bound this process: address space, processor time, and no file may be written."""
    memory = memory_mb * 2**20
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    # Some libraries ask for the temporary folder when loaded, and finding it would write a file.
    tempfile.tempdir = os.sep


def say(answer: bytes) -> None:
    """Print the answer and end: a parser may have left threads or a broken heap behind."""
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    os._exit(0)
