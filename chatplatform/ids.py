"""Identifiers: UUIDv7 for rows, short codes for people."""

import hashlib
import os
import secrets
import threading
import time
import uuid
from datetime import datetime

# 30 letters and digits, without 0 O 1 I L U, which are easily misread or misheard.
CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

_TAIL_BITS = 32
_COUNTER_BITS = 42
_COUNTER_END = 1 << _COUNTER_BITS


class _Clock:
    """The last issued millisecond and counter; each pair is greater than the one before."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.millisecond = 0
        self.counter = 0

    def tick(self) -> tuple[int, int]:
        """The next (Unix millisecond, 42-bit counter), greater than every pair before it."""
        now = time.time_ns() // 1_000_000
        with self.lock:
            if now > self.millisecond:
                self._start(now)
            else:
                # The same millisecond, or the clock was set back: order matters more than time.
                self.counter += 1
                if self.counter == _COUNTER_END:
                    self._start(self.millisecond + 1)
            return self.millisecond, self.counter

    def _start(self, millisecond: int) -> None:
        self.millisecond = millisecond
        # The top bit starts at 0, so that at least half of the counter is left for counting up.
        self.counter = secrets.randbits(_COUNTER_BITS - 1)


_clock = _Clock()


def _restart_clock() -> None:
    # A forked process would repeat its parent's numbers, and might inherit a held lock.
    global _clock
    _clock = _Clock()


os.register_at_fork(after_in_child=_restart_clock)


def uuid7() -> uuid.UUID:
    """A time-ordered UUID (RFC 9562, version 7), strictly increasing within one process."""
    millisecond, counter = _clock.tick()
    high, low = divmod(counter, 1 << 30)
    value = (millisecond & 0xFFFF_FFFF_FFFF) << 80
    value |= 0x7 << 76 | high << 64
    value |= 0b10 << 62 | low << _TAIL_BITS | secrets.randbits(_TAIL_BITS)
    return uuid.UUID(int=value)


def uuid7_from(millisecond: int, text: str) -> uuid.UUID:
    """The UUIDv7 of this millisecond whose other bits are a hash of the text."""
    digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:10])
    digest &= ~(0xF << 76) & ~(0b11 << 62)
    return uuid.UUID(int=millisecond << 80 | 0x7 << 76 | 0b10 << 62 | digest)


def first_id(moment: datetime) -> uuid.UUID:
    """A lower bound for every UUIDv7 created from this time on: its millisecond, then zeros."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


def short_code(n: int = 10) -> str:
    """`n` random characters that are hard to misread, 4.9 bits each (49 bits by default)."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(n))
