"""What is costly to make and made at its first use: once a process, however many threads ask."""

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def once(make: Callable[[], Made]) -> Callable[[], Made]:
    """`make`, called once: whoever asks meanwhile waits for it, and gets the same.

    `functools.cache` alone lets every thread that comes before the first result make its own; a
    hundred first requests then load a hundred models at a time.
    """
    made = functools.cache(make)
    lock = threading.Lock()

    @functools.wraps(make)
    def get() -> Made:
        with lock:
            return made()

    get.cache_clear = made.cache_clear  # type: ignore[attr-defined]
    return get
