"""Tells open streams that the web process is stopping, so that they end before the server kills
it (`--workers-kill-timeout`)."""

import asyncio
import math
import signal
import threading
import time

# How long a stopping process waits for pending replies; less than the shortest kill timeout.
REPLY_SECONDS = 3.0


class Stopping:
    """Completes `requested` when the worker is told to stop. Create it inside the event loop."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.requested: asyncio.Future[None] = loop.create_future()
        # Deadline for pending replies, by the monotonic clock.
        self.ends_at = math.inf
        if threading.current_thread() is threading.main_thread():
            loop.add_signal_handler(signal.SIGTERM, self._stop)

    def _stop(self) -> None:
        if not self.requested.done():
            self.requested.set_result(None)
            self.ends_at = time.monotonic() + REPLY_SECONDS
        # This handler replaces the server's SIGTERM handler; the server treats SIGINT the same way.
        signal.raise_signal(signal.SIGINT)
