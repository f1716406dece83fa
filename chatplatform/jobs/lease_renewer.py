"""Renews the leases of a process's running jobs in one statement."""

import logging
import threading
import time
import uuid

from django.conf import settings
from django.db import Error, connection

from chatplatform.sql import execute

log = logging.getLogger(__name__)


class LeaseRenewer(threading.Thread):
    """The thread that renews leases. A job renews its own lease while it commits."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="lease-renewer")
        self._tokens: set[uuid.UUID] = set()
        self._released: set[uuid.UUID] = set()
        self._lock = threading.Lock()

    def add(self, token: uuid.UUID) -> None:
        global _renewer  # noqa: PLW0603 - a forked process needs its own thread
        with self._lock:
            self._tokens.add(token)
            if not self.is_alive():
                if self.ident is not None:
                    _renewer = LeaseRenewer()
                    _renewer.add(token)
                    return
                self.start()

    def remove(self, token: uuid.UUID) -> None:
        with self._lock:
            self._tokens.discard(token)

    def release(self, token: uuid.UUID) -> None:
        with self._lock:
            self._released.add(token)

    def run(self) -> None:
        while True:
            time.sleep(settings.JOB_LEASE_SECONDS / 3)
            with self._lock:
                tokens, released = list(self._tokens), list(self._released)
            if not tokens and not released:
                continue
            try:
                renew(tokens)
                if released:
                    _release(released)
                    with self._lock:
                        self._released.difference_update(released)
            except Error as exc:
                # The next round tries again; if the database stays down, the leases expire.
                log.warning("leases could not be renewed: %s", exc)
            finally:
                connection.close()  # it is needed only every few seconds


# A locked row belongs to a job that is committing; the other leases must not wait for it.
_RENEW = """
UPDATE chatplatform_job SET lease_until = statement_timestamp() + make_interval(secs => %s)
WHERE id IN (SELECT id FROM chatplatform_job WHERE lease_token = ANY(%s) AND state = 'running'
             FOR NO KEY UPDATE SKIP LOCKED)
"""


def renew(tokens: list[uuid.UUID]) -> None:
    """Renew the leases with these tokens."""
    execute(_RENEW, [settings.JOB_LEASE_SECONDS, tokens])


def _release(tokens: list[uuid.UUID]) -> None:
    execute(
        "UPDATE chatplatform_job SET lease_holder = NULL"
        " WHERE lease_token = ANY(%s) AND state = 'running'",
        [tokens],
    )


_renewer = LeaseRenewer()


def add(token: uuid.UUID) -> None:
    """Renew the lease with this token until it is removed."""
    _renewer.add(token)


def remove(token: uuid.UUID) -> None:
    """Stop renewing the lease with this token."""
    _renewer.remove(token)


def release(token: uuid.UUID) -> None:
    """Leave a job to other processes: this one could not store the claim, or the job's outcome."""
    _renewer.release(token)
