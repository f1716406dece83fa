"""A listener for live updates, in a test's own event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chatplatform.live.pubsub import Listener
from chatplatform.live.stopping import Stopping


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """A listener whose task ends with the block; in a web process, it ends with the process."""
    listener = Listener(Stopping())
    try:
        yield listener
    finally:
        while listener._task and not listener._task.done():
            # redis-py sends with `asyncio.wait_for`, which in Python 3.11 may drop a cancellation.
            listener._task.cancel()
            await asyncio.wait({listener._task}, timeout=0.1)
        await listener._client.aclose()
