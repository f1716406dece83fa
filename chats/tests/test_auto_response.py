"""Generate automatic AI response: the bot answers the customer's last message."""

import pytest

from bots.testing import trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
KNOWN = "Within how many days may I return damaged goods?"


def path_of(chat):
    return f"/ai/client/chat/auto-response/{chat.pk}"


def test_the_last_message_is_answered(server, bot, chat, add_message):
    trained(bot, SHOP)
    add_message(chat, "customer", "Hello")
    body = {"text": KNOWN, "reply": "none"}
    message = server.post(f"/ai/client/chat/{chat.pk}", body).json()["message"]
    stream = server.post(path_of(chat), Accept="text/event-stream")
    assert (stream.status_code, stream["Content-Type"]) == (200, "text/event-stream")
    assert Job.objects.get().args == {"message_id": message["id"]}
    run_jobs()
    turn = server.post(path_of(chat))
    assert turn.status_code == 200
    assert turn.json()["status"] == "answered"
    assert turn.json()["message"] == message
    assert "thirty days" in turn.json()["reply"]["content"][0]["text"]


def test_an_existing_reply_is_returned_again(server, bot, chat, add_message):
    add_message(chat, "customer", "Hello!")
    server.post(path_of(chat))
    run_jobs()
    first, again = (server.post(path_of(chat)).json() for _ in range(2))
    assert first == again
    assert (Message.objects.count(), Job.objects.count()) == (2, 1)


def test_two_requests_get_one_reply(server, chat, add_message):
    add_message(chat, "customer", "Hello!")
    for _ in range(2):
        assert server.post(path_of(chat)).status_code == 200
    run_jobs()
    assert Message.objects.filter(sender_type="bot").count() == 1


def test_an_unknown_question_is_handed_over(server, chat, add_message):
    add_message(chat, "customer", KNOWN)
    server.post(path_of(chat))
    run_jobs()
    turn = server.post(path_of(chat)).json()
    assert (turn["status"], turn["handoff_reason"]) == ("handed_off", "no_answer")


def test_a_chat_without_a_customers_message_is_refused(server, chat, add_message):
    add_message(chat, "bot", "Hello, how can I help?")
    reply = server.post(path_of(chat))
    assert (reply.status_code, reply.json()["code"]) == (409, "nothing_to_answer")
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"assign_type": "queue"}, "handed_off"), ({"status": "snoozed"}, "not_expected")],
)
def test_no_reply_is_requested_if_the_bot_may_not_answer(
    server, chat, add_message, changes, status
):
    add_message(chat, "customer", "Hello!")
    Conversation.objects.update(**changes)
    turn = server.post(path_of(chat))
    assert (turn.status_code, turn.json()["status"], turn.json()["reply"]) == (200, status, None)
    assert Job.objects.count() == 0


def test_no_reply_is_requested_if_an_agent_has_the_chat(server, ben, chat, add_message):
    add_message(chat, "customer", "Hello!")
    Conversation.objects.update(assign_type="agent", assignee=ben.user)
    assert server.post(path_of(chat)).json()["status"] == "not_expected"
    assert Job.objects.count() == 0


def test_an_agents_answer_is_not_the_bots_reply(server, chat, add_message):
    question = add_message(chat, "customer", "Hello!")
    add_message(chat, "agent", "One moment.", in_reply_to=question)
    stream = server.post(path_of(chat), Accept="text/event-stream")
    assert stream.status_code == 200
    assert Job.objects.get().args == {"message_id": str(question.pk)}
    run_jobs()
    turn = server.post(path_of(chat)).json()
    assert (turn["status"], turn["reply"]["sender"]["type"]) == ("answered", "bot")


def test_an_ended_chat_is_refused(server, chat, add_message):
    add_message(chat, "customer", "Hello!")
    Conversation.objects.update(status="ended", ended_by="agent")
    reply = server.post(path_of(chat))
    assert (reply.status_code, reply.json()["code"]) == (409, "chat_ended")
    assert Job.objects.count() == 0


def test_a_repeated_request_returns_the_same_message(server, bot, chat):
    trained(bot, SHOP)
    path, key = f"/ai/client/chat/{chat.pk}", {"Idempotency-Key": "once"}
    server.post(path, {"text": KNOWN, "reply": "none"})
    server.post(path_of(chat), **key)
    run_jobs()
    server.post(path, {"text": "And damaged books?", "reply": "none"})
    again = server.post(path_of(chat), **key)
    assert again["Idempotent-Replayed"] == "true"
    assert again.json()["message"]["content"][0]["text"] == KNOWN
    assert again.json()["status"] == "answered"
    assert Job.objects.count() == 1
    assert Message.objects.filter(sender_type="bot").count() == 1
