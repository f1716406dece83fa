"""Limits how many of the serving threads one caller can occupy.

A request waits for its turn without occupying a thread. Its credential identifies the caller. The
credential's person and client are known once a request with this credential has been served.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from django.conf import settings

from chatplatform.api.operation import HOLDERS

# Commits wait for the disk, so several requests must run at once. More threads only compete for the
# interpreter's lock: with 16 a message costs a third more CPU time than with 8.
THREADS = 8
# The maximum number of threads for one credential, and for one person. All visitors of a website
# send the same public key: a flood of them, or messages to a locked chat, must leave threads for
# others, and so must a busy person with many sign-ins.
THREADS_OF_CALLER = 3
# The maximum number of threads for one client with all its people and keys, and for all requests
# together with unknown credentials: anyone can invent a credential for each request.
THREADS_OF_CLIENT = THREADS - 2
UNKNOWN_CALLERS = "unknown"
_MAX_KNOWN = 10_000
_SESSION = re.compile(rb"\b%b=[^;]+" % settings.SESSION_COOKIE_NAME.encode())


class ThreadLimits:
    """The limits of one process."""

    def __init__(self) -> None:
        self._semaphores = WeakValueDictionary[bytes | str, asyncio.Semaphore]()
        # The person and the client of a credential.
        self._known = OrderedDict[bytes, tuple[str, ...]]()

    @asynccontextmanager
    async def take(self, scope: dict[str, Any]) -> AsyncIterator[None]:
        """Wait until the request may take a thread, and count it until the block ends."""
        if scope["path"].startswith("/health"):
            yield  # health checks have their own threads
            return
        credential = _credential(scope)
        holders: list[tuple[bytes | str, int]] = []
        if credential:
            holders.append((credential, THREADS_OF_CALLER))
        for name in self._known.get(credential, (UNKNOWN_CALLERS,)):
            is_person = name.startswith("user:")
            holders.append((name, THREADS_OF_CALLER if is_person else THREADS_OF_CLIENT))
        async with AsyncExitStack() as stack:
            for holder, limit in holders:
                await stack.enter_async_context(self._semaphore_of(holder, limit))
            yield

    def remember(self, scope: dict[str, Any]) -> None:
        """Remember the person and the client of a served request's credential."""
        credential, holders = _credential(scope), scope.get(HOLDERS)
        if credential and holders:
            self._known[credential] = holders
            self._known.move_to_end(credential)
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)

    def _semaphore_of(self, holder: bytes | str, limit: int) -> asyncio.Semaphore:
        semaphore = self._semaphores.get(holder)
        return semaphore or self._semaphores.setdefault(holder, asyncio.Semaphore(limit))


def _credential(scope: dict[str, Any]) -> bytes:
    """The request's credential; empty if it has none."""
    sent = dict(scope["headers"])
    session = _SESSION.search(sent.get(b"cookie", b""))
    header: bytes = sent.get(b"api-key") or sent.get(b"authorization") or b""
    return header or (session[0] if session else b"")
