"""What is costly to make and made at its first use: once a process, however many threads ask."""

import functools
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Once(Generic[Made]):
    """A function without arguments, called once: whoever asks meanwhile waits, and gets the same.

    `functools.cache` alone lets every thread that comes before the first result make its own; a
    hundred first requests then load a hundred models at a time.
    """

    def __init__(self, make: Callable[[], Made]) -> None:
        self._made = functools.cache(make)
        self._lock = threading.Lock()

    def __call__(self) -> Made:
        with self._lock:
            return self._made()

    def cache_clear(self) -> None:
        """Make it anew when it is asked for next."""
        self._made.cache_clear()
