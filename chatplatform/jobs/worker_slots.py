"""Slots in workers, which keep one client's jobs from occupying all of them.

While other clients are active, a client has one slot fewer than there are workers. After a job
has freed its slot, the client cannot take it again for three times as long as the job held it.

A slot is a key in Valkey, so the workers of all hosts share it. The key expires after five
seconds, so a crashed worker or a long job blocks a slot no longer than that.
"""

import time

import redis
from django.conf import settings

from chatplatform import cpu_slots
from chatplatform.jobs.registry import Queue
from chatplatform.live import valkey

# The queues that `REPLY_WORKERS` workers serve.
_QUEUES = {Queue.REPLY, Queue.CHANNEL, Queue.INSIGHT}
# The active clients in a sorted set, scored by the time at which a job last asked for a slot, and
# how long a client counts as active after that.
_ACTIVE, _ACTIVE_SECONDS = "active-clients", 5
_PAUSE_SECONDS = 0.1
_in_valkey = valkey.BestEffort("clients compute in all workers")


def slot_for(client_id: int | None, queue: str) -> cpu_slots.WorkerSlot | None:
    """The slot that a job needs in a worker; None if it may run in any.

    The platform's own jobs need no slot. With a single worker no job needs one, since no worker
    could be left to other clients.
    """
    if client_id is None or queue not in _QUEUES or settings.REPLY_WORKERS < 2:
        return None
    return _ValkeySlot(client_id)


class _ValkeySlot:
    def __init__(self, client_id: int) -> None:
        self._client_id = client_id
        self._held, self._since = "", 0.0

    def acquire(self) -> None:
        """Wait up to five seconds for a slot, unless no other client is active."""
        ends_at = time.monotonic() + cpu_slots.LONGEST_WAIT_SECONDS
        while not _in_valkey(self._may_compute, True) and time.monotonic() < ends_at:
            time.sleep(_PAUSE_SECONDS)
        self._since = time.monotonic()

    def release(self) -> None:
        """Free the slot after three times as long as it was held, but five seconds at most."""
        seconds = time.monotonic() - self._since
        if self._held and seconds < cpu_slots.LONGEST_WAIT_SECONDS:  # else it has expired
            pause = min(3 * seconds, cpu_slots.LONGEST_WAIT_SECONDS)
            _in_valkey(lambda client: client.pexpire(self._held, int(1000 * pause) + 1), False)

    def _may_compute(self, client: redis.Redis) -> bool:
        return not _are_others_active(self._client_id) or self._take(client)

    def _take(self, client: redis.Redis) -> bool:
        for number in range(settings.REPLY_WORKERS - 1):
            slot = f"worker-slot:{self._client_id}:{number}"
            if client.set(slot, 1, nx=True, ex=cpu_slots.LONGEST_WAIT_SECONDS):
                self._held = slot
                return True
        return False


def _are_others_active(client_id: int) -> bool:
    """Count this client as active, and tell whether others are."""
    now = time.time()
    commands = [
        ("ZADD", _ACTIVE, now, client_id),
        ("ZREMRANGEBYSCORE", _ACTIVE, "-inf", now - _ACTIVE_SECONDS),
        ("ZCARD", _ACTIVE),
    ]
    return int(valkey.round_trip(commands)[2]) > 1
