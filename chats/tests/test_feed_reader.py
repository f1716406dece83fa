"""The reader of the live feed in one process, without a web server."""

import asyncio
from collections import deque
from typing import Any
from unittest import mock

import pytest
from django.db import OperationalError

from chatplatform.live.streaming import ServerSent
from chats.services.core import presence
from chats.services.desk import feed
from identity.models import Client, User

LOG = [(n, ServerSent("message.created", {}, str(n))) for n in range(1, 6)]


class Threads:
    """Runs reads at once and records what is submitted."""

    def __init__(self):
        self.threads = self
        self.submitted = []

    async def __call__(self, read, *args):
        await asyncio.sleep(0)
        return read(*args)

    def submit(self, act, *args):
        self.submitted.append(args)


class SilentListener:
    async def wait_until_subscribed(self):
        pass

    async def messages(self, channel):
        yield await asyncio.Event().wait()


@pytest.fixture
def reader():
    threads: Any = Threads()
    listener: Any = SilentListener()
    return feed._LogReader(Client(pk=1), listener, threads, 0)


def test_the_buffer_is_bounded(reader, monkeypatch):
    monkeypatch.setattr(feed, "BUFFER_SIZE", 3)
    monkeypatch.setattr(feed, "_read_page", lambda client, cursor: LOG)
    asyncio.run(reader._read())
    assert list(reader.buffer) == LOG[2:]
    assert reader.after(2) == LOG[2:]
    assert reader.after(4) == LOG[4:]
    assert reader.after(1) is None


def test_what_could_not_be_read_is_read_the_next_time(reader, monkeypatch):
    monkeypatch.setattr(feed, "_read_page", mock.Mock(side_effect=[OperationalError, LOG]))
    asyncio.run(reader._read())
    assert reader.after(0) == []
    asyncio.run(reader._read())
    assert reader.after(0) == LOG


def test_a_stream_goes_on_if_the_events_before_the_buffer_were_deleted(reader, monkeypatch):
    monkeypatch.setattr(feed, "_read_page", lambda client, cursor: [])
    monkeypatch.setattr(presence, "away", lambda client_id: set())
    reader.buffer, reader.buffer_begins_after = deque(LOG[2:]), LOG[1][0]
    stream = feed._Stream(User(pk=1, client_id=1))

    async def read_two():
        events: Any = feed._follow(lambda: reader, stream, 0, lambda: True)
        sent = [await asyncio.wait_for(anext(events), 5) for _ in range(2)]
        await events.aclose()
        return sent

    ready, first = asyncio.run(read_two())
    assert (ready.event, first) == ("ready", LOG[2][1])
    assert feed._readers == {}


def test_a_user_who_left_another_process_is_still_online_here(reader):
    reader.streams_of[7] = 1
    for user_id in (7, 8):
        reader._distribute("presence", {"user_id": user_id, "name": "Ben", "is_online": False})
    online = {"user_id": 7, "name": "Ben", "is_online": True}
    assert reader.in_thread.submitted == [(1, "presence", online)]


def test_a_database_failure_ends_no_stream():
    def fail():
        raise OperationalError

    assert feed._may_continue(User(pk=1), fail)
    assert not feed._may_continue(User(pk=1), lambda: False)
