"""The raw statements of the benchmark's twin still fit the tables."""

import importlib
import uuid
from pathlib import Path
from types import ModuleType

import pytest
from django.conf import settings
from django.db import connection
from psycopg import RawCursor

from bots.testing import make_bot
from chatplatform.crypto import hash_secret
from chats.models import Message
from chats.testing import make_chat
from identity.testing import make_key
from webhooks.models import Event


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)
    monkeypatch.syspath_prepend(Path(settings.BASE_DIR) / "bench")
    return importlib.import_module("minimal_twin")


@pytest.mark.parametrize(("kind", "events"), [("LEAN", 0), ("NONE", 1), ("ASYNC", 1)])
def test_the_twin_stores_and_lists_a_message(ann, twin, kind, events):
    chat = make_chat(make_bot(ann.client))
    prefix, _, secret = make_key(ann.client).headers["API-KEY"].partition(".")
    credentials = [prefix, hash_secret(secret)]
    arguments = [*credentials, chat.pk, uuid.uuid4(), '[{"type": "text", "text": "Hello"}]']
    if events:
        arguments.append(uuid.uuid4())
    connection.ensure_connection()
    with RawCursor(connection.connection) as cursor:
        cursor.execute(getattr(twin, kind), arguments)
        assert [row[0] for row in cursor.fetchall()] == [1]
        cursor.execute(twin.LIST, [*credentials, chat.pk, 0])
        assert len(cursor.fetchall()) == 1
    assert Message.objects.get().text == "Hello"
    assert Event.objects.count() == events
