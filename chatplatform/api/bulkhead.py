"""Bulkheads: a process serves only a few requests of one client or caller at the same time."""

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from chatplatform.api.errors import TooManyRequests


class Bulkhead:
    """Limits how many `admit` blocks each holder runs at the same time in this process.

    A holder is a key such as `client:5`; a block counts for each of its holders. `total` limits the
    sum of these counts. Once the sum reaches `shared`, each holder may run only one block.
    """

    def __init__(self, *, retry_after: int, total: float = math.inf, shared: float = math.inf):
        self._retry_after, self._total, self._shared = retry_after, total, shared
        self._running = Counter[str]()
        self._lock = threading.Lock()

    @contextmanager
    def admit(self, caps: Mapping[str, int]) -> Iterator[None]:
        """Run the block and count it for each holder in `caps`, which maps holders to their limits.

        429 if a holder's limit or `total` is reached.
        """
        with self._lock:
            running = self._running.total()
            is_full = running >= self._total or any(
                self._running[holder] >= (cap if running < self._shared else 1)
                for holder, cap in caps.items()
            )
            if is_full:
                raise TooManyRequests(self._retry_after)
            self._running.update(caps.keys())
        try:
            yield
        finally:
            with self._lock:
                self._running.subtract(caps.keys())
                self._running += Counter()  # drops holders with a count of zero
