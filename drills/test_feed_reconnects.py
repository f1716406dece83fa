"""A reader of the live feed reconnects a thousand times while messages are sent."""

import pytest

from chats.tests.test_chat_events import reconnect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1800)]


def test_a_reader_that_reconnects_misses_nothing(web_port, ann, server):
    chat = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]
    reconnect(1000, web_port, ann, server, chat)
