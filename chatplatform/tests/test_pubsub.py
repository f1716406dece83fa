"""Signals reach their listeners, whatever became of the connections before."""

import asyncio

import pytest

from chatplatform.api import rate_limits
from chatplatform.live import pubsub, valkey
from chatplatform.testing.live_listener import listening

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_signal_is_not_lost_on_a_connection_that_valkey_has_closed():
    with valkey.connect().pubsub() as listening:
        listening.subscribe("live:news")
        assert listening.get_message(timeout=5)["type"] == "subscribe"
        for _ in range(2):
            pubsub.signal_on_commit("news")
            heard = listening.get_message(timeout=5)
            assert heard
            assert heard["channel"] == b"live:news"
            valkey.shared().execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")


def test_a_request_is_counted_on_a_connection_that_valkey_has_closed():
    quota = rate_limits.Quota("address", "192.0.2.1", 5)
    remaining = []
    for _ in range(2):
        [status] = rate_limits.count([quota]).statuses
        remaining.append(status.remaining)
        valkey.shared().execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
    assert remaining == [4, 3]


@pytest.mark.parametrize("kind", ["stream", "channel"])
def test_who_leaves_at_the_moment_of_an_event_is_not_kept(kind):
    async def leave():
        async with listening() as listener:
            await listener.wait_until_subscribed()
            follow = listener.follow if kind == "stream" else listener.messages
            events = follow("some:1", poll_seconds=60)
            assert await anext(events) is None
            reading = asyncio.ensure_future(anext(events))
            for _ in range(5):
                await asyncio.sleep(0)
            listener._wake("live:some:1")
            listener._deliver("live:some:1", b"")
            reading.cancel()
            await asyncio.wait({reading}, timeout=5)
            assert reading.cancelled()
            assert not listener._followers
            assert not listener._inboxes

    asyncio.run(leave())
