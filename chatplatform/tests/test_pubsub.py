"""Live updates: who signals, and what they leave to the others of their process."""

import logging

import pytest

from chatplatform.live import pubsub, valkey
from chatplatform.testing import in_thread

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 5


def test_threads_that_come_and_go_leave_connections_to_the_others(monkeypatch, caplog):
    valkey.shared.cache_clear()
    pool = valkey.shared().connection_pool
    monkeypatch.setattr(pool, "max_connections", THREADS - 1)
    with valkey.connect().pubsub() as listening, caplog.at_level(logging.WARNING):
        listening.subscribe("live:news")
        assert listening.get_message(timeout=5)["type"] == "subscribe"
        for _ in range(THREADS):
            thread, _ = in_thread(lambda: pubsub.signal_on_commit("news"))
            thread.join(20)
        heard = [listening.get_message(timeout=5)["type"] for _ in range(THREADS)]
        assert heard == ["message"] * THREADS
        pubsub.append("chat", "delta", {"text": "Hello"})
    assert valkey.shared().xlen("live:chat") == 1
    assert caplog.messages == []
