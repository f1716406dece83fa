"""Bulkheads: what a process does at once for one holder is capped, so that others have room."""

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from chatplatform.api.errors import TooManyRequests


class Bulkhead:
    """Counts what this process does now for each holder.

    `total`: for all holders together. Once `shared` are taken, a holder who has one gets no other.
    """

    def __init__(self, *, retry_after: int, total: float = math.inf, shared: float = math.inf):
        self._retry_after, self._total, self._shared = retry_after, total, shared
        self._running = Counter[str]()
        self._lock = threading.Lock()

    @contextmanager
    def admit(self, caps: Mapping[str, int]) -> Iterator[None]:
        """Count the block for each of these holders; 429 if one of them has reached its cap."""
        with self._lock:
            taken = self._running.total()
            is_full = taken >= self._total or any(
                self._running[holder] >= (cap if taken < self._shared else 1)
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
                self._running += Counter()  # drops those that have none
