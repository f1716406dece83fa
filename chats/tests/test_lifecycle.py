"""The life of a conversation: handover, end, reopening, and what happens as time passes."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from bots.engine import types
from bots.testing import make_bot, trained
from chatplatform.testing import at_once, run_before, run_jobs
from chats import tasks
from chats.models import Conversation, Message, Notification
from chats.services.core import lifecycle
from chats.services.desk import routing, timers
from chats.services.reply import pipeline
from chats.testing import make_chat, visitor_of
from webhooks.models import Event

UNKNOWN = "Who won the chess olympiad of 1972 in Skopje?"


def ask(person, chat, text="Hello!", **more):
    reply = person.post(f"/ai/client/chat/{chat.pk}", {"text": text, "reply": "async", **more})
    assert reply.status_code in {200, 202}, reply.content
    return reply.json()


def messages_of(chat, side):
    return list(Message.objects.filter(conversation=chat, sender_type=side).order_by("seq"))


def count_events(event_type):
    return Event.objects.filter(type=event_type).count()


def make_ended_chat(bot, minutes_ago=5, **fields):
    at = timezone.now() - timedelta(minutes=minutes_ago)
    fields = {"last_seq": 0, "version": 4, **fields}
    return make_chat(bot, status="ended", ended_by="agent", ended_at=at, **fields)


# --- handing over -------------------------------------------------------------------------------


def test_the_customer_is_told_of_a_handover_once(ben, server, bot):
    chat = make_chat(bot)
    turn = ask(server, chat, UNKNOWN)
    # An agent moves the chat to the queue while the bot is thinking.
    with run_before(
        "chats.services.reply.publishing.publish_reply",
        lambda: ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "queue"}),
    ):
        run_jobs()
    ask(server, chat, UNKNOWN)
    run_jobs()
    pipeline.give_up(turn["message"]["id"])
    assert len(messages_of(chat, "system")) == 1
    assert count_events("conversation.handed_off") == 1
    chat.refresh_from_db()
    assert (chat.handoff_reason, chat.version) == ("staff_request", 2)


def test_agents_are_notified_of_a_handover(ann, ben, server, bot):
    chat = make_chat(bot)
    ask(server, chat, UNKNOWN)
    run_jobs()
    kinds = set(Notification.objects.values_list("user__full_name", "kind", "is_read"))
    assert kinds == {("Ann", "handoff", False), ("Ben", "handoff", False)}
    chat.refresh_from_db()
    assert chat.waiting_since is not None


def test_outside_business_hours_the_handover_message_is_another(server, bot, client_a):
    config = client_a.config
    config.handoff_message = {"en": "Wait."}
    config.out_of_hours_message = {"en": "We open on Monday."}
    # Open only on the weekday of the day before yesterday.
    weekday = (timezone.now() - timedelta(days=2)).weekday()
    config.business_hours = [{"weekday": weekday, "opens": "09:00", "closes": "17:00"}]
    config.save()
    closed, opened = make_chat(bot), make_chat(bot)
    ask(server, closed, UNKNOWN)
    run_jobs()
    config.business_hours = []
    config.save()
    ask(server, opened, UNKNOWN)
    run_jobs()
    assert [message.text for message in messages_of(closed, "system")] == ["We open on Monday."]
    assert [message.text for message in messages_of(opened, "system")] == ["Wait."]


def test_a_client_without_agents_keeps_its_bot(server, bot, client_a):
    config = client_a.config
    config.handoff_on_no_answer = config.handoff_on_request = False
    config.save()
    chat = make_chat(bot)
    ask(server, chat, UNKNOWN)
    ask(server, chat, "I want to talk to a human agent")
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.version) == ("bot", 1)
    first, second = messages_of(chat, "bot")
    assert "couldn't find" in first.text
    assert "can't connect you" in second.text
    assert messages_of(chat, "system") == []


def test_a_chat_with_a_bot_that_is_off_begins_in_the_queue_and_notifies_staff(ann, server, bot):
    bot.agent_reply = True
    bot.save()
    server.post("/ai/client/chat", {"message": "Hello"})
    run_jobs()
    assert Notification.objects.get().kind == "handoff"
    assert Message.objects.count() == 1


# --- the reply and the owner --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["assign", "agent-end", "manual", "snooze"])
def test_a_reply_is_dropped_if_an_agent_acts_meanwhile(ben, server, bot, path):
    body = {
        "assign": {"assign_type": "agent"},
        "manual": {"text": "I am here"},
        "snooze": {"until": (timezone.now() + timedelta(hours=1)).isoformat()},
    }.get(path)
    chat = make_chat(bot)
    ask(server, chat)
    act = f"/ai/chat/{chat.pk}/{path}"
    with run_before("chats.services.reply.publishing.publish_reply", lambda: ben.post(act, body)):
        run_jobs()
    assert messages_of(chat, "bot") == []


def test_a_chat_that_is_taken_over_waits_since_the_open_question(ben, server, bot):
    chat = make_chat(bot)
    question = ask(server, chat)["message"]
    ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"})
    chat.refresh_from_db()
    assert chat.waiting_since.isoformat(timespec="milliseconds")[:23] == question["created_at"][:23]
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Here I am"})
    chat.refresh_from_db()
    assert chat.waiting_since is None
    ask(server, chat, "And now?")
    chat.refresh_from_db()
    assert chat.waiting_since is not None


# --- after the end ------------------------------------------------------------------------------


def test_a_message_soon_after_the_end_reopens_the_chat(server, bot):
    chat = make_ended_chat(bot, assign_type="queue", handoff_reason="no_answer")
    ask(server, chat)
    chat.refresh_from_db()
    assert (chat.status, chat.assign_type, chat.version) == ("open", "bot", 5)
    assert (chat.ended_at, chat.ended_by, chat.handoff_reason) == (None, None, None)
    assert count_events("conversation.reopened") == 1
    run_jobs()
    assert len(messages_of(chat, "bot")) == 1


def test_a_chat_is_reopened_in_the_queue_if_the_bot_is_off(ben, server, bot):
    bot.is_disabled = True
    bot.save()
    chat = make_ended_chat(bot, assign_type="agent", assignee=ben.user)
    turn = ask(server, chat)
    assert (turn["status"], turn["handoff_reason"]) == ("handed_off", "bot_disabled")
    chat.refresh_from_db()
    assert (chat.status, chat.assign_type, chat.assignee) == ("open", "queue", None)
    assert chat.waiting_since is not None
    run_jobs()
    assert Notification.objects.get().kind == "handoff"


def test_the_bot_reads_no_message_from_before_the_end(server, bot, settings, monkeypatch):
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    trained(bot, "RETURNS\n\nYou may return damaged goods within thirty days.\n")
    chat = make_chat(bot)
    ask(server, chat, "My secret is 42", reply="none")
    server.post(f"/ai/chat/{chat.pk}/end")
    ask(server, chat, "Good morning", reply="none")
    questions = []

    def refuse(self, question, **_):
        questions.append(question)
        raise types.Refused("enough")

    monkeypatch.setattr("bots.engine.openai_compatible.OpenAICompatible.answer", refuse)
    ask(server, chat, "Within how many days may I return damaged goods?")
    run_jobs()
    (question,) = questions
    assert [line.text for line in question.history] == ["Good morning"]


def test_long_after_the_end_a_new_chat_begins(server, bot, client_a):
    client_a.config.reopen_window_minutes = 3
    client_a.config.save()
    chat = make_ended_chat(bot, metadata={"a": 1})
    turn = ask(server, chat, client_message_id="m-1")
    new = Conversation.objects.get(pk=turn["message"]["conversation_id"])
    assert new.pk != chat.pk
    assert (new.previous_chat, new.customer, new.bot) == (chat, chat.customer, bot)
    assert (new.status, new.assign_type, new.last_seq) == ("open", "bot", 1)
    # Further messages to the old chat go to the new one, and nothing is repeated.
    assert ask(server, chat, client_message_id="m-1")["message"] == turn["message"]
    again = ask(server, chat, "Thanks")
    assert again["message"]["conversation_id"] == str(new.pk)
    assert Conversation.objects.count() == 2
    chat.refresh_from_db()
    assert (chat.status, chat.last_seq, chat.version) == ("ended", 0, 4)
    assert server.get(f"/ai/client/chat/history/{new.pk}").json()["items"]


def test_a_page_may_read_the_chat_that_follows_its_own(page, bot, client_a):
    client_a.config.reopen_window_minutes = 0
    client_a.config.save()
    chat = make_ended_chat(bot, opened_by_key=page.key, visitor_id=17)
    visitor = visitor_of(page, chat)
    new = ask(visitor, chat)["message"]["conversation_id"]
    assert visitor.get(f"/ai/client/chat/history/{new}").status_code == 200


# --- time ---------------------------------------------------------------------------------------


def ago(**more):
    return timezone.now() - timedelta(**more)


def test_a_snoozed_chat_wakes(ben, bot):
    due = make_chat(
        bot, status="snoozed", snoozed_until=ago(seconds=1), assign_type="agent", assignee=ben.user
    )
    later = make_chat(bot, status="snoozed", snoozed_until=timezone.now() + timedelta(hours=1))
    for _ in range(2):
        tasks.run_timers()
    due.refresh_from_db()
    later.refresh_from_db()
    assert (due.status, due.snoozed_until, due.assignee) == ("open", None, ben.user)
    assert (due.version, later.status) == (2, "snoozed")
    assert count_events("conversation.reopened") == 1


def test_a_chat_without_a_reply_returns_to_the_queue(ann, ben, bot):
    chat = make_chat(bot, assign_type="queue", handoff_reason="no_answer")
    body = {"assign_type": "agent", "user_id": ben.user.pk, "return_after_seconds": 60}
    ann.post(f"/ai/chat/{chat.pk}/assign", body)
    tasks.run_timers()
    chat.refresh_from_db()
    assert chat.assignee == ben.user
    Conversation.objects.update(return_at=ago(seconds=1))
    for _ in range(2):
        tasks.run_timers()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee, chat.return_at) == ("queue", None, None)
    assert (chat.version, chat.handoff_reason) == (3, "no_answer")
    assert count_events("conversation.unassigned") == 1
    lost = Notification.objects.get(kind="unassigned")
    assert (lost.user, lost.assigned_by, lost.is_read) == (ben.user, None, False)


def test_an_agent_who_answered_keeps_the_chat(ben, bot):
    chat = make_chat(bot, assign_type="agent", assignee=ben.user, return_at=ago(seconds=1))
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Here"})
    tasks.run_timers()
    chat.refresh_from_db()
    assert (chat.assignee, chat.version) == (ben.user, 1)


def test_a_note_is_no_answer(ben, bot):
    chat = make_chat(bot, assign_type="agent", assignee=ben.user, return_at=ago(seconds=1))
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hm", "is_note": True})
    tasks.run_timers()
    chat.refresh_from_db()
    assert chat.assign_type == "queue"


def test_one_warning_for_each_wait_that_is_too_long(ann, ben, bot, client_a):
    chat = make_chat(bot, assign_type="agent", assignee=ben.user, waiting_since=ago(seconds=310))
    make_chat(bot, assign_type="queue", waiting_since=ago(seconds=200))
    for _ in range(2):
        tasks.run_timers()
    warned = Notification.objects.get()
    assert (warned.user, warned.kind, warned.conversation) == (ben.user, "unanswered", chat)
    # Another wait, another warning.
    Notification.objects.update(created_at=ago(hours=1))
    tasks.run_timers()
    assert Notification.objects.filter(conversation=chat).count() == 2


def test_the_delay_of_the_mails_counts_if_they_are_on(ben, bot, client_a):
    mails = client_a.email_notification = type(client_a).email_notification.related.related_model(
        client=client_a, on_unanswered=True, unanswered_after_minutes=15
    )
    mails.save()
    make_chat(bot, assign_type="agent", assignee=ben.user, waiting_since=ago(minutes=14))
    tasks.run_timers()
    assert Notification.objects.count() == 0
    Conversation.objects.update(waiting_since=ago(minutes=16))
    tasks.run_timers()
    assert Notification.objects.count() == 1


def test_an_inactive_chat_ends(server, bot, client_a, client_b):
    idle = make_chat(bot, last_message_at=ago(hours=25))
    empty = make_chat(bot, created_at=ago(hours=25))
    busy = make_chat(bot, last_message_at=ago(hours=23), created_at=ago(hours=90))
    away = make_chat(
        bot, status="snoozed", snoozed_until=timezone.now() + timedelta(1),
        last_message_at=ago(hours=90),
    )  # fmt: skip
    for _ in range(2):
        tasks.run_timers()
    for chat in (idle, empty, busy, away):
        chat.refresh_from_db()
    assert [chat.status for chat in (idle, empty, busy, away)] == [
        "ended", "ended", "open", "snoozed",
    ]  # fmt: skip
    assert (idle.ended_by, idle.version) == ("inactivity", 2)
    assert count_events("conversation.ended") == 2
    client_a.config.inactivity_end_minutes = 0
    client_a.config.save()
    Conversation.objects.filter(pk=busy.pk).update(last_message_at=F("created_at"))
    tasks.run_timers()
    busy.refresh_from_db()
    assert busy.status == "open"


@pytest.mark.django_db(transaction=True)
def test_concurrent_timers_do_nothing_twice(ben, bot):
    kinds = [
        {"status": "snoozed", "snoozed_until": ago(seconds=1)},
        {"assign_type": "agent", "assignee": ben.user, "return_at": ago(seconds=1)},
        {"assign_type": "queue", "waiting_since": ago(hours=1), "handoff_reason": "no_answer"},
        {"last_message_at": ago(hours=25)},
    ]
    for fields in kinds * 4:
        make_chat(bot, **fields)
    at_once(*[tasks.run_timers] * 3)
    tasks.run_timers()
    for kind in ("reopened", "unassigned", "ended"):
        assert count_events(f"conversation.{kind}") == 4
    warned = Notification.objects.filter(kind="unanswered", user=ben.user)
    assert warned.count() == 4
    assert sorted(Conversation.objects.values_list("version", flat=True)) == [1] * 4 + [2] * 12


def test_rows_that_fail_do_not_stop_the_others(ben, bot, client_b, monkeypatch, caplog):
    """Rows that fail come first each time and fill the batch; the others are processed anyway."""
    monkeypatch.setattr(timers, "BATCH", 2)
    bad = [
        make_chat(bot, status="snoozed", snoozed_until=ago(hours=9), summary="bad")
        for _ in range(3)
    ]
    good = [
        make_chat(its_bot, status="snoozed", snoozed_until=ago(seconds=1))
        for its_bot in (bot, make_bot(client_b))
    ]
    idle = make_chat(bot, last_message_at=ago(hours=25))
    real = lifecycle.wake

    def wake(chat):
        real(chat)
        assert chat.summary != "bad", "broken"

    monkeypatch.setattr(lifecycle, "wake", wake)
    tasks.run_timers()
    statuses = dict(Conversation.objects.values_list("pk", "status"))
    assert [statuses[chat.pk] for chat in good] == ["open", "open"]
    assert [statuses[chat.pk] for chat in bad] == ["snoozed"] * 3
    assert statuses[idle.pk] == "ended"
    assert count_events("conversation.reopened") == 2
    assert all(f"wake failed for chat {chat.pk}" in caplog.text for chat in bad)


def test_a_call_ends_if_all_rows_fail(bot, monkeypatch):
    monkeypatch.setattr(timers, "BATCH", 2)
    monkeypatch.setattr(timers, "MAX_FAILURES", 4)
    for _ in range(9):
        make_chat(bot, status="snoozed", snoozed_until=ago(hours=9))
    tried = []

    def fail(chat):
        tried.append(chat.pk)
        raise ValueError

    monkeypatch.setattr(lifecycle, "wake", lambda chat: fail(chat))
    assert timers.wake_snoozed() == 0
    assert len(tried) == 4


def test_an_error_at_one_client_does_not_keep_others_waiting(
    client_a, client_b, monkeypatch, caplog
):
    called = []

    def assign(client_id):
        called.append(client_id)
        if client_id == client_a.pk:
            raise ValueError

    both = [client_a.pk, client_b.pk]
    monkeypatch.setattr(routing, "clients_with_waiting", lambda: both)
    monkeypatch.setattr(routing, "assign_waiting", assign)
    tasks.run_timers()
    assert called == both
    assert f"the waiting chats of client {client_a.pk} could not" in caplog.text
