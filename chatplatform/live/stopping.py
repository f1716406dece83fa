"""What a web process does when it is told to stop: open streams end, so nobody has to be cut off.

The server (granian) then takes no further connections, lets the requests that it has come to their
end, and kills a worker that takes longer than `--workers-kill-timeout`.
"""

import asyncio
import math
import signal
import threading
import time

# So long a reply that is on its way is still waited for: less than the shortest kill time-out.
REPLY_SECONDS = 3.0


class Stopping:
    """Made in the event loop of a worker; `told` is done when the worker is told to stop."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.told: asyncio.Future[None] = loop.create_future()
        # When waiting for a reply ends, by the monotonic clock.
        self.ends_at = math.inf
        if threading.current_thread() is threading.main_thread():
            loop.add_signal_handler(signal.SIGTERM, self._stop)

    def _stop(self) -> None:
        if not self.told.done():
            self.told.set_result(None)
            self.ends_at = time.monotonic() + REPLY_SECONDS
        # The server's own handler of SIGTERM was replaced by this one; it treats both alike.
        signal.raise_signal(signal.SIGINT)
