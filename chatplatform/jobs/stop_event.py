"""The event that ends a worker's loop; the loop also uses it to show that it does not hang."""

import threading
import time


class Stop(threading.Event):
    """Set when a loop has to end. It also sets the events that the loop waits for."""

    def __init__(self) -> None:
        super().__init__()
        self._woken: list[threading.Event] = []
        self.turned_at = time.monotonic()

    def turn(self) -> None:
        """Record that the loop runs: a worker counts as alive only while its loops call this."""
        self.turned_at = time.monotonic()

    def wakes(self, event: threading.Event) -> None:
        """From now on, setting this event also sets `event`."""
        self._woken.append(event)

    def set(self) -> None:
        super().set()
        for event in self._woken:
            event.set()
