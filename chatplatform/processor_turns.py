"""Lets only one job of a client compute at a time, in each queue of a worker process.

A worker's threads share the interpreter. If sixteen of them read long messages of one client,
another client's reply takes many times as long. A job gives its turn back before it waits for
another server: a slow model or provider costs no CPU time, so the client's next job can go on.

A turn covers one process only. Jobs may also need a place, which counts on all hosts: while other
clients' jobs run, a client gets fewer places than there are workers (`jobs.worker_places`).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol
from weakref import WeakValueDictionary

# A job that holds its turn for this many seconds may hang, so the next job runs without a turn.
LONGEST_WAIT_SECONDS = 5


class Place(Protocol):
    """A place among the workers of all hosts, which a job holds as long as its turn."""

    def acquire(self) -> None:
        """Wait a few seconds for the place."""

    def release(self) -> None:
        """Free the place, if it is held."""


class _Turn:
    """The turn of one job; it can be given back early, once."""

    def __init__(self, turns: threading.Semaphore, place: Place | None) -> None:
        self._turns, self._place = turns, place
        self._is_held = turns.acquire(timeout=LONGEST_WAIT_SECONDS)
        if place:
            place.acquire()

    def give_back(self) -> None:
        if self._place:
            self._place.release()
            self._place = None
        if self._is_held:
            self._is_held = False
            self._turns.release()


_current: ContextVar[_Turn | None] = ContextVar("processor_turn", default=None)
_clients = WeakValueDictionary[tuple[int, str], threading.Semaphore]()
_lock = threading.Lock()


@contextmanager
def take(client_id: int | None, queue: str, place: Place | None = None) -> Iterator[None]:
    """Wait up to five seconds for the client's turn in a queue, and then for `place`; hold both
    until the block ends or calls `give_back`.

    Call it before anything in the database is locked. The platform's own jobs (None) do not wait.
    """
    if client_id is None:
        yield
        return
    with _lock:
        turns = _clients.get((client_id, queue))
        if turns is None:
            turns = _clients[client_id, queue] = threading.Semaphore()
    turn = _Turn(turns, place)
    token = _current.set(turn)
    try:
        yield
    finally:
        _current.reset(token)
        turn.give_back()


def give_back() -> None:
    """Give back the turn of the running job, which is about to wait for another server.

    The job continues without a turn afterwards: if it waited for one, it might hold locks for which
    the job that has the turn is waiting.
    """
    turn = _current.get()
    if turn is not None:
        turn.give_back()
