"""A reader of the live feed reconnects a thousand times while messages are sent."""

import pytest

from chats.tests.test_chat_events import port, reconnect, web_port  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1800)]


def test_a_reader_that_reconnects_misses_nothing(port, ann, server):  # noqa: F811
    chat = server.post("/ai/client/chat", {"customer": {"name": "Zoe"}}).json()["id"]
    reconnect(1000, port, ann, server, chat)
