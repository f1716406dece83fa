"""How a loop that waits for signals is told to end."""

import threading


class Stop(threading.Event):
    """Set when a loop is to end. The loop waits for another event, which is set with it."""

    def __init__(self) -> None:
        super().__init__()
        self._woken: list[threading.Event] = []

    def wakes(self, event: threading.Event) -> None:
        """Set this event, too."""
        self._woken.append(event)

    def set(self) -> None:
        super().set()
        for event in self._woken:
            event.set()
