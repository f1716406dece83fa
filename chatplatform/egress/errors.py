"""What can go wrong on the way out, and the deadline of an exchange."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

REFUSAL = "The destination is not allowed."


class EgressError(Exception):
    """The base of these errors."""


class Blocked(EgressError):
    """A refused destination. One text for all reasons, so that nobody maps our network with it."""

    def __init__(self) -> None:
        super().__init__(REFUSAL)


class Timeout(EgressError):
    """The exchange as a whole took longer than it may."""


class TooLarge(EgressError):
    """The decompressed answer or its headers are over the limit."""


class ConnectionFailed(EgressError):
    """No name, no connection, no TLS, or an answer that breaks off or is not HTTP."""


# When the exchange of this thread must be over, on the monotonic clock. Every single wait of a
# socket reads it, so that a server gains no time by sending a byte now and then.
_deadline: ContextVar[float] = ContextVar("egress_deadline")


@contextmanager
def deadline(ends_at: float) -> Iterator[None]:
    """Set the deadline for the length of the block."""
    token = _deadline.set(ends_at)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Seconds until the deadline; raises Timeout once it has passed."""
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise Timeout("The time for this request is over.")
    return left
