"""Chats that are assigned to agents by their client's strategy."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chatplatform.live import valkey
from chatplatform.models import Job
from chatplatform.testing import at_once, run_before, run_jobs
from chats import tasks
from chats.models import Conversation, Notification
from chats.services.core import presence
from chats.services.desk import routing
from chats.testing import make_chat
from webhooks.models import Event

UNKNOWN = "Who won the chess olympiad of 1972 in Skopje?"


@pytest.fixture
def set_strategy(client_a):
    def choose(strategy, capacity=5):
        client_a.config.assign_strategy = strategy
        client_a.config.agent_capacity = capacity
        client_a.config.save()

    return choose


def waiting(bot, count):
    at = timezone.now() - timedelta(minutes=9)
    return [
        make_chat(bot, assign_type="queue", waiting_since=at + timedelta(seconds=n))
        for n in range(count)
    ]


def owners(chats):
    names = dict(Conversation.objects.values_list("pk", "assignee__full_name"))
    return [names[chat.pk] for chat in chats]


def test_a_handover_is_assigned_to_an_agent_who_is_online(ben, bea, server, bot, set_strategy):
    set_strategy("round_robin")
    presence.touch(bea.user)
    chat = make_chat(bot)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": UNKNOWN, "reply": "async"})
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.assignee, chat.version) == ("agent", bea.user, 3)
    notification = Notification.objects.get(kind="assigned")
    assert (notification.user, notification.is_read) == (bea.user, False)
    assert notification.assigned_by is None
    assert Event.objects.filter(type="conversation.assigned").count() == 1


def test_with_the_manual_strategy_a_chat_stays_in_the_queue(ben, server, bot):
    presence.touch(ben.user)
    chat = make_chat(bot)
    server.post(f"/ai/client/chat/{chat.pk}", {"text": UNKNOWN, "reply": "async"})
    run_jobs()
    assert owners([chat]) == [None]
    assert not Job.objects.filter(name="chats.assign_waiting").exists()


def test_round_robin(ben, bea, client_a, bot, set_strategy):
    set_strategy("round_robin")
    for person in (ben, bea):
        presence.touch(person.user)
    chats = waiting(bot, 4)
    routing.assign_waiting(client_a.pk)
    assert owners(chats) == ["Ben", "Bea", "Ben", "Bea"]


def test_least_busy(ben, bea, client_a, bot, set_strategy):
    set_strategy("least_busy")
    for _ in range(2):
        make_chat(bot, assign_type="agent", assignee=ben.user)
    make_chat(bot, assign_type="agent", assignee=bea.user, status="ended")
    for person in (ben, bea):
        presence.touch(person.user)
    chats = waiting(bot, 4)
    routing.assign_waiting(client_a.pk)
    assert sorted(owners(chats)) == ["Bea", "Bea", "Bea", "Ben"]


def test_of_equally_busy_agents_the_one_who_waited_longest_is_next(
    ben, bea, client_a, bot, set_strategy
):
    set_strategy("least_busy")
    for person in (ben, bea):
        presence.touch(person.user)
    earlier = waiting(bot, 1)
    routing.assign_waiting(client_a.pk)
    assert owners(earlier) == ["Ben"]
    assert ben.post(f"/ai/chat/{earlier[0].pk}/agent-end").status_code == 200
    later = waiting(bot, 1)
    routing.assign_waiting(client_a.pk)
    assert owners(later) == ["Bea"]


def test_no_agent_is_assigned_more_than_the_capacity(ben, client_a, bot, set_strategy):
    set_strategy("round_robin", capacity=2)
    presence.touch(ben.user)
    first, second, third = chats = waiting(bot, 3)
    routing.assign_waiting(client_a.pk)
    assert owners(chats) == ["Ben", "Ben", None]
    # An agent may claim chats beyond the capacity.
    ben.post(f"/ai/chat/{third.pk}/assign", {"assign_type": "agent"})
    assert owners([third]) == ["Ben"]


@pytest.mark.parametrize("how", ["agent-end", "unassign", "snooze"])
def test_free_capacity_is_used(ben, client_a, bot, set_strategy, how):
    set_strategy("round_robin", capacity=1)
    presence.touch(ben.user)
    mine, next_one = waiting(bot, 2)
    routing.assign_waiting(client_a.pk)
    until = (timezone.now() + timedelta(hours=1)).isoformat()
    ben.post(f"/ai/chat/{mine.pk}/{how}", {"until": until} if how == "snooze" else None)
    run_jobs()
    assert owners([next_one]) == ["Ben"]


def test_an_agent_who_comes_online_is_assigned_waiting_chats(ben, bot, set_strategy):
    set_strategy("least_busy")
    (chat,) = waiting(bot, 1)
    tasks.run_timers()
    assert owners([chat]) == [None]
    presence.touch(ben.user)
    presence.touch(ben.user)
    assert Job.objects.filter(name="chats.assign_waiting").count() == 1
    run_jobs()
    assert owners([chat]) == ["Ben"]


def test_an_agent_who_is_away_is_assigned_nothing_until_available_again(
    ben, bea, client_a, bot, set_strategy
):
    set_strategy("round_robin")
    mine = make_chat(bot, assign_type="agent", assignee=ben.user)
    for person in (ben, bea):
        presence.touch(person.user)
    ben.put("/identity/users/me", {"is_away": True})
    chats = waiting(bot, 2)
    run_jobs()
    assert owners(chats) == ["Bea", "Bea"]
    bea.put("/identity/users/me", {"is_away": True})
    (last,) = waiting(bot, 1)
    routing.assign_waiting(client_a.pk)
    assert owners([last, mine]) == [None, "Ben"]
    # A colleague may still assign one by hand.
    bea.post(f"/ai/chat/{chats[0].pk}/assign", {"assign_type": "agent", "user_id": ben.user.pk})
    assert owners(chats) == ["Ben", "Bea"]
    ben.put("/identity/users/me", {"is_away": False})
    run_jobs()
    assert owners([last]) == ["Ben"]


def test_the_timer_assigns_chats_if_a_job_was_lost(ben, bot, set_strategy):
    set_strategy("round_robin")
    presence.touch(ben.user)
    chats = waiting(bot, 2)
    tasks.run_timers()
    assert owners(chats) == ["Ben", "Ben"]


def test_an_agent_is_offline_after_ninety_seconds(ben, bot, client_a, set_strategy):
    set_strategy("round_robin")
    presence.touch(ben.user)
    assert presence.online(client_a.pk) == {ben.user.pk}
    key = f"presence:{client_a.pk}"
    valkey.shared().zincrby(key, -91, str(ben.user.pk))
    assert presence.online(client_a.pk) == set()
    (chat,) = waiting(bot, 1)
    routing.assign_waiting(client_a.pk)
    assert owners([chat]) == [None]


def test_without_valkey_nobody_seems_online(ben, client_a, settings, monkeypatch):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(valkey, "shared", valkey.connect)
    monkeypatch.setattr(presence, "_best_effort", valkey.BestEffort("presence unknown"))
    presence.touch(ben.user)
    assert presence.online(client_a.pk) == set()


def test_the_last_owner_of_a_chat_is_not_the_first_choice(ben, bea, client_a, bot, set_strategy):
    set_strategy("round_robin")
    for person in (ben, bea):
        presence.touch(person.user)
    (chat,) = waiting(bot, 1)
    routing.assign_waiting(client_a.pk)
    assert owners([chat]) == ["Ben"]
    past = timezone.now() - timedelta(seconds=1)
    # Bea was assigned a chat since then: by the strategy it is Ben's turn.
    Notification.objects.create(client=client_a, user=bea.user, conversation=chat, kind="assigned")
    Conversation.objects.update(return_at=past)
    tasks.run_timers()
    assert owners([chat]) == ["Bea"]


def test_who_took_a_chat_and_gave_it_up_is_not_the_first_choice(
    ben, bea, client_a, bot, set_strategy
):
    set_strategy("round_robin")
    for person in (ben, bea):
        presence.touch(person.user)
    first, second = waiting(bot, 2)
    for person, chat in ((ben, first), (bea, second)):
        person.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"})
    # It is Ben's turn, but he has just given the chat up.
    ben.post(f"/ai/chat/{first.pk}/assign", {"assign_type": "queue"})
    routing.assign_waiting(client_a.pk)
    assert owners([first, second]) == ["Bea", "Bea"]


def test_the_last_owner_of_a_chat_is_chosen_if_there_is_no_other(ben, client_a, bot, set_strategy):
    set_strategy("round_robin")
    presence.touch(ben.user)
    (chat,) = waiting(bot, 1)
    Notification.objects.create(
        client=client_a, user=ben.user, conversation=chat, kind="unassigned"
    )
    routing.assign_waiting(client_a.pk)
    assert owners([chat]) == ["Ben"]


def test_nothing_is_assigned_once_the_strategy_is_manual(ben, client_a, bot, set_strategy):
    set_strategy("round_robin")
    presence.touch(ben.user)
    (chat,) = waiting(bot, 1)
    presence.enqueue_assignment(client_a)
    set_strategy("manual")
    run_jobs()
    assert owners([chat]) == [None]


def test_admins_are_assigned_chats_only_if_there_is_no_agent(ann, ben, client_a, bot, set_strategy):
    set_strategy("round_robin")
    presence.touch(ann.user)
    (chat,) = waiting(bot, 1)
    routing.assign_waiting(client_a.pk)
    assert owners([chat]) == [None]
    ben.user.is_disabled = True
    ben.user.save()
    routing.assign_waiting(client_a.pk)
    assert owners([chat]) == ["Ann"]


def test_a_chat_that_is_claimed_meanwhile_is_left_alone(ben, bea, client_a, bot, set_strategy):
    set_strategy("round_robin")
    presence.touch(bea.user)
    (chat,) = waiting(bot, 1)

    def claim():
        assert ben.post(f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}).status_code == 200

    with run_before("chats.services.core.conversations.lock", claim):
        routing.assign_waiting(client_a.pk)
    assert owners([chat]) == ["Ben"]


@pytest.mark.parametrize("change", ["delete", "end", "snooze"])
def test_a_chat_that_changes_meanwhile_stops_no_other(ben, client_a, bot, set_strategy, change):
    set_strategy("round_robin")
    presence.touch(ben.user)
    changing, other = waiting(bot, 2)

    def act():
        if change == "delete":
            changing.delete()
            return
        until = (timezone.now() + timedelta(hours=1)).isoformat()
        path = {"end": "agent-end", "snooze": "snooze"}[change]
        reply = ben.post(f"/ai/chat/{changing.pk}/{path}", {"until": until})
        assert reply.status_code == 200, reply.content

    with run_before("chats.services.core.conversations.lock", act):
        routing.assign_waiting(client_a.pk)
    assert owners([other]) == ["Ben"]
    row = Conversation.objects.filter(pk=changing.pk).first()
    assert row is None or (row.assignee, row.assign_type) == (None, "queue")


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_assign_each_chat_once(ben, bea, client_a, bot, set_strategy):
    set_strategy("least_busy", capacity=4)
    for person in (ben, bea):
        presence.touch(person.user)
    chats = waiting(bot, 12)
    acts = iter([lambda: routing.assign_waiting(client_a.pk), tasks.run_timers] * 2)
    at_once(*[lambda: next(acts)()] * 4)
    names = owners(chats)
    assert (names.count("Ben"), names.count("Bea"), names.count(None)) == (4, 4, 4)
    assert Event.objects.filter(type="conversation.assigned").count() == 8
