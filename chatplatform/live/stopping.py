"""Ends open streams when a web process is told to stop, so that they are not cut off: the server
kills a worker that takes longer than `--workers-kill-timeout`."""

import asyncio
import math
import signal
import threading
import time

# A stopping process still waits this long for a reply; less than the shortest kill time-out.
REPLY_SECONDS = 3.0


class Stopping:
    """Notices that a worker is told to stop: then `requested` is done. Make it in the loop."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.requested: asyncio.Future[None] = loop.create_future()
        # When waiting for a reply ends, by the monotonic clock.
        self.ends_at = math.inf
        if threading.current_thread() is threading.main_thread():
            loop.add_signal_handler(signal.SIGTERM, self._stop)

    def _stop(self) -> None:
        if not self.requested.done():
            self.requested.set_result(None)
            self.ends_at = time.monotonic() + REPLY_SECONDS
        # This handler replaced the server's own for SIGTERM; the server treats SIGINT alike.
        signal.raise_signal(signal.SIGINT)
