"""A month of chats out and in again: the export is the same, and so is every row."""

import json
from datetime import datetime
from typing import Any
from unittest import mock

import pytest
from django.core.management import call_command
from django.db.models import Model

from bots.models import Document
from chatplatform.api.shapes import iso
from chatplatform.management import demo_chats
from chatplatform.models import Job
from chats.models import Conversation, Feedback, Message, Summary, Tagging
from chats.services.exchange import importing
from webhooks.models import Event

pytestmark = pytest.mark.django_db

PATHS = {
    "conversations": "/ai/client/migrate/conversations",
    "messages": "/ai/client/migrate/messages",
}
# What belongs to this installation and not to the chat: numbers of rows and of events, the key of
# the page it was opened by, and when it was moved in.
OURS: dict[type[Model], set[str]] = {
    Conversation: {"opened_by_key_id", "last_event_seq", "imported_at"},
    Message: set(),
    Tagging: {"id"},
    Feedback: {"id"},
    Summary: {"id"},
}


@pytest.fixture
def month(bot):
    for name in ("shop-help.md", "huong-dan-mua-hang.md"):
        Document.objects.create(
            client=bot.client, bot=bot, file_name=name, size_bytes=1, sha256=name
        )
    assert demo_chats.create(bot, password="correct-horse-battery") > 250


def export(server, folder):
    """Every page of 500 as a file, as a client would save it; what they hold."""
    found: dict[str, list[Any]] = {}
    for kind, path in PATHS.items():
        query: dict[str, Any] = {"limit": 500}
        found[kind] = []
        while True:
            reply = server.get(path, query)
            (folder / f"{kind}-{len(found[kind]):06}.json").write_bytes(reply.content)
            page = reply.json()
            found[kind] += page["items"]
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
    return found


def rows():
    """Everything that is stored of the chats; times as exactly as the API tells them."""
    found = {}
    for model, ours in OURS.items():
        names = [f.attname for f in model._meta.concrete_fields if f.attname not in ours]
        found[model.__name__] = {
            json.dumps(row, default=_plain, sort_keys=True)
            for row in model._default_manager.values(*names)
        }
    return found


def _plain(value):
    return iso(value) if isinstance(value, datetime) else str(value)


def lost(stored):
    """What is there no longer as it was, by table; empty where all is."""
    now = rows()
    return {kind: stored[kind] ^ now[kind] for kind in stored if stored[kind] != now[kind]}


def take_in(folder, bot):
    call_command("import_conversations", str(folder), client=bot.client.code, bot=bot.pk)


def test_a_month_goes_out_and_in_without_loss(server, bot, month, tmp_path):
    before, stored = export(server, tmp_path), rows()
    assert len(before["messages"]) > 1000
    Conversation.objects.all().delete()
    assert not any(rows().values())

    take_in(tmp_path, bot)

    assert not lost(stored)
    assert export(server, tmp_path) == before
    assert (Event.objects.count(), Job.objects.count()) == (0, 0)


def test_a_crash_in_the_middle_and_a_second_run(server, bot, month, tmp_path):
    before, stored = export(server, tmp_path), rows()
    Conversation.objects.all().delete()
    pages = []

    def dies_at_the_third_page(*args, **more):
        pages.append(args)
        if len(pages) == 3:
            raise SystemExit("killed")
        return take_messages(*args, **more)

    take_messages = importing.import_messages
    with (
        mock.patch.object(importing, "import_messages", dies_at_the_third_page),
        pytest.raises(SystemExit),
    ):
        take_in(tmp_path, bot)
    assert 0 < Message.objects.count() < len(before["messages"])

    take_in(tmp_path, bot)

    assert not lost(stored)
    assert export(server, tmp_path) == before


def test_the_month_is_made_once_and_tells_nobody(bot, month):
    assert demo_chats.create(bot, password="correct-horse-battery") == 0
    assert (Event.objects.count(), Job.objects.count()) == (0, 0)
    ends = set(Conversation.objects.values_list("ended_by", flat=True))
    assert ends == {None, "customer", "agent", "bot", "inactivity", "api"}
    for chat in Conversation.objects.prefetch_related("messages"):
        said = sorted(chat.messages.all(), key=lambda row: row.seq)
        assert [row.seq for row in said] == list(range(1, chat.last_seq + 1))
        assert [row.created_at for row in said] == sorted(row.created_at for row in said)
        assert chat.message_count == sum(not row.is_note for row in said)
        assert (
            chat.last_message_id
            == max((row for row in said if not row.is_note), key=lambda row: row.seq).pk
        )
