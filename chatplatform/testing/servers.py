"""Runs a server during a test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import TypeVar

Server = TypeVar("Server", bound=BaseServer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve in a thread of this process, and close the server after the block."""
    threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
