"""How a loop that waits for signals is told to end, and how it tells that it does not hang."""

import threading
import time


class Stop(threading.Event):
    """Set when a loop is to end. The loop waits for another event, which is set with it."""

    def __init__(self) -> None:
        super().__init__()
        self._woken: list[threading.Event] = []
        self.turned_at = time.monotonic()

    def turn(self) -> None:
        """Called by the loop each time round: the worker is alive only while its loops turn."""
        self.turned_at = time.monotonic()

    def wakes(self, event: threading.Event) -> None:
        """Set this event, too."""
        self._woken.append(event)

    def set(self) -> None:
        super().set()
        for event in self._woken:
            event.set()
