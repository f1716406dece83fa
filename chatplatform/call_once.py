"""Creates an expensive object at its first use, once per process."""

import functools
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class call_once(Generic[Result]):
    """Decorates a function without arguments: the first call runs it, every call gets its result.

    Calls that arrive during the first call wait for it. `functools.cache` alone would run the
    function in each of these threads: a hundred first requests would load a hundred models at once.
    """

    def __init__(self, function: Callable[[], Result]) -> None:
        self._cached = functools.cache(function)
        self._lock = threading.Lock()

    def __call__(self) -> Result:
        with self._lock:
            return self._cached()

    def cache_clear(self) -> None:
        """Forget the result; the next call runs the function again."""
        self._cached.cache_clear()
