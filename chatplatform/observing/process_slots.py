"""Slots: the numbers under which processes that share a metrics folder store their metrics. A
process locks a slot while it runs; a later process takes over the slot and continues its counts."""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

MAX_SLOTS = 512


class Slots:
    """The slots in one folder."""

    def __init__(self, folder: Path, on_free: Callable[[int], None]) -> None:
        # `on_free` removes a dead process's gauges, which apply only to running processes.
        self._folder, self._on_free = folder, on_free
        # By process id, since a forked process needs a different slot from its parent.
        self._own: dict[int, tuple[int, int]] = {}

    def current(self) -> int:
        """The slot of this process; the first call locks one."""
        own = self._own.get(os.getpid())
        if own is None:
            own = self._own[os.getpid()] = self._take()
        return own[0]

    def _take(self) -> tuple[int, int]:
        for number in range(MAX_SLOTS):
            descriptor = self._lock(number)
            if descriptor is None:
                continue
            self._on_free(number)
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            return number, descriptor
        raise OSError(f"{self._folder}: all {MAX_SLOTS} slots are in use")

    def _lock(self, number: int) -> int | None:
        """The descriptor of a file with the slot's lock; None if a running process holds the lock.

        It is a POSIX lock, since a forked process would share a `flock` with its parent.
        """
        path = self._folder / f"{number}.slot"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    def running(self) -> Iterator[tuple[int, int]]:
        """Yield the slots of running processes with their process ids; free all other slots."""
        own = self.current()
        yield own, os.getpid()
        for path in sorted(self._folder.glob("*.slot")):
            number = int(path.stem)
            # Opening and closing this process's own file would release its lock.
            if number == own:
                continue
            descriptor = self._lock(number)
            if descriptor is not None:
                self._on_free(number)
                os.close(descriptor)
            elif text := path.read_text():
                yield number, int(text)
