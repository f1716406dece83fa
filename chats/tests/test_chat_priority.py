"""Set Chat Priority, and the order of chats by it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chats.models import Conversation
from chats.services.core import presence
from chats.services.desk import routing
from chats.testing import make_chat, visit
from identity.models import ClientConfig
from webhooks.models import Event

LIST = "/ai/chats"


def path_of(chat):
    return f"/ai/chat/{chat.pk}/priority"


def test_an_agent_sets_the_priority(ben, bot):
    chat = make_chat(bot, assign_type="queue")
    reply = ben.put(path_of(chat), {"priority": "urgent"})
    assert reply.status_code == 200
    assert (reply.json()["priority"], reply.json()["version"]) == ("urgent", 1)
    event = Event.objects.get(type="conversation.prioritized")
    assert event.data["conversation"]["priority"] == "urgent"
    assert event.data["by"]["name"] == "Ben"
    (step,) = ben.get(f"/ai/chat/{chat.pk}/steps").json()["items"]
    assert (step["type"], step["priority"]) == ("conversation.prioritized", "urgent")
    assert ben.put(path_of(chat), {"priority": "urgent"}).status_code == 200
    assert Event.objects.count() == 1


def test_what_is_refused(ben, cara, nobody, server, bot):
    chat, ended = make_chat(bot), make_chat(bot, status="ended")
    body = {"priority": "high"}
    assert ben.put(path_of(chat), {"priority": "asap"}).status_code == 422
    assert ben.put(path_of(chat), {}).status_code == 422
    reply = ben.put(path_of(ended), body)
    assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert cara.put(path_of(chat), body).status_code == 404
    for stranger in (nobody, server):
        assert stranger.put(path_of(chat), body).status_code == 401
    assert set(Conversation.objects.values_list("priority", flat=True)) == {"normal"}
    assert not Event.objects.exists()


def test_the_most_urgent_comes_first_then_the_longest_wait(ben, bot):
    now = timezone.now()
    made = {
        (priority, minutes): make_chat(
            bot, priority=priority, waiting_since=now - timedelta(minutes=minutes)
        )
        for priority in ("normal", "urgent", "low", "high")
        for minutes in (5, 60)
    }
    expected = [
        str(made[priority, minutes].pk)
        for priority in ("urgent", "high", "normal", "low")
        for minutes in (60, 5)
    ]
    seen: list[str] = []
    query = {"sort": "priority", "limit": "3"}
    while query.get("cursor") or not seen:
        page = ben.get(LIST, query).json()
        seen += [item["id"] for item in page["items"]]
        query["cursor"] = page["next_cursor"]
    assert seen == expected
    urgent = ben.get(LIST, {"priority": "urgent"}).json()["items"]
    assert [item["priority"] for item in urgent] == ["urgent", "urgent"]


def test_a_strategy_assigns_the_most_urgent_first(ben, client_a, bot):
    ClientConfig.objects.filter(client=client_a).update(
        assign_strategy="round_robin", agent_capacity=1
    )
    now = timezone.now()
    waits = make_chat(bot, assign_type="queue", waiting_since=now - timedelta(hours=1))
    urgent = make_chat(bot, assign_type="queue", waiting_since=now, priority="urgent")
    presence.touch(ben.user)
    routing.assign_waiting(client_a.pk)
    for chat in (waits, urgent):
        chat.refresh_from_db()
    assert (urgent.assignee, waits.assignee) == (ben.user, None)


@pytest.mark.parametrize(("priority", "place"), [("normal", 2), ("high", 1)])
def test_the_visitors_place_counts_who_is_more_urgent(page, priority, place):
    visitor, chat = visit(page)
    own = {"assign_type": "queue", "waiting_since": timezone.now(), "priority": priority}
    Conversation.objects.filter(pk=chat.pk).update(**own)
    before = timezone.now() - timedelta(hours=1)
    make_chat(chat.bot, assign_type="queue", waiting_since=before)
    reply = visitor.get(f"/ai/client/chat/{chat.pk}").json()
    assert reply["place_in_queue"] == place
