"""Signals reach their listeners, whatever became of the connections before."""

import pytest

from chatplatform.api import rate_limits
from chatplatform.live import pubsub, valkey

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
