"""Slots: the numbers under which the processes of a group keep their figures.

A group is what one port serves: the web workers of a host, or a Celery worker and its children.
Each process holds the lock of one slot while it lives, and the kernel frees it. A process that is
started later takes the slot over and counts on, so files do not pile up as children are replaced.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

MOST = 512


class Slots:
    """The slots in one folder."""

    def __init__(self, folder: Path, on_free: Callable[[int], None]) -> None:
        # `on_free` removes what a dead holder left that is true of living processes alone.
        self._folder, self._on_free = folder, on_free
        # By process id: a forked child needs a slot of its own.
        self._own: dict[int, tuple[int, int]] = {}

    def current(self) -> int:
        """This process's slot, taken when it first asks."""
        own = self._own.get(os.getpid())
        if own is None:
            own = self._own[os.getpid()] = self._take()
        return own[0]

    def _take(self) -> tuple[int, int]:
        for number in range(MOST):
            descriptor = self._lock(number)
            if descriptor is None:
                continue
            self._on_free(number)
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            return number, descriptor
        raise OSError(f"{self._folder}: all {MOST} slots are taken")

    def _lock(self, number: int) -> int | None:
        """An open file that holds a slot's lock; None if a living process has it.

        Not a lock of `flock`: a forked child would share that with its parent.
        """
        path = self._folder / f"{number}.slot"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    def living(self) -> Iterator[tuple[int, int]]:
        """The slots of living processes with their process ids; what dead ones left is removed."""
        own = self.current()
        yield own, os.getpid()
        for path in sorted(self._folder.glob("*.slot")):
            number = int(path.stem)
            # To open and close the own file would give up its lock.
            if number == own:
                continue
            descriptor = self._lock(number)
            if descriptor is not None:
                self._on_free(number)
                os.close(descriptor)
            elif text := path.read_text():
                yield number, int(text)
