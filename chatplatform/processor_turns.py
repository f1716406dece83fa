"""Limits how many jobs of one client compute at once in a worker process.

A worker's threads share its processor time. If sixteen of them read long messages of one client,
another client's reply takes many times as long. So the jobs of a client take turns until they call
another server: a slow model or provider costs no processor time, and its client goes on.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

# More would not be faster: a job waits for the database about half of its time.
JOBS_OF_CLIENT = 2


class _Turn:
    """One of a client's turns; it can be given back early, once."""

    def __init__(self, turns: threading.Semaphore) -> None:
        self._turns = turns
        self._is_held = turns.acquire(timeout=_LONGEST_WAIT_SECONDS)

    def give_back(self) -> None:
        if self._is_held:
            self._is_held = False
            self._turns.release()


# A turn that is not given back for this long may hang: the next job goes on without one.
_LONGEST_WAIT_SECONDS = 5

_current: ContextVar[_Turn | None] = ContextVar("processor_turn", default=None)
_clients = WeakValueDictionary[tuple[int, str], threading.Semaphore]()
_lock = threading.Lock()


@contextmanager
def take(client_id: int | None, queue: str) -> Iterator[None]:
    """Wait for a turn of the client in a queue, at most five seconds, and hold it until the block
    ends or calls `give_back`.

    Call it before anything in the database is locked. The platform's own jobs (None) do not wait.
    """
    if client_id is None:
        yield
        return
    with _lock:
        turns = _clients.get((client_id, queue))
        if turns is None:
            turns = _clients[client_id, queue] = threading.Semaphore(JOBS_OF_CLIENT)
    turn = _Turn(turns)
    token = _current.set(turn)
    try:
        yield
    finally:
        _current.reset(token)
        turn.give_back()


def give_back() -> None:
    """Give the turn of the running job back: it waits for another server now.

    It does not wait for a further turn afterwards, when it may hold locks that the client's other
    jobs wait for.
    """
    turn = _current.get()
    if turn is not None:
        turn.give_back()
