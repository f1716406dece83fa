"""A child process for what reads strangers' files: no secrets, no files written, hard limits."""

import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

_PROJECT = Path(__file__).resolve().parents[2]


class TooSlow(Exception):
    """The child was killed at its limit of time."""


class TooMuch(Exception):
    """The child said more than the parent wants to read."""


def run(
    module: str, *arguments: str, timeout_seconds: float, memory_mb: int, max_output_bytes: int
) -> tuple[bytes, int]:
    """What a module run as a child prints, and its exit status.

    Its arguments are those given, then the megabytes and seconds that it has to `limit` itself to.
    """
    limits = [str(memory_mb), str(max(1, int(timeout_seconds)))]
    command = [sys.executable, "-B", "-m", module, *arguments, *limits]
    with subprocess.Popen(
        [argument.replace("\x00", "") for argument in command],
        stdin=subprocess.DEVNULL,
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
        deadline = time.monotonic() + timeout_seconds
        try:
            output = _read_output(child.stdout, deadline=deadline, most=max_output_bytes)
        finally:
            _kill_group(child.pid)
    return output, child.returncode


def ran_out_of_time(status: int) -> bool:
    """Whether an exit status is that of a child that used up its processor time."""
    return status == -signal.SIGXCPU


def _read_output(stream: IO[bytes], *, deadline: float, most: int) -> bytes:
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise TooSlow
            block = os.read(stream.fileno(), 65_536)
            if not block:
                return bytes(output)
            output += block
            if len(output) > most:
                raise TooMuch


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


def finish(output: bytes) -> None:
    """Say the result and end at once: a parser may have left threads or a broken heap behind."""
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    os._exit(0)
