"""A month of chats is exported and imported: rows and a second export are unchanged."""

import json
from datetime import datetime
from typing import Any
from unittest import mock

import pytest
from django.core.management import call_command
from django.db.models import Model

from bots.testing import trained
from chatplatform.api.shapes import iso
from chatplatform.management import demo_chats
from chatplatform.management.commands.seed import SAMPLES
from chatplatform.models import Job
from chats.models import Conversation, Feedback, Message, Summary, Tagging
from chats.services.exchange import importing
from webhooks.models import Event

pytestmark = [pytest.mark.django_db, pytest.mark.drill]

PATHS = {
    "conversations": "/ai/client/migrate/conversations",
    "messages": "/ai/client/migrate/messages",
}
# Fields of this installation and not of the chat: numbers of rows and of events, the key that
# opened the chat, and the time of the import.
LOCAL_FIELDS: dict[type[Model], set[str]] = {
    Conversation: {"opened_by_key_id", "last_event_seq", "imported_at"},
    Message: set(),
    Tagging: {"id"},
    Feedback: {"id"},
    Summary: {"id"},
}


@pytest.fixture
def month(bot):
    for file in SAMPLES.glob("*.md"):
        trained(bot, file.read_text(encoding="utf-8"), title=file.stem)
    assert demo_chats.create(bot, password="correct-horse-battery") > 250


def export(server, folder):
    """Save every page of 500 as a file, as a client would; return all rows."""
    exported: dict[str, list[Any]] = {}
    for kind, path in PATHS.items():
        query: dict[str, Any] = {"limit": 500}
        exported[kind] = []
        while True:
            reply = server.get(path, query)
            (folder / f"{kind}-{len(exported[kind]):06}.json").write_bytes(reply.content)
            page = reply.json()
            exported[kind] += page["items"]
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
    return exported


def rows():
    """Everything that is stored of the chats; times with the precision of the API."""
    stored = {}
    for model, local in LOCAL_FIELDS.items():
        names = [f.attname for f in model._meta.concrete_fields if f.attname not in local]
        stored[model.__name__] = {
            json.dumps(row, default=_plain, sort_keys=True)
            for row in model._default_manager.values(*names)
        }
    return stored


def _plain(value):
    return iso(value) if isinstance(value, datetime) else str(value)


def differences(stored):
    """The rows that changed, by table; empty if none did."""
    now = rows()
    return {kind: stored[kind] ^ now[kind] for kind in stored if stored[kind] != now[kind]}


def run_import(folder, bot):
    call_command("import_conversations", str(folder), client=bot.client.code, bot=bot.pk)


def test_a_crash_and_a_second_run(server, bot, month, tmp_path):
    before, stored = export(server, tmp_path), rows()
    Conversation.objects.all().delete()
    pages = []

    def fail_at_the_third_page(*args, **more):
        pages.append(args)
        if len(pages) == 3:
            raise SystemExit("killed")
        return import_messages(*args, **more)

    import_messages = importing.import_messages
    with (
        mock.patch.object(importing, "import_messages", fail_at_the_third_page),
        pytest.raises(SystemExit),
    ):
        run_import(tmp_path, bot)
    assert 0 < Message.objects.count() < len(before["messages"])

    run_import(tmp_path, bot)

    assert not differences(stored)
    assert export(server, tmp_path) == before
    assert (Event.objects.count(), Job.objects.count()) == (0, 0)
