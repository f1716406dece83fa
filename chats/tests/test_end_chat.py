"""End A Chat By Id, Agent End A Chat By Id, and the insights enqueued at the end."""

import pytest

from chatplatform.models import Job
from chatplatform.testing import at_once
from chats.models import Conversation
from chats.testing import make_chat
from identity.models import ClientConfig
from webhooks.models import Event


@pytest.fixture
def chat(bot, ben):
    return make_chat(bot, assign_type="agent", assignee=ben.user)


def ended_chats():
    return list(
        Conversation.objects.filter(status="ended").values_list("ended_by", "version", "ended_at")
    )


@pytest.mark.parametrize(("caller", "ended_by"), [("server", "customer"), ("ben", "agent")])
def test_a_chat_ends(request, chat, caller, ended_by):
    ClientConfig.objects.update(ask_feedback=False)
    reply = request.getfixturevalue(caller).post(f"/ai/chat/{chat.pk}/end")
    assert reply.status_code == 200
    chat_data = reply.json()
    assert (chat_data["status"], chat_data["ended_by"], chat_data["version"]) == (
        "ended",
        ended_by,
        2,
    )
    assert (chat_data["can_reply"], chat_data["ended_at"] is None) == (False, False)
    assert chat_data["assignee"] is not None
    event = Event.objects.get()
    assert (event.type, event.data["conversation"]["ended_by"]) == (
        "conversation.ended",
        ended_by,
    )
    assert Job.objects.count() == 0


def test_an_agent_ends_a_chat(ben, chat):
    assert ben.post(f"/ai/chat/{chat.pk}/agent-end").json()["ended_by"] == "agent"


def test_an_ended_chat_does_not_end_again(ben, server, chat):
    server.post(f"/ai/chat/{chat.pk}/end")
    (before,) = ended_chats()
    for path in (f"/ai/chat/{chat.pk}/end", f"/ai/chat/{chat.pk}/agent-end"):
        reply = ben.post(path)
        assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert ended_chats() == [before]
    assert Event.objects.count() == 1


def test_another_agents_chat(ann, bea, chat):
    assert bea.post(f"/ai/chat/{chat.pk}/agent-end").json()["code"] == "already_assigned"
    assert ended_chats() == []
    assert ann.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_ends_succeeds(ben, server, chat):
    calls = iter([(ben, "agent-end"), (server, "end")])

    def end():
        caller, path = next(calls)
        return caller.post(f"/ai/chat/{chat.pk}/{path}").status_code

    assert sorted(at_once(*[end] * 2)) == [200, 409]
    assert Event.objects.filter(type="conversation.ended").count() == 1


@pytest.mark.parametrize("setting", ["auto_summary", "auto_tag", "auto_sentiment"])
def test_insights_are_enqueued_if_the_client_has_switched_them_on(ben, client_a, chat, setting):
    setattr(client_a.config, setting, True)
    client_a.config.save()
    ben.post(f"/ai/chat/{chat.pk}/agent-end")
    job = Job.objects.get()
    assert (job.name, job.args) == ("chats.run_after_end", {"conversation_id": str(chat.pk)})
