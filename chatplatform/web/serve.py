"""Starts the server of the web process, granian, in the one way that every deployment shares.

    python -m chatplatform.web.serve chatplatform.asgi:application [further options of granian]

A connection that brings no whole head of a request within half a minute (granian's own limit) is
cut, also between two requests.
"""

import os
import resource
import sys

# Connections of each worker. Beyond them granian answers nobody: silent ones, and the feeds of a
# few people, must come nowhere near. An idle one costs some kilobytes.
CONNECTIONS = 16_384
# Files of a worker besides: connections to other servers, bodies, downloads.
_OTHER_FILES = 1_024
_OPTIONS = (
    "--interface", "asgi", "--no-ws", "--workers", "2", "--respawn-failed-workers",
    # With HTTP/2 as well, whoever says nothing would be waited for without end.
    "--http", "1", "--backlog", "4096", "--log-level", "warning",
)  # fmt: skip


def main(arguments: list[str]) -> None:
    """Become the server; of an option that is given twice the later one counts."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = CONNECTIONS + _OTHER_FILES
    if most != resource.RLIM_INFINITY:
        files = min(files, most)
    if allowed != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(allowed, files), most))
    connections = str(max(files - _OTHER_FILES, files // 2))
    command = [sys.executable, "-m", "granian", *_OPTIONS, "--backpressure", connections]
    os.execv(sys.executable, [*command, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
