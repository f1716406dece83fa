"""End A Chat By Id, Agent End A Chat By Id, and what follows from an end."""

import threading

import pytest
from django.db import connection

from bots.testing import make_bot
from chatplatform.models import Job
from chats.models import Conversation
from chats.testing import make_chat
from identity.models import Role
from identity.testing import make_key, make_person
from webhooks.models import Event


@pytest.fixture
def chat(bot, ben):
    return make_chat(bot, assign_type="agent", assignee=ben.user)


def ended():
    return list(
        Conversation.objects.filter(status="ended").values_list("ended_by", "version", "ended_at")
    )


@pytest.mark.parametrize("who", ["server", "ben"])
def test_the_customer_ends_it(request, chat, who):
    reply = request.getfixturevalue(who).post(f"/ai/chat/{chat.pk}/end")
    assert reply.status_code == 200
    found = reply.json()
    assert (found["status"], found["ended_by"], found["version"]) == ("ended", "customer", 2)
    assert (found["can_reply"], found["ended_at"] is None) == (False, False)
    assert found["assignee"] is not None
    event = Event.objects.get()
    assert (event.type, event.data["conversation"]["ended_by"]) == (
        "conversation.ended",
        "customer",
    )
    assert Job.objects.count() == 0


def test_an_agent_ends_it(ben, chat):
    assert ben.post(f"/ai/chat/{chat.pk}/agent-end").json()["ended_by"] == "agent"


def test_what_has_ended_does_not_end_again(ben, server, chat):
    server.post(f"/ai/chat/{chat.pk}/end")
    (before,) = ended()
    for path in (f"/ai/chat/{chat.pk}/end", f"/ai/chat/{chat.pk}/agent-end"):
        reply = ben.post(path)
        assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert ended() == [before]
    assert Event.objects.count() == 1


def test_another_agents_chat(ann, bea, chat):
    assert bea.post(f"/ai/chat/{chat.pk}/agent-end").json()["code"] == "already_assigned"
    assert ended() == []
    assert ann.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_ends_at_once_one_counts(ben, server, chat):
    ready, answers = threading.Barrier(2), []

    def end(person, path):
        try:
            ready.wait(5)
            answers.append(person.post(path).status_code)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=end, args=(ben, f"/ai/chat/{chat.pk}/agent-end")),
        threading.Thread(target=end, args=(server, f"/ai/chat/{chat.pk}/end")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(answers) == [200, 409]
    assert Event.objects.filter(type="conversation.ended").count() == 1


@pytest.mark.parametrize("wish", ["auto_summary", "auto_tag", "auto_sentiment"])
def test_what_the_client_wants_to_know_follows(ben, client_a, chat, wish):
    setattr(client_a.config, wish, True)
    client_a.config.save()
    ben.post(f"/ai/chat/{chat.pk}/agent-end")
    job = Job.objects.get()
    assert (job.name, job.args) == ("chats.run_after_end", {"conversation_id": str(chat.pk)})


def test_who_may_not(cara, nobody, page, client_a, client_b, server, chat):
    viewer = make_person(client_a, Role.VIEWER, "Vic")
    strangers = [
        cara, page, make_key(client_b), make_key(client_a, "secret", make_bot(client_a).pk),
    ]  # fmt: skip
    for stranger in strangers:
        assert stranger.post(f"/ai/chat/{chat.pk}/end").status_code == 404
    assert cara.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 404
    for path in (f"/ai/chat/{chat.pk}/end", f"/ai/chat/{chat.pk}/agent-end"):
        assert viewer.post(path).status_code == 403
        assert nobody.post(path).status_code == 401
    assert server.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 401
    assert (ended(), Event.objects.count()) == ([], 0)
