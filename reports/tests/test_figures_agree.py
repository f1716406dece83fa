"""For any question, files, search and overview count the same: also over changes of the clock, and
after what comes late."""

from unittest import mock

import pytest
from django.db import transaction
from django.db.models import F
from hypothesis import HealthCheck, given, settings

from bots.testing import make_bot
from chats.models import Message
from chats.services.core import conversations
from chats.services.data_exchange import retention
from chats.testing import make_chat, put_message
from chats.tests.test_export_import import run_import, write_files
from chats.tests.test_import_numbers import chat_row, message_row, send_message
from reports.models import ChatStats
from reports.services import message_counts
from reports.testing import CLOCK_CHANGES, change_old_chat, check_figures, fill, questions

QUESTION = {"date_from": "2026-03-28", "date_to": "2026-10-26", "timezone": "Europe/Berlin"}


@pytest.mark.full
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(question=questions())
def test_every_way_to_ask_counts_the_same(ann, bot, question):
    if not bot.conversations.exists():
        for began in CLOCK_CHANGES:
            fill(bot, began, chats=24)
        message_counts.update()
        change_old_chat(bot)
    check_figures(ann, question)


@pytest.mark.full
def test_what_comes_late_is_counted(ann, bot):
    for began in CLOCK_CHANGES:
        fill(bot, began, chats=12)
    before = check_figures(ann, QUESTION)
    change_old_chat(bot)
    after = check_figures(ann, QUESTION)
    assert {name: after[name] - before[name] for name in after} == {
        "chats": 0, "messages": 1, "credits_used": 5, "rating_count": 1, "handed_off": 1,
        "bot_resolved": 0,
    }  # fmt: skip


@pytest.mark.full
def test_figures_that_were_kept_are_added_to(ann, bot, client_b):
    theirs = put_message(make_chat(make_bot(client_b)), "bot")
    for began in CLOCK_CHANGES:
        fill(bot, began, chats=12)
    before = check_figures(ann, QUESTION)
    message_counts.update()
    assert ChatStats.objects.count() == Message.objects.values("conversation").distinct().count()
    assert ChatStats.objects.get(conversation=theirs.conversation_id).client == client_b
    assert check_figures(ann, QUESTION) == before
    change_old_chat(bot)
    after = check_figures(ann, QUESTION)
    assert (after["messages"], after["credits_used"]) == (
        before["messages"] + 1, before["credits_used"] + 5,
    )  # fmt: skip
    ChatStats.objects.filter(client=ann.client).update(messages=F("messages") + 1000)
    assert check_figures(ann, QUESTION)["messages"] > 1000, "what was kept is what is read"


def test_figures_are_kept_once_and_end_with_their_chat(ann, bot):
    chat = make_chat(bot)
    put_message(chat, "customer")
    message_counts.update()
    put_message(chat, "bot", receipt={"credits": 2})
    put_message(chat, "agent", is_note=True)
    message_counts.update()
    message_counts.update()
    (kept,) = ChatStats.objects.all()
    assert (kept.last_seq, kept.messages, kept.credits, kept.has_agent) == (3, 2, 2, False)
    assert kept.first_bot_message_at
    assert kept.first_agent_message_at is None
    preview = make_chat(bot, is_preview=True)
    put_message(preview, "customer")
    with transaction.atomic():
        retention.delete(conversations.lock(chat))
    message_counts.update()
    assert not ChatStats.objects.exists()


def test_figures_are_counted_anew_when_an_import_renumbers_messages(server, bot, tmp_path):
    rows = {"conversations": [chat_row()], "messages": [message_row(1), message_row(7)]}
    write_files(tmp_path, rows)
    close_gaps = "chats.services.data_exchange.importing.close_gaps"
    with mock.patch(close_gaps, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        run_import(tmp_path, bot)
    message_counts.update()
    assert ChatStats.objects.get().last_seq == 7
    run_import(tmp_path, bot)
    assert send_message(server) == 3
    message_counts.update()
    kept = ChatStats.objects.get()
    assert (kept.last_seq, kept.messages) == (3, 3)
