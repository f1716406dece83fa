"""CPU slots: only one job of a client computes at a time, in each queue of a worker process.

A worker's threads share the interpreter. If sixteen of them read long messages of one client,
another client's reply takes many times as long. A job releases its slot before it waits for
another server: a slow model or provider costs no CPU time, so the client's next job can start.

A CPU slot applies to one process only. A job may also need a worker slot, which is counted across
all hosts: while other clients' jobs run, a client gets fewer worker slots than there are workers
(`jobs.worker_slots`).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol
from weakref import WeakValueDictionary

# After waiting this many seconds, a job runs without a slot: the job that holds it may be stuck.
LONGEST_WAIT_SECONDS = 5


class WorkerSlot(Protocol):
    """One of a client's slots in the workers of all hosts. A job releases it with its CPU slot."""

    def acquire(self) -> None:
        """Wait a few seconds for the slot."""

    def release(self) -> None:
        """Free the slot, if it is held."""


class _HeldSlots:
    """The slots of one job; they can be released early, once."""

    def __init__(self, cpu: threading.Semaphore, worker: WorkerSlot | None) -> None:
        self._cpu, self._worker = cpu, worker
        self._is_held = cpu.acquire(timeout=LONGEST_WAIT_SECONDS)
        if worker:
            worker.acquire()

    def release(self) -> None:
        if self._worker:
            self._worker.release()
            self._worker = None
        if self._is_held:
            self._is_held = False
            self._cpu.release()


_current: ContextVar[_HeldSlots | None] = ContextVar("held_slots", default=None)
_clients = WeakValueDictionary[tuple[int, str], threading.Semaphore]()
_lock = threading.Lock()


@contextmanager
def hold(client_id: int | None, queue: str, worker: WorkerSlot | None = None) -> Iterator[None]:
    """Wait up to five seconds for the client's CPU slot in a queue, and then for the worker slot;
    hold both until the block ends or calls `release`.

    Call it before anything in the database is locked. The platform's own jobs (None) do not wait.
    """
    if client_id is None:
        yield
        return
    with _lock:
        cpu = _clients.get((client_id, queue))
        if cpu is None:
            cpu = _clients[client_id, queue] = threading.Semaphore()
    held = _HeldSlots(cpu, worker)
    token = _current.set(held)
    try:
        yield
    finally:
        _current.reset(token)
        held.release()


def release() -> None:
    """Release the slots of the running job, which is about to wait for another server.

    Afterwards, the job continues without a slot. Waiting for one could deadlock: the job might
    hold a database lock that the slot's new holder is waiting for.
    """
    held = _current.get()
    if held is not None:
        held.release()
