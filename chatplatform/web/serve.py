"""Starts the web server (granian) with the options that all deployments share.

python -m chatplatform.web.serve chatplatform.asgi:application [further options of granian]
"""

import argparse
import os
import resource
import signal
import socket
import sys
from types import FrameType

from django.conf import settings
from granian.cli import entrypoint

# The maximum number of connections of each worker. granian serves no further ones, so the number is
# far above what idle connections and live feeds need; an idle connection costs some kilobytes.
CONNECTIONS = 16_384
# A worker's other open files: connections to other servers, bodies, downloads.
_OTHER_FILES = 1_024
_OPTIONS = (
    "--interface", "asgi", "--no-ws", "--workers", "2", "--respawn-failed-workers",
    # Only HTTP/1: with HTTP/2, granian would keep silent connections open indefinitely.
    "--http", "1", "--backlog", "4096", "--log-level", "warning",
)  # fmt: skip


def main(arguments: list[str]) -> None:
    """Run the server; `arguments` override the shared options."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatplatform.settings")
    _ = settings.DEVELOPMENT  # reads all settings, once for all workers; ends if one is wrong
    _check_address(arguments)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = CONNECTIONS + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        files = min(files, hard)
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    connections = str(max(files - _OTHER_FILES, files // 2))
    sys.argv = ["granian", *_OPTIONS, "--backpressure", connections, *arguments]
    signal.signal(signal.SIGUSR1, _fail)
    try:
        entrypoint()  # type: ignore[no-untyped-call]
    finally:
        if _failures:
            sys.exit(1)


def _check_address(arguments: list[str]) -> None:
    """Exit with one line if the server cannot listen there; granian would print a traceback."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given, _ = parser.parse_known_args(arguments)
    family = socket.AF_INET6 if ":" in given.host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((given.host, given.port))
    except OSError as exc:
        address = f"{given.host}:{given.port}"
        sys.exit(f"Cannot listen on {address} ({exc.strerror}). Free it, or use another address.")


# Signals from workers that cannot start. When stopped, granian itself exits with status 0.
_failures: list[int] = []


def _fail(signum: int, _frame: FrameType | None) -> None:
    """Stop the server; this process then exits with 1, so that its parent notices the failure."""
    _failures.append(signum)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1:])
